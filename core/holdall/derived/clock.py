"""Whose clock judges expiry in the derived parts: the backend's, the anchored boot clock, or the client's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from holdall.clock import Anchor, next_anchor
from holdall.derived.access import Access, Decision, Unchanged
from holdall.derived.layout import META
from holdall.errors import ConfigError, Corrupt

if TYPE_CHECKING:
    from holdall.capabilities import ExpiryClock
    from holdall.spi import BackendItem

_FORMAT = 1
_META_KEY = META + b"holdall"


class Clock:
    """Tells the time by which records, leases and flags expire.

    Attributes:
        boot: the boot in which leases were granted, or "" where the clock goes on over boots.
        observes: whether leases are judged by watching them, since no clock can be trusted.

    """

    def __init__(self, access: Access, anchor: Anchor | None, *, observes: bool) -> None:
        self._access = access
        self._anchor = anchor
        self.boot = "" if anchor is None else anchor.boot
        self.observes = observes

    async def now(self) -> float:
        """Return the time in seconds."""
        server = getattr(self._access.backend, "now", None)
        if server is not None:
            return float(await server())
        environment = self._access.environment
        if self._anchor is None:
            return environment.wall_time()
        return self._anchor.offset + environment.boot_time()


async def open_clock(access: Access, kind: ExpiryClock) -> Clock:
    """Return the clock of a storage, checking its format and setting its anchor where it needs one.

    Args:
        access: the backend.
        kind: the declared clock.

    Raises:
        ConfigError: the storage has a format that this holdall does not know.

    """
    has_clock = hasattr(access.backend, "now")
    environment = access.environment

    async def decide(item: BackendItem | None) -> Decision | Unchanged:
        previous = None if item is None else _parse(item.payload)
        boot = environment.boot_id()
        anchor = next_anchor(previous, boot, environment.boot_time(), environment.wall_time())
        return Unchanged(anchor) if anchor is previous else Decision(_encode(anchor), anchor)

    anchor: Anchor = await access.replace(_META_KEY, decide, lambda _: False)
    anchored = kind == "boot" and not has_clock
    return Clock(access, anchor if anchored else None, observes=kind != "boot" and not has_clock)


def _encode(anchor: Anchor) -> bytes:
    return orjson.dumps({"format": _FORMAT, "boot": anchor.boot, "offset": anchor.offset, "set_at": anchor.set_at})


def _parse(payload: bytes) -> Anchor:
    try:
        meta: Any = orjson.loads(payload)
        found = meta["format"]
        anchor = Anchor(meta["boot"], meta["offset"], meta["set_at"])
    except (ValueError, KeyError, TypeError) as error:
        message = "the storage holds something else than holdall's format under its first key"
        raise Corrupt(message) from error
    if found != _FORMAT:
        message = f"the storage has format {found}, this holdall knows format {_FORMAT}: use a release that fits"
        raise ConfigError(message)
    return anchor
