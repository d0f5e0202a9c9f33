"""The plugin of pytest: options for the kit. It imports nothing of holdall until a test of the kit is collected."""

from __future__ import annotations

import os
import sys

import pytest

pytest.register_assert_rewrite("holdall_conformance.scenarios", "holdall_conformance.conforming")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("holdall", "holdall's conformance kit")
    group.addoption(
        "--holdall-url",
        metavar="TARGET",
        help="the backend for `pytest --pyargs holdall_conformance`: a URL, or module:function",
    )
    group.addoption("--holdall-lock", metavar="FUNCTION", help="module:function of its lock, where the target is one")
    group.addoption("--holdall-level", choices=("base", "full"), help="run the clauses of this level only")
    group.addoption("--holdall-effort", type=float, default=1.0, metavar="F", help="do so many times more, or less")
    group.addoption("--holdall-seed", type=int, metavar="N", help="the seed of every random choice")


def pytest_configure(config: pytest.Config) -> None:
    """Choose the seed before workers of pytest-xdist start, so that they all have the same."""
    if config.option.holdall_seed is None:
        config.option.holdall_seed = int.from_bytes(os.urandom(4), "big")


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """Print the seed if tests of the kit were collected."""
    collected = "holdall_conformance.conforming" in sys.modules
    return [f"holdall conformance: --holdall-seed={config.option.holdall_seed}"] if collected else []
