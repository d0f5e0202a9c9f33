"""The report as JSON, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from holdall_conformance.results import FORMAT, LEVELS, Outcome, Report, Side

__all__ = ["UnusableReport", "read_report", "to_json"]


class UnusableReport(ValueError):
    """A file that is no report: which, what is wrong with it, and what to do."""

    def __init__(self, path: Path, problem: str, remedy: str = "") -> None:
        self.path = path
        remedy = remedy or "write it anew with `holdall check SUBJECT --json FILE`"
        super().__init__(f"{path}: {problem}; {remedy}")


def to_json(report: Report) -> str:
    """Return the report as JSON of several lines, in ASCII; `read_report` reads it.

    Args:
        report: what the run found.

    """
    return json.dumps(_plain(report.to_dict()), indent=2, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Replace what JSON does not hold: a backend may declare anything."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def read_report(path: Path) -> Report:
    """Read a report that `to_json` wrote.

    Args:
        path: the file.

    Raises:
        UnusableReport: the file cannot be read, or is no report that this version knows.

    """
    found = _parsed(path, _text(path))
    version = found.get("format") if isinstance(found, dict) else None  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    if type(version) is int and version != FORMAT:  # pyright: ignore[reportUnknownArgumentType]
        problem = f"is a report in format {version}, and this holdall reads format {FORMAT}"
        raise UnusableReport(path, problem, "use the holdall that wrote it, or write it anew with this one")
    try:
        report = Report.from_dict(found)  # pyright: ignore[reportUnknownArgumentType]
    except ValueError as error:
        raise UnusableReport(path, str(error)) from error
    flaw = _flaw(report)
    if flaw is not None:
        raise UnusableReport(path, flaw)
    return report


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError as error:
        raise UnusableReport(path, "there is no such file") from error
    except OSError as error:
        raise UnusableReport(path, f"cannot be read: {error.strerror}", "name a file that you may read") from error
    except UnicodeDecodeError as error:
        raise UnusableReport(path, f"is not UTF-8 at byte {error.start:,}") from error


def _parsed(path: Path, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise UnusableReport(path, f"is no JSON from {where} on: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise UnusableReport(path, "is no JSON that a report could hold") from error


def _refuse(constant: str) -> Any:
    raise ValueError(constant)


def _flaw(report: Report) -> str | None:
    """Return what is wrong with the first part that no report has; the types are those of a file, not of code."""
    for name, fits in _PARTS.items():
        if not fits(getattr(report, name)):
            return f"{name!r} is not what a report has there"
    for number, result in enumerate(report.results):
        for name, fits in _RESULT_PARTS.items():
            if not fits(getattr(result, name)):
                return f"{name!r} of result {number} is not what a report has there"
    return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))  # pyright: ignore[reportUnknownArgumentType]


def _are_named_texts(value: Any) -> bool:
    return isinstance(value, Mapping) and all(map(_is_text, value.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_time(value: Any) -> bool:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True


_Fits = Callable[[Any], bool]

_PARTS: dict[str, _Fits] = {
    "subject": _is_text,
    "adapter": _is_text,
    "level": LEVELS.__contains__,
    "complete": lambda value: isinstance(value, bool),
    "seed": lambda value: type(value) is int,
    "effort": _is_number,
    "started": _is_time,
    "seconds": _is_number,
    "versions": _are_named_texts,
    "environment": _are_named_texts,
    "capabilities": lambda value: isinstance(value, Mapping),
    "absent_operations": _are_texts,
    "remarks": _are_texts,
}

_RESULT_PARTS: dict[str, _Fits] = {
    "id": _is_text,
    "proves": _is_text,
    "level": LEVELS.__contains__,
    "side": get_args(Side).__contains__,
    "outcome": get_args(Outcome).__contains__,
    "reason": _is_text,
    "detail": _is_text,
    "hint": _is_text,
    "seconds": _is_number,
}
