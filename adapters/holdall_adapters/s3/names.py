"""The names of objects: injective, in the order of the names' code points, within what every S3 takes.

A name is its UTF-8 in base 64 with an alphabet in ASCII order. Components have at most 240 characters, and one that is
followed by another ends in a tilde: so no object lies where a folder is, and stores that list folder by folder list in
the same order as those that list by bytes.
"""

from __future__ import annotations

import base64

__all__ = ["Names", "beginning", "decoded", "encoded"]

_STANDARD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_ORDERED = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz~"
_TO_ORDERED = bytes.maketrans(_STANDARD, _ORDERED)
_TO_STANDARD = bytes.maketrans(_ORDERED, _STANDARD)
_CUT = 240


def _letters(name: str) -> str:
    return base64.b64encode(name.encode()).rstrip(b"=").translate(_TO_ORDERED).decode()


def encoded(name: str) -> str:
    """Return a scope or key as part of an object's name.

    Args:
        name: the scope or key.

    """
    letters = _letters(name)
    return "~/".join(letters[start : start + _CUT] for start in range(0, len(letters), _CUT))


def decoded(path: str) -> str:
    """Return the scope or key that a part of an object's name stands for.

    Args:
        path: what `encoded` returned.

    Raises:
        ValueError: nothing of holdall's is called so.

    """
    letters = path.replace("~/", "").encode().translate(_TO_STANDARD)
    return base64.b64decode(letters + b"=" * (-len(letters) % 4), validate=True).decode()


def beginning(prefix: str) -> str:
    """Return how the names begin of everything that begins with a prefix, as far as the prefix decides it.

    Args:
        prefix: what scopes or keys begin with.

    """
    letters = _letters(prefix)[: 8 * len(prefix.encode()) // 6]
    return "~/".join(letters[start : start + _CUT] for start in range(0, len(letters), _CUT))


class Names:
    """The names of the objects below a prefix.

    Args:
        prefix: the prefix without a slash at its end, "" for none.

    """

    def __init__(self, prefix: str) -> None:
        self.root = f"{prefix}/" if prefix else ""

    @property
    def layout(self) -> str:
        """The object that says what lies here."""
        return f"{self.root}holdall.json"

    def probe(self, nonce: str) -> str:
        """Return the name of an object that only tries what the server does."""
        return f"{self.root}probe/{nonce}"

    def kind(self, kind: str) -> str:
        """Return what the names of all objects of a kind begin with."""
        return f"{self.root}{kind}/"

    def folder(self, kind: str, scope: str) -> str:
        """Return what the names of all records ("r") or logs ("l") of a scope begin with."""
        return f"{self.root}{kind}/{encoded(scope)}/"

    def record(self, scope: str, key: str) -> str:
        """Return the name of a record."""
        return self.folder("r", scope) + encoded(key)

    def log(self, scope: str, key: str) -> str:
        """Return the name of the head of a log."""
        return self.folder("l", scope) + encoded(key)

    def lease(self, key: str) -> str:
        """Return the name of a lease."""
        return f"{self.root}k/{encoded(key)}"

    def flag(self, key: str) -> str:
        """Return the name of a flag."""
        return f"{self.root}f/{encoded(key)}"

    def life(self, kind: str, incarnation: str) -> str:
        """Return what the names begin with of segments ("s"), indexes ("i") or markers ("b") of one life of a log."""
        return f"{self.root}{kind}/{incarnation}/"

    def segment(self, incarnation: str, end: int, nonce: str) -> str:
        """Return the name of a segment that ends before a position."""
        return f"{self.life('s', incarnation)}{end:016x}-{nonce}"

    def index(self, incarnation: str, end: int, nonce: str) -> str:
        """Return the name of an index of segments that end before a position."""
        return f"{self.life('i', incarnation)}{end:016x}-{nonce}"

    def marker(self, incarnation: str, hashed: str) -> str:
        """Return the name of the marker of a batch id."""
        return self.life("b", incarnation) + hashed
