"""Signatures by the server's time, where the clock of this host is far from it.

A service refuses signatures that are more than some minutes old or early, and botocore signs by the wall clock. What a
service answers tells its time, even when it refuses, so that the next request can be signed by that.
"""

from __future__ import annotations

import datetime
import functools
from collections.abc import Callable, Mapping
from typing import Any

from holdall.plugins import import_driver

__all__ = ["TOLERATED", "sign_by"]

TOLERATED = 60.0
"""Seconds by which the clock of this host may differ before its time is corrected; services take some minutes."""
_OFFSET = "holdall_offset"
_STAMP = "%Y%m%dT%H%M%SZ"


def sign_by(client: Any, offset: Callable[[], float]) -> None:
    """Let a client that was made here sign by another clock than this host's.

    Args:
        client: a client of boto3 or aiobotocore.
        offset: returns by how many seconds the server's clock is ahead of this host's.

    """

    def choose(signature_version: Any, context: dict[str, Any], **_: Any) -> str | None:
        seconds, kind = offset(), f"holdall-{signature_version}"
        if abs(seconds) < TOLERATED or kind not in _kinds():
            return None
        context[_OFFSET] = seconds
        return kind

    client.meta.events.register("choose-signer", choose)


@functools.cache
def _kinds() -> Mapping[str, Any]:
    """Return signers that correct the time, by their names; botocore knows them from then on."""
    known: dict[str, Any] = import_driver("botocore.auth", "aws", "dynamodb").AUTH_TYPE_MAPS
    made = {f"holdall-{name}": _corrected(known[name]) for name in ("v4", "s3v4")}
    known.update(made)
    return made


def _corrected(base: Any) -> Any:
    def modify(self: Any, request: Any) -> None:
        stamp = datetime.datetime.strptime(request.context["timestamp"], _STAMP)  # noqa: DTZ007 - it is UTC both times
        moved = stamp + datetime.timedelta(seconds=request.context[_OFFSET])
        request.context["timestamp"] = moved.strftime(_STAMP)
        base._modify_request_before_signing(self, request)  # noqa: SLF001 - made for subclasses

    return type("Corrected", (base,), {"_modify_request_before_signing": modify})
