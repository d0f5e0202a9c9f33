"""Whose clock judges expiry in the derived parts: the backend's, the anchored boot clock, or the client's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from holdall.clock import Anchor, next_anchor
from holdall.derived.access import Access, Decision, Unchanged
from holdall.derived.layout import META
from holdall.errors import ConfigError, Corrupt

if TYPE_CHECKING:
    from collections.abc import Callable

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

    def moment(self) -> Moment:
        """Return what judges the expiry of what is about to be read."""
        return Moment(self, self._access.environment.boot_time, asks=hasattr(self._access.backend, "now"))


class Moment:
    """Judges whether something that was read has expired, without overlooking what others wrote meanwhile.

    A reply may take long. If the clock says behind it that what was read has expired, somebody may have written in
    time, and nobody sees a gap but this reader. It is beyond doubt if a local clock said so before the request;
    otherwise the reading is `doubtful`, until the same is found once more.
    """

    def __init__(self, clock: Clock, boot_time: Callable[[], float], *, asks: bool) -> None:
        self._clock = clock
        self._boot_time = boot_time
        self._asks = asks
        self._before: float | None = None
        self._boot_before = 0.0
        self._asked: float | None = None
        self.doubtful = False

    async def begin(self) -> None:
        """Look at the local clocks; to be called right before the request that reads."""
        self.doubtful, self._asked, self._boot_before = False, None, self._boot_time()
        self._before = None if self._asks else await self._clock.now()

    async def now(self) -> float:
        """Return the time; a storage's clock is asked once."""
        if not self._asks:
            return await self._clock.now()
        if self._asked is None:
            self._asked = await self._clock.now()
        return self._asked

    async def left(self, expires: float) -> float:
        """Return how many seconds are left before a time, not more than none if it has come."""
        left = expires - await self.now()
        self.doubtful = self.doubtful or (left <= 0 and (self._before is None or self._before < expires))
        return left

    def left_on_watch(self, until: float) -> float:
        """Return how many seconds are left before a time on the boot clock, not more than none if it has come."""
        left = until - self._boot_time()
        self.doubtful = self.doubtful or (left <= 0 and self._boot_before < until)
        return left


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
