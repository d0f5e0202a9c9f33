"""The contract of one record or log, as plainly as possible, and a search for an order that leaves no order out.

It shares nothing with the models of the kit, nor with any adapter: what it finds is compared with what the kit finds.
"""

from __future__ import annotations

import copy
import json

ABSENT = {"expect": "absent"}
FRESH = "an id that nobody was told"


class Refused(Exception):
    def __init__(self, **told):
        self.told = told


class Spec:
    """A record and a log; `new_id` is the version or incarnation that the next write takes, if it needs one."""

    def __init__(self):
        self.record = None  # [value, version]
        self.mortal = False
        self.mark = 0
        self.log = None  # [first, entries, incarnation]
        self.batches = {}
        self.used = set()
        self.new_id = None

    def take_id(self):
        assert self.new_id not in self.used
        self.used.add(self.new_id)
        return self.new_id

    def fence(self, arguments):
        fence = arguments.get("fence") or 0
        if fence and fence < self.mark:
            raise Refused(error="Fenced", mark=self.mark)
        return fence

    def raise_mark(self, fence):
        self.mark = max(self.mark, fence)

    def version(self):
        return None if self.record is None else self.record[1]

    def expect_version(self, arguments):
        expect = arguments.get("expect")
        if expect is not None and (None if expect == ABSENT else expect) != self.version():
            raise Refused(error="Conflict", current=self.version())

    def get(self, arguments):
        return None if self.record is None else {"value": self.record[0], "version": self.record[1]}

    def put(self, arguments):
        fence = self.fence(arguments)
        self.expect_version(arguments)
        self.raise_mark(fence)
        self.record = [arguments["value"], self.take_id()]
        self.mortal = arguments.get("ttl") is not None
        return self.record[1]

    def delete(self, arguments):
        fence = self.fence(arguments)
        self.expect_version(arguments)
        self.raise_mark(fence)
        existed, self.record = self.record is not None, None
        return existed

    def touch(self, arguments):
        self.raise_mark(self.fence(arguments))
        self.mortal = arguments.get("ttl") is not None
        return self.record is not None

    def told_head(self):
        if self.log is None:
            return None
        first, entries, incarnation = self.log
        return {"first": first, "length": len(entries), "incarnation": incarnation}

    def expect_head(self, arguments):
        expect, head = arguments.get("expect"), self.told_head()
        if expect is None:
            return
        if expect in (ABSENT, 0):
            holds = head is None
        elif isinstance(expect, int):
            holds = head is not None and head["length"] == expect
        else:
            holds = head == expect
        if not holds:
            raise Refused(error="Conflict", current=head)

    def append(self, arguments):
        entries, batch_id = arguments["entries"], arguments.get("batch_id")
        if batch_id in self.batches:
            known, result = self.batches[batch_id]
            if known != entries:
                raise Refused(error="BatchMismatch")
            return result
        fence = self.fence(arguments)
        self.expect_head(arguments)
        self.raise_mark(fence)
        if self.log is None:
            self.log = [0, [], self.take_id()]
        start = len(self.log[1])
        self.log[1] += entries
        result = {"start": start, "count": len(entries), "head": self.told_head()}
        if batch_id is not None:
            self.batches[batch_id] = entries, result
        return result

    def read(self, arguments):
        if self.log is None:
            return {"entries": [], "head": None}
        start, limit = arguments.get("start", 0), arguments.get("limit")
        if start < self.log[0]:
            raise Refused(error="Truncated", first=self.log[0])
        entries = [[place, value] for place, value in enumerate(self.log[1]) if place >= start]
        return {"entries": entries[:limit], "head": self.told_head()}

    def tail(self, arguments):
        if self.log is None:
            return {"entries": [], "head": None}
        kept = [[place, value] for place, value in enumerate(self.log[1]) if place >= self.log[0]]
        return {"entries": kept[-arguments["count"] :], "head": self.told_head()}

    def head(self, arguments):
        return self.told_head()

    def truncate(self, arguments):
        fence = self.fence(arguments)
        self.expect_head(arguments)
        self.raise_mark(fence)
        if self.log is None:
            return 0
        before, self.log[0] = self.log[0], max(self.log[0], min(arguments["before"], len(self.log[1])))
        return self.log[0] - before

    def drop(self, arguments):
        fence = self.fence(arguments)
        self.expect_head(arguments)
        self.raise_mark(fence)
        existed, self.log, self.batches = self.log is not None, None, {}
        return existed

    def seal(self, arguments):
        self.raise_mark(self.fence(arguments))
        return self.told_head() if arguments.get("log") else self.version()


def ids_in(value):
    """Every id in plain JSON: all text under the names that hold one."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in {"version", "incarnation", "current", "expect"} and isinstance(inner, str):
                yield inner
            yield from ids_in(inner)


def outcomes(spec, call, ids):
    """Return the states after a call that is carried out with the outcome that it had."""
    befores = [spec]
    if spec.mortal and spec.record is not None:
        expired = copy.deepcopy(spec)
        expired.record = None
        befores.append(expired)
    for before in befores:
        for new_id in ids:
            after = copy.deepcopy(before)
            after.new_id = new_id
            try:
                outcome, result = "returned", getattr(after, call.operation)(call.arguments)
            except Refused as refused:
                outcome, result = "refused", refused.told
            except AssertionError:
                continue
            told = outcome, json.dumps(result, sort_keys=True)
            if call.outcome == "unknown" or told == (call.outcome, json.dumps(call.result, sort_keys=True)):
                yield after


def new_ids(call, calls):
    """The ids that a call may have given: what it was told, or, of a call that did not return, what nobody was told."""
    if call.outcome != "unknown":
        told = [call.result] if isinstance(call.result, str) else list(ids_in(call.result))
        return told or [FRESH]
    given = {other.result for other in calls if other.operation == "put" and other.outcome == "returned"}
    named = {name for other in calls for name in (*ids_in(other.arguments), *ids_in(other.result))}
    named |= {other.result for other in calls if other.operation == "seal" and isinstance(other.result, str)}
    return [*sorted(named - given), f"{FRESH} ({calls.index(call)})"]


def explains(calls):
    """Whether any order explains all calls: every order is tried."""

    def go(left, spec):
        known = [call for call in left if call.outcome != "unknown"]
        if not known:
            return True
        end = min(call.returned for call in known)
        return any(
            go([other for other in left if other is not call], after)
            for call in left
            if call.invoked <= end
            for after in outcomes(spec, call, new_ids(call, calls))
        )

    return go(list(calls), Spec())
