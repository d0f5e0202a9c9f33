"""Signatures by the server's time, where the clock of this host is far from it.

A service refuses signatures that are more than some minutes old or early, and botocore signs by the wall clock. What a
service answers tells its time, even when it refuses, so that the next request can be signed by that.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable, Mapping
from typing import Any

from holdall.plugins import import_driver

__all__ = ["sign_by"]

_TOLERATED = dt.timedelta(seconds=60)
"""By how much the clock of this host may differ before its time is corrected; services take some minutes."""
_NOW = "holdall_now"
_SIGNERS = ("v4", "s3v4")
_STAMP = "%Y%m%dT%H%M%SZ"


def sign_by(client: Any, now: Callable[[], float | None]) -> None:
    """Let a client that was made here sign by the server's clock, where this host's is far from it.

    Args:
        client: a client of boto3 or aiobotocore.
        now: returns the server's time in seconds since 1970, or None as long as it is not known; it must not lead to
            the client, which would outlive whoever throws it away.

    """

    def choose(signing_name: str, signature_version: Any, context: dict[str, Any], **_: Any) -> str | None:
        seconds = now()
        if seconds is None or signature_version not in _SIGNERS:
            return None
        context[_NOW] = dt.datetime.fromtimestamp(seconds, dt.UTC)
        return _kinds()["s3v4" if signing_name == "s3" else "v4"]

    client.meta.events.register_first("choose-signer", choose)  # botocore's own has the last word


@functools.cache
def _kinds() -> Mapping[str, str]:
    """Return the names of signers that correct the time; botocore knows them from then on."""
    known: dict[str, Any] = import_driver("botocore.auth", "aws", "dynamodb").AUTH_TYPE_MAPS
    names = {name: f"holdall-{name}" for name in _SIGNERS}
    known.update({made: _corrected(known[name]) for name, made in names.items()})
    return names


def _corrected(base: Any) -> Any:
    def modify(self: Any, request: Any) -> None:
        stamp = dt.datetime.strptime(request.context["timestamp"], _STAMP).replace(tzinfo=dt.UTC)
        if abs(request.context[_NOW] - stamp) > _TOLERATED:
            request.context["timestamp"] = request.context[_NOW].strftime(_STAMP)
        base._modify_request_before_signing(self, request)  # noqa: SLF001 - made for subclasses

    return type("Corrected", (base,), {"_modify_request_before_signing": modify})
