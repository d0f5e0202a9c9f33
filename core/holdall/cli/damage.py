"""Things in a storage that cannot be read: they are named, and everything else goes its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holdall.cli.outcome import Kind, Problem
from holdall.errors import Corrupt
from holdall.values import Page

__all__ = ["Damaged", "each", "named", "problem_of"]

_PAGE = 500


class Damaged(Exception):
    """A log that cannot be read, or not to its end.

    Attributes:
        position: the first position that cannot be read, or None if nothing can.
        reason: what the storage says of it.

    """

    def __init__(self, reason: str, position: int | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.position = position

    def __str__(self) -> str:
        """Return what is the matter, without saying with which log."""
        return self.reason if self.position is None else f"from position {self.position:,} on: {self.reason}"


def each(listing: Callable[..., Page[str]], damaged: Callable[[str | None, Corrupt], None]) -> Iterator[str]:
    """Yield all names of a listing, page by page; what of it cannot be read is passed over.

    Args:
        listing: takes `after` and `limit`.
        damaged: is told of what cannot be read: a name, or None if the rest of the listing cannot.

    """
    after: str | None = None
    while True:
        try:
            page = listing(after=after, limit=_PAGE)
        except Corrupt as error:
            name = named(error, after)
            damaged(name, error)
            if name is None:
                return
            after = name
            continue
        yield from page.items
        after = page.next
        if after is None:
            return


def named(error: Corrupt, after: str | None) -> str | None:
    """Return the name at which a listing failed, or None if it cannot go on behind one.

    Args:
        error: what it raised.
        after: behind which name it began.

    """
    name = error.scope if error.operation in {"scopes", "log_scopes"} else error.key
    return None if name is None or (after is not None and name <= after) else name


def problem_of(kind: Kind, scope: str, key: str, side: str, error: Corrupt | Damaged) -> Problem:
    """Return what is said of something damaged.

    Args:
        kind: "record" or "log".
        scope: its scope.
        key: its key, or "" for all that the scope holds of this kind from somewhere on.
        side: "SRC" or "DST".
        error: what is the matter.

    """
    reason = error.message if isinstance(error, Corrupt) else str(error)
    what = "is damaged" if key else "cannot be listed any further"
    return Problem(kind, scope, key, f"{what} in {side}: {reason}")
