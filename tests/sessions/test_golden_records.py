"""The changes of session records come to what the golden cases say."""

from __future__ import annotations

import base64

import pytest

from holdall.sessions.record_changes import (
    briefing_changed,
    created,
    evidence_found,
    folded,
    messages_said,
    next_step_set,
    vars_changed,
)
from holdall.sessions.record_values import InvalidChange, name_of
from tests.sessions.golden import assert_same, cases_of

SHOWN = 60


def given(value):
    """Return an input of a case as a program has it."""
    if isinstance(value, list):
        return [given(each) for each in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$object": _}:
            return object()
        case {"$float": name}:
            return float(name)
        case {"$bytes": text}:
            return base64.b64decode(text)
        case {"$repeat": [first, last, before]}:
            return [f"{before}{number}" for number in range(first, last + 1)]
    return {name: given(each) for name, each in value.items()}


def change_of(operation, at):
    """Return the change that an operation makes."""
    match operation["op"]:
        case "append_messages":
            return messages_said(given(operation["messages"]), at)
        case "update_vars":
            return vars_changed(given(operation["vars"]), at)
        case "append_evidence":
            return evidence_found(given(operation["ids"]), given(operation["ungrounded"]), at)
        case "update_briefing":
            return briefing_changed(operation["field"], given(operation["value"]), at)
        case "set_next_step":
            return next_step_set(given(operation["text"]), at)


class Logs:
    """Logs of changes in memory; the step of each operation stands for its time."""

    def __init__(self, seed):
        self.logs = {}
        for scope, key, value in seed:
            if scope == "sessions" and key.startswith("session:"):
                self.logs[key.removeprefix("session:")] = [{"type": "snapshot", "record": value}]

    def run(self, step, operation):
        """Return what an operation comes to."""
        session_id = name_of(operation.get("id"))
        match operation["op"]:
            case "each_id":
                return {"value": sorted(self.logs)}
            case "delete":
                return {"value": self.logs.pop(session_id, None) is not None}
            case "find":
                return self.shown(session_id)
            case "create":
                if session_id in self.logs:
                    return {"error": "already_exists"}
                self.logs[session_id] = [created(session_id, given(operation.get("vars", {})), f"<ts:{step}>")]
            case _:
                if session_id not in self.logs:
                    return {"error": "not_found"}
                self.logs[session_id].append(change_of(operation, f"<ts:{step}>"))
        return self.shown(session_id)

    def shown(self, session_id):
        """Return a record as the cases show it."""
        record = folded(self.logs.get(session_id, []))
        if record is None:
            return {"record": None}
        told, steps = record.to_map(), {}
        for name in ("created_at", "updated_at"):
            number = told[name].removeprefix("<ts:").removesuffix(">")
            steps[f"{name}_step"] = int(number) if number.isdigit() else None
        return {"record": with_placeholders(told), **steps}


def with_placeholders(told):
    for holder in (told, *told["messages"]):
        for name in ("at", "created_at", "updated_at"):
            if str(holder.get(name, "")).startswith("<ts:"):
                holder[name] = "<ts>"
    ids = told["evidence"] and told["evidence"]["ids"]
    if ids and len(ids) > SHOWN:
        told["evidence"]["ids"] = {"$summary": {"count": len(ids), "first": ids[:3], "last": ids[-3:]}}
    return told


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in cases_of("session_records").items()])
def test_records(case):
    logs, steps = Logs(case["input"]["seed"]), []
    for step, operation in enumerate(case["input"]["operations"]):
        try:
            steps.append(logs.run(step, operation))
        except InvalidChange as error:
            steps.append({"error": error.reason})
    final = {session_id: logs.shown(session_id)["record"] for session_id in logs.logs}
    assert_same({"steps": steps, "final": final}, case["output"])
