"""Asynchronous requests that are sent once: aiohttp sends a PUT or DELETE again when a kept connection was closed.

Whether the first one was applied nobody learns then. So the sessions of clients that are made here do not; of those of
a caller's, holdall believes a refusal only after it has looked, and no failure to connect.
"""

from __future__ import annotations

import functools
import io
from typing import Any

from holdall.plugins import import_driver

__all__ = ["sends_once", "session_class"]

_LARGE = 2**20
_SWITCH = "_retry_connection"


def sends_once() -> bool:
    """Tell whether this aiohttp has the switch; without it holdall takes its clients for such as send twice."""
    session = import_driver("aiohttp", "aws", "aws-async").ClientSession
    return _SWITCH in getattr(session, "ATTRS", ())


@functools.cache
def session_class() -> Any:
    """Return the class of what sends the requests of an asynchronous client."""
    base: Any = import_driver("aiobotocore.httpsession", "aws", "aws-async").AIOHTTPSession

    async def session_of(self: Any, proxy_url: str | None) -> Any:
        session: Any = await base._get_session(self, proxy_url)  # noqa: SLF001 - there is no other way in
        if hasattr(session, _SWITCH):
            setattr(session, _SWITCH, False)
        return session

    async def send(self: Any, request: Any) -> Any:
        if isinstance(request.body, bytes | bytearray) and len(request.body) > _LARGE:
            request.body = io.BytesIO(request.body)  # aiohttp warns of a large body that is no file
        return await base.send(self, request)

    return type("SendingOnce", (base,), {"_get_session": session_of, "send": send})
