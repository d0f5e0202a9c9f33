"""What the child processes of the scenarios on capabilities do."""

from __future__ import annotations

from holdall_conformance.children import Parent
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.support import values_of


def write_and_exit(parent: Parent, harness: Harness, scope: str) -> None:
    """Write a record and a log, and tell the version of the record."""
    version = harness.store.put(scope, "k", "written")
    harness.store.append(scope, "log", ["entry"])
    parent.say(version)


def read(parent: Parent, harness: Harness, scope: str) -> None:
    """Tell what is there: value and version of the record, and the entries."""
    record = harness.store.get(scope, "k")
    entries = values_of(harness.store.read(scope, "log"))
    parent.say([None, None, entries] if record is None else [record.value, record.version, entries])
