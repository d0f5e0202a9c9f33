"""What the tests of the DynamoDB adapter share: tables of the tests' own."""

from __future__ import annotations

import uuid

__all__ = ["other_table", "table_of"]


def table_of(url: str) -> str:
    """Return the name of the table in a URL."""
    return url.partition("://")[2].partition("?")[0]


def other_table(url: str, **options: str) -> str:
    """Return a URL of a table of its own on the same server, with further options."""
    more = "".join(f"&{name}={value}" for name, value in options.items())
    return f"dynamodb://test-{uuid.uuid4().hex}?{url.partition('?')[2]}{more}"
