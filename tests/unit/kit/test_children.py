"""Children that end before their time: whoever talks to them is told why."""

from __future__ import annotations

import pytest

from holdall_conformance.absence import Absent
from holdall_conformance.children import ChildFailed, Children
from holdall_conformance.harness import Harness

_HERE = "tests.unit.kit.test_children"


def fail(parent, harness):
    raise AssertionError("something is wrong")


def lack(parent, harness):
    raise Absent("it has no logs")


@pytest.fixture
def children(tmp_path):
    with Harness(f"file://{tmp_path}/x") as harness, Children(harness) as children:
        yield children


def ended(child):
    """Return a child once it has ended by itself."""
    child._process.wait(60)
    return child


def test_who_talks_to_a_child_that_failed_is_told_why_it_did(children):
    with pytest.raises(ChildFailed, match=r"fail ended before it was told to go on\n(.*\n)*.*something is wrong"):
        ended(children.start(f"{_HERE}:fail")).say("go on")


def test_who_talks_to_a_child_that_found_something_absent_is_told_so(children):
    with pytest.raises(Absent, match="it has no logs"):
        ended(children.start(f"{_HERE}:lack")).say("go on")


def test_a_child_that_read_a_log_before_it_began_may_find_it_truncated(tmp_path):
    """Between its look at the head and its read others may append and truncate."""
    from holdall_conformance.scenarios import processes_work  # noqa: PLC0415

    class Told:
        def __init__(self):
            self.turns, self.said = 0, []

        def say(self, message):
            self.said.append(message)

        def told(self):
            self.turns += 1
            return self.turns > 1

    class Late:
        def __init__(self, store):
            self.store = store

        def head(self, scope, key):
            found = self.store.head(scope, key)
            if found is None:
                self.store.append(scope, key, [[0, 0, index, 3] for index in range(3)])
                self.store.truncate(scope, key, 1)
            return found

        def read(self, scope, key, start=0):
            return self.store.read(scope, key, start)

    with Harness(f"file://{tmp_path}/x") as harness:
        late = Late(harness.store)
        harness.open_store = lambda **_: late
        parent = Told()
        processes_work.read_truncated(parent, harness, "s", "log")
    assert parent.said == ["ready", 0]
