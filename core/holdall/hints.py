"""The nearest valid name, for errors that say how to mend them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["did_you_mean", "hint_of_place"]


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


def hint_of_place(given: str) -> str:
    """Return how a place of this machine is written as a URL.

    Args:
        given: what was given in place of a URL, such as `./store` or `file:/srv/store`.

    """
    from pathlib import Path  # noqa: PLC0415 - as above
    from urllib.parse import quote  # noqa: PLC0415 - as above

    general = "a SQLite file is opened with sqlite:///app.db, a folder with file:///whole/path/of/it"
    scheme, colon, rest = given.partition(":")
    is_path = bool(colon) and scheme.lower() in {"file", "sqlite"}
    place = rest if is_path else given
    if not place or "@" in place or (not is_path and (colon or "/" not in place)):
        return general
    try:
        whole = quote(str(Path(place.partition("?")[0]).absolute()))
    except (UnicodeError, OSError):
        return general
    urls = {"file": f"file://{whole}", "sqlite": f"sqlite:///{whole}"}
    nearest = urls[scheme.lower()] if is_path else " or ".join(urls.values())
    return f"did you mean {nearest}? {general}"
