"""A bad history in words and pictures: one line a call, and one sentence of why no order explains it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from holdall_conformance.history.calls import Call
from holdall_conformance.history.checker import MODELS, Verdict
from holdall_conformance.history.plain import ABSENT_MARK

__all__ = ["describe", "reason"]

_LONGEST = 60
_MOST_BARS = 60
_ADDRESS = frozenset({"scope", "key"})


def describe(verdict: Verdict) -> str:
    """Return a bad history as a table, with the reason under it.

    Moments are numbered in order: that is all that counts. Versions and incarnations have short names.

    Args:
        verdict: a verdict that says no, at best that on a minimal history.

    """
    rename = _names(verdict.calls)
    moments = _Moments(verdict.calls)
    rows = [(moments.interval(call), call.client, rename(_told(call)), *moments.bar(call)) for call in verdict.calls]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [" | ".join([*map(str.ljust, row[:3], widths), *row[3:]]).rstrip() for row in rows]
    return "\n".join([*lines, reason(verdict)])


def reason(verdict: Verdict) -> str:
    """Return one sentence of why no order explains a bad history.

    Args:
        verdict: a verdict that says no.

    """
    return _names(verdict.calls)(_reason(verdict))


def _reason(verdict: Verdict) -> str:
    if verdict.flaw is not None:
        return f"No order explains this: {verdict.flaw.why}."
    model, moments = MODELS[verdict.kind], _Moments(verdict.calls)
    state = f"the {verdict.kind} {model.describe(verdict.state)}"
    after = "at first" if not verdict.order else f"after {_named(verdict.order[-1], moments)}"
    blocked = " and ".join(f"{_named(call, moments)} {_outcome(call)}" for call in verdict.blocked)
    best = f"the best explains {len(verdict.order)} of {len(verdict.calls)} calls"
    return f"No order explains this, {best}: {after} {state}, but {blocked}."


def _named(call: Call, moments: _Moments) -> str:
    return f"{call.operation} by {call.client} ({moments.interval(call).strip()})"


class _Moments:
    """The moments of a history by number."""

    def __init__(self, calls: Sequence[Call]) -> None:
        times = {time for call in calls for time in (call.invoked, call.returned) if time is not None}
        self._numbers = {time: number for number, time in enumerate(sorted(times), 1)}
        self._width = len(str(len(times)))

    def interval(self, call: Call) -> str:
        """Return beginning and end."""
        end = "" if call.returned is None else str(self._numbers[call.returned])
        return f"{self._numbers[call.invoked]:>{self._width}}..{end}"

    def bar(self, call: Call) -> list[str]:
        """Return the interval as a bar, if there is room."""
        if len(self._numbers) > _MOST_BARS:
            return []
        begin = self._numbers[call.invoked] - 1
        if call.returned is None:
            return [" " * begin + "<" + "-" * (len(self._numbers) - begin)]
        length = self._numbers[call.returned] - begin
        return [" " * begin + ("<" + "-" * (length - 2) + ">" if length > 1 else "*")]


def _told(call: Call) -> str:
    arguments = [f"{name}={_short(value)}" for name, value in call.arguments.items() if name not in _ADDRESS]
    shown = ", ".join(text for text in arguments if not text.endswith("=None"))
    return f"{call.operation}({shown}) {_outcome(call)}"


def _outcome(call: Call) -> str:
    if call.outcome == "unknown":
        return "has an open outcome"
    if call.outcome == "refused":
        told = {name: value for name, value in call.result.items() if name != "error"}
        return " ".join(["was refused:", call.result["error"], *(f"{name} {_short(told[name])}" for name in told)])
    return f"returned {_short(call.result)}"


def _short(value: Any) -> str:
    match value:
        case {"first": first, "length": length, "incarnation": incarnation}:
            return f"head {first}..{length} of {incarnation}"
        case {"value": inner, "version": version}:
            return f"{_short(inner)} at version {version}"
        case {"start": start, "count": count, "head": head}:
            return f"start {start} of {count}, {_short(head)}"
        case {"entries": entries, "head": head}:
            found = ", ".join(f"{position}: {_short(inner)}" for position, inner in entries)
            return f"{_cut(found) or 'no entries'}, {_short(head) if head else 'no log'}"
        case {"token": token}:
            return f"token {token}"
        case _:
            return "ABSENT" if value == ABSENT_MARK else _cut(repr(value) if not isinstance(value, str) else value)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 3 :]}"


def _names(calls: Sequence[Call]) -> Callable[[str], str]:
    """Return what replaces ids by short names, in the order in which they occur."""
    found: dict[str, str] = {}
    for call in calls:
        for letter, identity in _ids(call):
            if identity not in found:
                count = sum(name.startswith(letter) for name in found.values()) + 1
                found[identity] = f"{letter}{count}"
    if not found:
        return lambda text: text
    pattern = re.compile("|".join(re.escape(identity) for identity in sorted(found, key=len, reverse=True)))
    return lambda text: pattern.sub(lambda match: found[match.group()], text)


def _ids(call: Call) -> list[tuple[str, str]]:
    """Return the ids in a call that are long enough not to be anything else: versions with "v", incarnations "log"."""
    found: list[tuple[str, str]] = []
    if call.operation == "put" and isinstance(call.result, str):
        found.append(("v", call.result))
    pending: list[Any] = [call.arguments.get("expect"), call.result]
    while pending:
        value = pending.pop(0)
        if isinstance(value, Mapping):
            found += [("v", value["version"])] if "version" in value else []
            found += [("log", value["incarnation"])] if "incarnation" in value else []
            pending += [value[name] for name in ("head", "current") if name in value]
        elif isinstance(value, str):
            found.append(("v", value))
    return [(letter, identity) for letter, identity in found if len(identity) >= 8]  # noqa: PLR2004 - see above
