"""What a turn of a model took: tokens, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from holdall.sessions.errors import InvalidMessage
from holdall.sessions.shapes import is_map

__all__ = ["Cost", "Usage"]

_COUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_1h", "reasoning")
_AMOUNTS = ("input", "output", "cache_read", "cache_write", "total")


@dataclass(frozen=True, slots=True)
class Cost:
    """Amounts of money; `known` tells whether they are more than zeros for want of a price."""

    input: float = 0.0
    output: float = 0.0
    cache_read: float = 0.0
    cache_write: float = 0.0
    total: float = 0.0
    known: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0
    reasoning: int = 0
    cost: Cost = field(default_factory=Cost)

    @property
    def context(self) -> int:
        """The tokens that the context had with the answer: those for reasoning are part of the output."""
        return self.input + self.cache_read + self.cache_write + self.output

    def to_map(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, told: Any) -> Usage:
        """Return the usage that a map stands for; what is missing counts as nothing.

        Args:
            told: the map.

        Raises:
            InvalidMessage: it is none.

        """
        if not is_map(told):
            raise InvalidMessage("malformed", "usage is no map")
        counts = {name: _number(told, name, int) for name in _COUNTS}
        cost: Any = told.get("cost") if told.get("cost") is not None else {}
        if not is_map(cost):
            raise InvalidMessage("malformed", "the cost of usage is no map")
        amounts = {name: _number(cost, name, float) for name in _AMOUNTS}
        is_nothing = not any((*counts.values(), *amounts.values()))
        known = cost["known"] is True if "known" in cost else is_nothing
        return cls(**counts, cost=Cost(**amounts, known=known))


def _number(told: Mapping[str, Any], name: str, kind: type[int | float]) -> Any:
    value = told.get(name)
    if value is None:
        return kind()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidMessage("malformed", f"{name} of usage is no number")
    return kind(value)
