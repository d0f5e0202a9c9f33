"""Update expressions, put together piece by piece. Every name goes through a placeholder: many are reserved words."""

from __future__ import annotations

import re
from typing import Any, Self

__all__ = ["Change", "fence_holds", "named"]

_NAME = re.compile(r"#(\w+)")
Value = dict[str, Any]


def named(*texts: str) -> dict[str, str]:
    """Return the names that stand in expressions behind a `#`, each as its placeholder.

    Args:
        texts: the expressions.

    """
    return {f"#{name}": name for text in texts for name in _NAME.findall(text)}


class Change:
    """What a request does with an item, and under which conditions."""

    def __init__(self) -> None:
        self._actions: dict[str, list[str]] = {}
        self._conditions: list[str] = []
        self._values: dict[str, Value] = {}

    def value(self, value: Value) -> str:
        """Return the placeholder of a value."""
        placeholder = f":{len(self._values)}"
        self._values[placeholder] = value
        return placeholder

    def set(self, name: str, value: Value) -> Self:
        """Set an attribute."""
        return self._act("SET", f"#{name} = {self.value(value)}")

    def set_to(self, name: str, expression: str) -> Self:
        """Set an attribute to what an expression comes to."""
        return self._act("SET", f"#{name} = {expression}")

    def remove(self, *paths: str) -> Self:
        """Remove attributes, or elements of lists."""
        for path in paths:
            self._act("REMOVE", f"#{path}")
        return self

    def add(self, name: str, value: Value) -> Self:
        """Add a number to an attribute, or elements to a set."""
        return self._act("ADD", f"#{name} {self.value(value)}")

    def delete(self, name: str, value: Value) -> Self:
        """Delete elements of a set."""
        return self._act("DELETE", f"#{name} {self.value(value)}")

    def _act(self, what: str, action: str) -> Self:
        self._actions.setdefault(what, []).append(action)
        return self

    def require(self, condition: str) -> Self:
        """Let it happen only if a condition holds; names in it begin with `#`."""
        self._conditions.append(f"({condition})")
        return self

    def equal(self, name: str, value: Value | None) -> Self:
        """Let it happen only if an attribute has a value, or is not there."""
        if value is None:
            return self.require(f"attribute_not_exists(#{name})")
        return self.require(f"#{name} = {self.value(value)}")

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of the request."""
        update = " ".join(f"{what} {', '.join(actions)}" for what, actions in self._actions.items())
        condition = " AND ".join(self._conditions)
        made: dict[str, Any] = {}
        if update:
            made["UpdateExpression"] = update
        if condition:
            made["ConditionExpression"] = condition
        if names := named(update, condition):
            made["ExpressionAttributeNames"] = names
        if self._values:
            made["ExpressionAttributeValues"] = self._values
        return made


def fence_holds(change: Change, fence: int | None) -> None:
    """Refuse a change whose token is below the mark, and raise the mark to it.

    What has a mark must never be cleaned up by the table's TTL.

    Args:
        change: the change.
        fence: the token, or None for an unfenced write.

    """
    if fence is not None:
        token = change.value({"N": str(fence)})
        change.require(f"attribute_not_exists(#mark) OR #mark <= {token}")
        change.set_to("mark", token)
