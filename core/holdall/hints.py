"""The nearest valid name, for errors that say how to mend them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean"]


def did_you_mean(name: str, valid: Iterable[str], otherwise: str) -> str:
    """Return "did you mean ...?" with the nearest valid name, or something else if none is near.

    Args:
        name: what was given.
        valid: what it could have been.
        otherwise: what to say if none is near.

    """
    import difflib  # noqa: PLC0415 - only errors need it

    nearest = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.6)
    return f"did you mean {nearest[0]!r}?" if nearest else otherwise
