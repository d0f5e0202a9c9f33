"""The verdict as an SVG badge for a README."""

from __future__ import annotations

from html import escape

from holdall_conformance.reports.text import visible
from holdall_conformance.results import Report

__all__ = ["to_badge"]

_LABEL = "holdall conformance"
_GREEN, _RED, _GREY = "#1a7f37", "#c62828", "#57606a"
_DARK = "#30363d"
_PADDING = 6
_DIGITS = 1
_WIDTHS = {
    3.0: "il",
    3.9: "f jt,",
    4.7: "r",
    5.8: "csz",
    6.6: "aekvxyo",
    7.0: "bdghnpqu0123456789",
    9.0: "w",
    10.7: "m",
}
"""Widths in pixels of the characters of Verdana, the font of badges, at 11 px."""

_WIDTH_OF = {character: width for width, characters in _WIDTHS.items() for character in characters}
_WIDEST = 11.0

_TEMPLATE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" role="img" aria-labelledby="title">
  <title id="title">{title}</title>
  <clipPath id="round"><rect width="{width}" height="20" rx="3"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="{left}" height="20" fill="{dark}"/>
    <rect x="{left}" width="{right}" height="20" fill="{colour}"/>
  </g>
  <g fill="#fff" font-family="Verdana,DejaVu Sans,Geneva,sans-serif" font-size="11" text-anchor="middle">
    <text x="{left_middle}" y="14" textLength="{left_text}">{label}</text>
    <text x="{right_middle}" y="14" textLength="{right_text}">{message}</text>
  </g>
</svg>
"""


def to_badge(report: Report) -> str:
    """Return the badge as an SVG document: green with the level, red with the failures, or grey without a verdict.

    Args:
        report: what the run found.

    """
    message, colour = _message(report)
    label_width, message_width = _width(_LABEL), _width(message)
    left, right = label_width + 2 * _PADDING, message_width + 2 * _PADDING
    return _TEMPLATE.format(
        width=f"{left + right:g}",
        left=f"{left:g}",
        right=f"{right:g}",
        left_middle=f"{left / 2:g}",
        right_middle=f"{left + right / 2:g}",
        left_text=f"{label_width:g}",
        right_text=f"{message_width:g}",
        dark=_DARK,
        colour=colour,
        label=_LABEL,
        message=escape(message),
        title=escape(visible(f"{report.title}: {report.verdict}")),
    )


def _message(report: Report) -> tuple[str, str]:
    if report.failures:
        return f"{len(report.failures):,} failed", _RED
    return (visible(f"level {report.level}"), _GREEN) if report.conforms else ("no verdict", _GREY)


def _width(text: str) -> float:
    """Return how wide a text is, in pixels; the browser fits it exactly by `textLength`."""
    return round(sum(_WIDTH_OF.get(character, _WIDEST) for character in text), _DIGITS)
