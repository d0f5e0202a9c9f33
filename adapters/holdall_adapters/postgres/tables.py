"""The names of the tables, from what the URL says: validated, quoted, and always with their schema."""

from __future__ import annotations

import hashlib
import re

from holdall.errors import ConfigError

__all__ = ["Tables"]

_IDENTIFIER = re.compile(r"[a-z_][a-z0-9_]{0,39}")
_LONGEST_CHANNEL, _SHORT_CHANNEL = 31, 20
_NAMES = ("meta", "records", "logs", "entries", "batches", "leases", "flags", "followers")


def _channel(prefix: str) -> str:
    """Return how the names of channels begin: with a log's they have at most the 63 bytes that Postgres takes."""
    if len(prefix) <= _LONGEST_CHANNEL:
        return prefix
    return prefix[:_SHORT_CHANNEL] + hashlib.sha256(prefix.encode()).hexdigest()[: _LONGEST_CHANNEL - _SHORT_CHANNEL]


class Tables:
    """The quoted names of all tables.

    Args:
        schema: the schema they lie in.
        prefix: what their names begin with.

    Raises:
        ConfigError: one of both is no plain identifier.

    """

    def __init__(self, schema: str, prefix: str) -> None:
        for what, name in (("schema", schema), ("prefix", prefix)):
            if _IDENTIFIER.fullmatch(name) is None:
                message = (
                    f"{what} {name!r} must be lower-case letters, digits and underscores, not begin with a digit, "
                    "and have at most 40 characters"
                )
                raise ConfigError(message)
        self.schema = schema
        self.prefix = prefix
        self.meta, self.records, self.logs, self.entries, self.batches, self.leases, self.flags, self.followers = (
            f'"{schema}"."{prefix}{name}"' for name in _NAMES
        )
        self.channel = _channel(prefix)

    def index(self, name: str) -> str:
        """Return the quoted name of an index; it lies in the schema of its table.

        Args:
            name: what it is for.

        """
        return f'"{self.prefix}{name}"'
