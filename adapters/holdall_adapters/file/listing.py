"""Listing names in order, and in bounded memory: a folder of a million files is read in windows.

A window is the next names of one folder, sorted. It serves the pages after it too, as long as the folder has not
changed: its modification time is the same, and was old enough when the window was read for a later change to show.

A system may pass over, or give twice, a name that is replaced while a folder is read (POSIX, readdir). Those that keep
the place of a name do not. On the others a folder that changed meanwhile is read again, and what was seen once counts.
"""

from __future__ import annotations

import bisect
import contextlib
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, NamedTuple

from holdall_adapters.file.names import CONTINUED, MOST_BYTES, bytes_of_part, part_of

if TYPE_CHECKING:
    from holdall.spi import Environment
    from holdall_adapters.file.disk import Disk

__all__ = ["Listing"]

_WINDOW = 65_536
_OLD_ENOUGH = 2.0
_NANOSECONDS = 1e-9
_STEADY = frozenset({"ext2", "ext3", "ext4", "xfs"})
_MOST_READINGS = 8

State = tuple[int, int, int]
Way = tuple[str, ...]

Part = bytes
"""What a name in a folder stands for; one that goes on in a folder, which has 80 bytes, has a zero byte behind it."""

Bound = tuple[Part, int]
"""Where a listing begins: at a part, or with 1 strictly behind it."""


class _Window(NamedTuple):
    """Names of a folder in order, strictly behind a bound; `complete` if there are none behind them."""

    state: State | None
    bound: Bound
    parts: list[Part]
    complete: bool

    def covers(self, bound: Bound) -> bool:
        """Return whether the names from a bound on begin in this window."""
        return self.bound <= bound and (self.complete or bound[0] < self.parts[-1])


class Listing:
    """Lists the scopes and keys below a folder."""

    def __init__(self, disk: Disk, environment: Environment, file_system: str | None) -> None:
        self._disk = disk
        self._environment = environment
        self._readings = 1 if file_system in _STEADY else _MOST_READINGS
        self._kept: tuple[Way, _Window] | None = None

    def names(self, way: Way, prefix: str = "", after: str | None = None) -> Iterator[str]:
        """Iterate over names in code-point order.

        Args:
            way: the folder in which they begin.
            prefix: what they begin with.
            after: they lie strictly behind this one.

        """
        for text in self._walk(way, b"", prefix.encode(), b"" if after is None else after.encode()):
            name = _decoded(text)
            if name is not None:
                yield name

    def unordered(self, way: Way, start: bytes = b"", *, prune: bool = False) -> Generator[str, None, None]:
        """Iterate over names in no order, without reading all of them first; who stops before the end closes it.

        Args:
            way: the folder in which they begin.
            start: the part of them that `way` stands for already.
            prune: whether folders in which long names go on are removed if they are empty after all.

        """
        with contextlib.closing(self._disk.names(way)) as parts:
            for part in parts:
                text = bytes_of_part(part)
                if text is None:
                    continue
                if part.endswith(CONTINUED):
                    yield from self.unordered((*way, part), start + text, prune=prune)
                    if prune:
                        self._disk.prune((*way, part))
                else:
                    name = _decoded(start + text)
                    if name is not None:
                        yield name

    def _walk(self, way: Way, start: bytes, prefix: bytes, after: bytes) -> Iterator[bytes]:
        """Iterate over the names whose first part, that of the folder, is `start`."""
        for part in self._parts(way, max(_bound(start, after, 1), _bound(start, prefix, 0))):
            goes_on = len(part) > MOST_BYTES
            text = start + part[:MOST_BYTES]
            if not text.startswith(prefix) and not (goes_on and prefix.startswith(text)):
                if text > prefix:
                    return
            elif not goes_on:
                yield text
            elif text >= after[: len(text)]:
                yield from self._walk((*way, part_of(part[:MOST_BYTES]) + CONTINUED), text, prefix, after)

    def _parts(self, way: Way, bound: Bound) -> Iterator[Part]:
        """Iterate over the parts in a folder from a bound on, in order."""
        while True:
            window = self._window(way, bound)
            find = bisect.bisect_right if bound[1] else bisect.bisect_left
            yield from window.parts[find(window.parts, bound[0]) :]
            if window.complete:
                return
            bound = (window.parts[-1], 1)

    def _window(self, way: Way, bound: Bound) -> _Window:
        state = self._disk.state_of(way)
        if self._kept is not None:
            kept_way, kept = self._kept
            if kept_way == way and state is not None and kept.state == state and kept.covers(bound):
                return kept
        old_enough = self._environment.wall_time() - _OLD_ENOUGH
        window = self._read(way, bound, state)
        if state is not None and state[2] * _NANOSECONDS < old_enough:
            self._kept = way, window
        return window

    def _read(self, way: Way, bound: Bound, state: State | None) -> _Window:
        parts: list[Part] = []
        complete = True
        for _ in range(self._readings):
            before = self._disk.state_of(way)
            complete = self._read_once(way, bound, parts)
            if before == self._disk.state_of(way):
                break
        return _Window(state, bound, parts, complete)

    def _read_once(self, way: Way, bound: Bound, parts: list[Part]) -> bool:
        """Take in the parts of a folder behind a bound, as many as a window has; return whether that is all."""
        first, behind = bound
        complete = not _cut(parts)
        for name in self._disk.names(way):
            part = bytes_of_part(name)
            if part is None:
                continue
            if name.endswith(CONTINUED):
                part += b"\0"
            if part < first or (behind and part == first) or (not complete and part > parts[_WINDOW - 1]):
                continue
            parts.append(part)
            if len(parts) >= 2 * _WINDOW:
                complete = not _cut(parts) and complete
        return not _cut(parts) and complete


def _cut(parts: list[Part]) -> bool:
    """Sort parts and leave a window of them, each once; return whether some were cut off."""
    parts[:] = sorted(set(parts))
    more = len(parts) > _WINDOW
    del parts[_WINDOW:]
    return more


def _bound(start: bytes, name: bytes, behind: int) -> Bound:
    """Return where names from a name on begin in a folder that stands for `start`.

    Args:
        start: the part of every name in the folder.
        name: the name.
        behind: 1 for strictly behind the name, 0 to take in the name itself.

    """
    rest = name[len(start) :] if name.startswith(start) else b""
    return (rest[:MOST_BYTES], behind) if rest else (b"", 0)


def _decoded(text: bytes) -> str | None:
    """Return a name, or None if it is nobody's: a file that somebody else put there."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
