"""Listing names in order, and in bounded memory: a folder of a million files is read in windows.

A window is the next names of one folder, sorted. It serves the pages after it too, as long as the folder has not
changed: its modification time is the same, and was old enough when the window was read for a later change to show.
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

_WINDOW = 32_768
_OLD_ENOUGH = 2.0
_NANOSECONDS = 1e-9

Way = tuple[str, ...]

Part = tuple[bytes, int]
"""What a name in a folder stands for, and 1 if it goes on in a folder of that name; as a bound also with -1."""


class _Window(NamedTuple):
    """Names of a folder in order, strictly behind a bound; `complete` if there are none behind them."""

    state: tuple[int, int, int] | None
    bound: Part
    parts: list[Part]
    complete: bool

    def covers(self, bound: Part) -> bool:
        """Return whether the names behind a bound begin in this window."""
        return self.bound <= bound and (self.complete or bound < self.parts[-1])


class Listing:
    """Lists the scopes and keys below a folder."""

    def __init__(self, disk: Disk, environment: Environment) -> None:
        self._disk = disk
        self._environment = environment
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
        for part, goes_on in self._parts(way, max(_bound(start, after, 0), _bound(start, prefix, -1))):
            text = start + part
            if not text.startswith(prefix) and not (goes_on and prefix.startswith(text)):
                if text > prefix:
                    return
            elif not goes_on:
                yield text
            elif text >= after[: len(text)]:
                yield from self._walk((*way, part_of(part) + CONTINUED), text, prefix, after)

    def _parts(self, way: Way, bound: Part) -> Iterator[Part]:
        """Iterate over the parts in a folder that lie strictly behind a bound, in order."""
        while True:
            window = self._window(way, bound)
            yield from window.parts[bisect.bisect_right(window.parts, bound) :]
            if window.complete:
                return
            bound = window.parts[-1]

    def _window(self, way: Way, bound: Part) -> _Window:
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

    def _read(self, way: Way, bound: Part, state: tuple[int, int, int] | None) -> _Window:
        parts: list[Part] = []
        complete = True
        for name in self._disk.names(way):
            text = bytes_of_part(name)
            if text is None:
                continue
            part = (text, int(name.endswith(CONTINUED)))
            if part <= bound or (not complete and part > parts[_WINDOW - 1]):
                continue
            parts.append(part)
            if len(parts) == 2 * _WINDOW:
                complete = not _cut(parts)
        complete = not _cut(parts) and complete
        return _Window(state, bound, parts, complete)


def _cut(parts: list[Part]) -> bool:
    """Sort parts and leave a window of them; return whether some were cut off."""
    parts.sort()
    more = len(parts) > _WINDOW
    del parts[_WINDOW:]
    return more


def _bound(start: bytes, name: bytes, order: int) -> Part:
    """Return the last part in a folder that lies before a name, where the folder stands for `start`.

    Args:
        start: the part of every name in the folder.
        name: the name.
        order: 0 for strictly behind the name, -1 to take in the name itself.

    """
    rest = name[len(start) :] if name.startswith(start) else b""
    return (rest[:MOST_BYTES], order) if rest else (b"", -1)


def _decoded(text: bytes) -> str | None:
    """Return a name, or None if it is nobody's: a file that somebody else put there."""
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None
