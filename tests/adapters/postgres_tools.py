"""What the tests of the Postgres adapter share."""

from __future__ import annotations

from tests.adapters.handles_tools import KINDS, Handles, opened

__all__ = ["KINDS", "Handles", "opened", "with_database"]


def with_database(url: str, name: str) -> str:
    """Return a URL with another database."""
    return f"{url.rpartition('/')[0]}/{name}"
