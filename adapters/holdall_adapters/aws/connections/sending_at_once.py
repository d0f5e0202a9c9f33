"""Uploads whose body goes along at once: botocore first asks S3 whether it may send one, which takes a round trip."""

from __future__ import annotations

import io
from typing import Any

__all__ = ["send_at_once"]

_LARGE = 2**20
"""Bytes from which on it is worth while to ask first, since a write that is refused need not be sent."""


def send_at_once(client: Any) -> None:
    """Let a client that was made here send small bodies without asking.

    Args:
        client: a client of boto3 or aiobotocore.

    """
    client.meta.events.register_last("before-call.s3", _do_not_ask)  # behind what asks: specific ones come first


def _do_not_ask(params: dict[str, Any], **_: Any) -> None:
    if _length(params.get("body")) < _LARGE:
        params["headers"].pop("Expect", None)


def _length(body: Any) -> int:
    if isinstance(body, io.BytesIO):
        return len(body.getbuffer())
    return len(body) if isinstance(body, bytes | bytearray) else _LARGE
