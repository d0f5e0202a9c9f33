"""What the metadata of installed distributions tells about drivers: versions, and requirements that exclude each other.

Nothing is imported: a driver in a bad state is what these questions are about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from typing import Final

__all__ = ["AWS_CLIENTS", "Conflict", "Range", "botocore_conflict", "drivers_of", "installed_version", "required_range"]

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_CLAUSE = re.compile(r"(===|==|~=|>=|<=|!=|>|<)\s*([0-9][0-9A-Za-z.+!*-]*)")
_RELEASE = re.compile(r"\d+(?:\.\d+)*")
AWS_CLIENTS = ("boto3", "aiobotocore")

Release = tuple[int, ...]
_LAST: Final[Release] = (10**9,)


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution, or None.

    Args:
        name: its name.

    """
    try:
        return distribution(name).version
    except PackageNotFoundError:
        return None


def drivers_of(name: str, extra: str | None) -> dict[str, str | None]:
    """Return the distributions that an extra brings, with the versions that are installed, or None.

    Args:
        name: the distribution that has the extra.
        extra: the extra, or None.

    """
    if extra is None:
        return {}
    marker = re.compile(rf"""extra\s*==\s*["']{re.escape(extra)}["']""")
    wanted = (_NAME.match(line) for line in _requirements(name) if marker.search(line))
    return {match[0]: installed_version(match[0]) for match in wanted if match}


def _requirements(name: str) -> Iterable[str]:
    try:
        return distribution(name).requires or ()
    except PackageNotFoundError:
        return ()


@dataclass(frozen=True, slots=True)
class Range:
    """The releases that a requirement allows.

    Attributes:
        text: the requirement as its distribution states it.
        low: the lowest release.
        high: the highest release.
        with_low: whether `low` itself is allowed.
        with_high: whether `high` itself is allowed.

    """

    text: str
    low: Release = ()
    high: Release = _LAST
    with_low: bool = True
    with_high: bool = True

    def meets(self, other: Range) -> bool:
        """Return whether some release lies in both ranges."""
        low = max((self.low, not self.with_low), (other.low, not other.with_low))
        high = min((self.high, self.with_high), (other.high, other.with_high))
        return low[0] < high[0] or (low[0] == high[0] and not low[1] and high[1])


def required_range(name: str, needed: str) -> Range | None:
    """Return which releases of one distribution another one requires, or None if it requires none.

    Args:
        name: the distribution that requires.
        needed: the distribution that is required.

    """
    for line in _requirements(name):
        requirement, _, marker = line.partition(";")
        match = _NAME.match(requirement)
        if match and match[0].lower() == needed and "extra" not in marker:
            return _range_of(requirement[match.end() :])
    return None


def _range_of(text: str) -> Range:
    found = Range(re.sub(r"^\[[^]]*\]|[\s()]", "", text.strip()))
    for operator, version in _CLAUSE.findall(text):
        found = _narrowed(found, operator, version)
    return found


def _narrowed(span: Range, operator: str, version: str) -> Range:
    exact = _release(version)
    release = _comparable(exact)
    low, high = (span.low, not span.with_low), (span.high, span.with_high)
    if operator in {"==", "===", "~=", ">=", ">"}:
        low = max(low, (release, operator == ">"))
    if operator in {"<=", "<"}:
        high = min(high, (release, operator == "<="))
    elif operator == "~=":
        high = min(high, (_next(exact[:-1]), False))
    elif operator in {"==", "==="}:
        high = min(high, (_next(exact), False) if version.endswith(".*") else (release, True))
    return Range(span.text, _comparable(low[0]), _comparable(high[0]), not low[1], high[1])


def _release(version: str) -> Release:
    match = _RELEASE.match(version.rpartition("!")[2])
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def _comparable(release: Release) -> Release:
    """Return a release without the zeros at its end: 1.40 and 1.40.0 are the same."""
    while release and not release[-1]:
        release = release[:-1]
    return release


def _next(release: Release) -> Release:
    return (*release[:-1], release[-1] + 1) if release else _LAST


@dataclass(frozen=True, slots=True)
class Conflict:
    """What a look at the two AWS clients found; they share botocore, and each wants its own range of it."""

    detail: str
    exists: bool


def botocore_conflict() -> Conflict:
    """Return whether boto3, aiobotocore and botocore as installed fit together."""
    versions = {name: installed_version(name) for name in AWS_CLIENTS}
    ranges = {name: required_range(name, "botocore") for name in AWS_CLIENTS if versions[name]}
    wanted = {name: span for name, span in ranges.items() if span is not None}
    stated = "; ".join(f"{name} {versions[name]} needs botocore {span.text}" for name, span in wanted.items())
    spans = list(wanted.values())
    if any(not spans[0].meets(span) for span in spans[1:]):
        return Conflict(f"{stated}: these exclude each other", exists=True)
    core = installed_version("botocore")
    if core is not None:
        here = _narrowed(Range(core), "==", core)
        misfits = [name for name, span in wanted.items() if not span.meets(here)]
        if misfits:
            return Conflict(f"{stated}; botocore {core} is installed: too old or too new for {misfits[0]}", exists=True)
    return Conflict(stated or "none: boto3 and aiobotocore are not installed", exists=False)
