"""What all reports have in common: text that no terminal or parser obeys, figures, and commands to try again."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from typing import Any

from holdall_conformance.results import Report, Result, Side

__all__ = [
    "SIDES",
    "command_of",
    "counted",
    "declared",
    "duration",
    "joined",
    "rerun_of",
    "sides_of",
    "visible",
    "wrapped",
]

SIDES: tuple[Side, ...] = ("sync", "async")
"""The sides in the order in which reports show them."""

_WIDTH = 80
_MINUTE = 60
_KIB = 1024
_UNITS = ("B", "KiB", "MiB", "GiB")
_TEN = 10
_LONGEST_BYTE = 0xFF
_LONGEST_BMP = 0xFFFF


def visible(text: str, *, lines: bool = False) -> str:
    r"""Return text with escapes such as \x1b in place of whatever is not printable.

    What stays holds no control character, no mark of direction or of no width, no surrogate and no noncharacter, so
    that a terminal has nothing to obey, XML 1.0 and UTF-8 take every character, and a reader sees what was there.

    Args:
        text: any text, hostile text too.
        lines: whether line ends stay; tabs become spaces then.

    """
    if lines:
        return "\n".join(visible(line.expandtabs()) for line in text.replace("\r\n", "\n").split("\n"))
    return "".join(each if each.isprintable() else _escaped(each) for each in text)


def _escaped(character: str) -> str:
    short = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}.get(character)
    if short is not None:
        return short
    number = ord(character)
    if number <= _LONGEST_BYTE:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= _LONGEST_BMP else f"\\U{number:08x}"


def wrapped(text: str, first: str = "", further: str = "") -> str:
    """Return text on lines of at most 80 columns, words that are longer left whole.

    Args:
        text: any text.
        first: what the first line begins with.
        further: what further lines begin with.

    """
    wrapper = textwrap.TextWrapper(_WIDTH, first, further, break_long_words=False, break_on_hyphens=False)
    return wrapper.fill(visible(text))


def counted(number: int, what: str) -> str:
    """Return a number of things as a person says it.

    Args:
        number: how many.
        what: one of them.

    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def joined(words: Sequence[str]) -> str:
    """Return words as a person lists them: "a", "a and b", "a, b and c".

    Args:
        words: at least one.

    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def duration(seconds: float) -> str:
    """Return a time as a person reads it.

    Args:
        seconds: how long.

    """
    if seconds >= _MINUTE:
        minutes, rest = divmod(round(seconds), _MINUTE)
        return f"{minutes:,} min {rest} s"
    if seconds >= _TEN:
        return f"{seconds:.1f} s"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1000:.3g} ms"


def declared(name: str, value: Any) -> str:
    """Return what a backend declares, as a person reads it.

    Args:
        name: the name of the capability; one that ends in "bytes", "ttl" or "margin" brings a unit.
        value: what is declared.

    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float) and name.endswith(("ttl", "margin", "seconds")):
        return f"{value:g} s"
    if isinstance(value, int):
        return _size(value) if name.endswith("bytes") else f"{value:,}"
    return visible(str(value))


def _size(count: int) -> str:
    power = 0
    while power < len(_UNITS) - 1 and count and count % _KIB == 0:
        count //= _KIB
        power += 1
    return f"{count:,} {_UNITS[power]}"


def sides_of(report: Report) -> list[Side]:
    """Return the sides that have results."""
    there = {result.side for result in report.results}
    return [side for side in SIDES if side in there]


def command_of(report: Report) -> str:
    """Return the command that does the whole run again, ready for a shell.

    A password that the subject had is not in the report, so it is not in the command either.

    Args:
        report: what the run found.

    """
    return _command(report)


def rerun_of(report: Report, result: Result) -> str:
    """Return the command that tries one clause again, ready for a shell.

    Args:
        report: what the run found.
        result: what came of the clause.

    """
    side = ("--side", result.side) if len(sides_of(report)) > 1 else ()
    return _command(report, "--only", result.id, *side)


def _command(report: Report, *options: str) -> str:
    level = () if report.level == "base" else ("--level", report.level)
    effort = () if report.effort == 1 else ("--effort", f"{report.effort:g}")
    subject = [report.subject] if report.subject else []
    subject += ["--lock", report.lock] if report.lock else []
    words = ["holdall", "check", *subject, *options, *level, "--seed", str(report.seed), *effort]
    return visible(shlex.join(words))
