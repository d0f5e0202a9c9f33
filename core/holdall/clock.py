"""The boot clock: the one clock that all processes of a host share, that goes on during suspend and never steps.

It starts again with every boot. What must outlive a boot is judged on an *anchored* clock: a storage keeps one
`Anchor`, the boot clock plus an offset that is set once per boot, by the first who opens it. Within a boot nobody's
wall clock matters; across a boot it stands in, once, for the time that the machine was off, and never goes back behind
the time at which the anchor was last stored, which is renewed by opening, once an hour.
"""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["Anchor", "boot_id", "boot_time", "next_anchor"]

_REFRESH = 3600.0
_LINUX_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")

if sys.platform == "linux":

    def boot_time() -> float:
        """Return seconds since boot, time in suspend included; the same number in every process of the host."""
        return time.clock_gettime(time.CLOCK_BOOTTIME)

else:

    def boot_time() -> float:
        """Return seconds since boot as the system's monotonic clock tells them (on macOS it counts suspend)."""
        return time.clock_gettime(time.CLOCK_MONOTONIC)


@functools.cache
def boot_id() -> str:
    """Return an id that the host drew at boot: the same in every process, another after the next boot."""
    if _LINUX_BOOT_ID.exists():
        return _LINUX_BOOT_ID.read_text().strip()
    command = ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603 - constant


class Anchor(NamedTuple):
    """Ties the boot clock of one boot to a time line that goes on over boots.

    Attributes:
        boot: id of the boot it holds for.
        offset: seconds to add to the boot clock.
        set_at: the anchored time at which it was last stored; the time never goes back behind it.

    """

    boot: str
    offset: float
    set_at: float


def next_anchor(previous: Anchor | None, boot: str, boot_now: float, wall_now: float) -> Anchor:
    """Return the anchor that holds for this boot.

    Args:
        previous: what the storage keeps, or None in a new one.
        boot: id of this boot.
        boot_now: the boot clock now, in seconds.
        wall_now: the wall clock now, in seconds; it counts only where `previous` is of another boot.

    Returns:
        `previous` itself if it is of this boot and was set in the last hour, otherwise a new anchor, to be stored.

    """
    if previous is not None and previous.boot == boot:
        now = previous.offset + boot_now
        return previous if now < previous.set_at + _REFRESH else previous._replace(set_at=now)
    now = wall_now if previous is None else max(wall_now, previous.set_at)
    return Anchor(boot, now - boot_now, now)
