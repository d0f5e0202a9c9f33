"""What a report says of the programs and the machine that were there."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path

from holdall.plugins import ADAPTERS
from holdall_conformance.sources import Source

__all__ = ["environment", "versions"]

_DRIVERS = ("psycopg", "pymongo", "boto3", "aiobotocore")


def versions(source: Source) -> dict[str, str]:
    """Return the versions of what took part.

    Args:
        source: the backend.

    """
    found = {"holdall": version("holdall"), "python": platform.python_version(), "sqlite": sqlite3.sqlite_version}
    found |= {name: number for name in _DRIVERS if (number := _version_of(name))}
    scheme = (source.url or "").partition("://")[0]
    for entry in entry_points(group=ADAPTERS, name=scheme) if scheme else ():
        if entry.dist is not None:
            found[entry.dist.name] = entry.dist.version
    return found


def _version_of(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def environment() -> dict[str, str]:
    """Return what matters of the machine."""
    return {
        "system": platform.platform(),
        "machine": platform.machine(),
        "processors": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "python": platform.python_implementation(),
        "container": "yes" if Path("/.dockerenv").exists() or Path("/run/.containerenv").exists() else "not seen",
    }
