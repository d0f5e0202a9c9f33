"""A session's record: what the changes in its log come to, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from holdall.sessions.record_values import messages_of, name_of, names_of, number_of, text_of, values_of

__all__ = [
    "Briefing",
    "Evidence",
    "SessionRecord",
    "briefing_changed",
    "created",
    "evidence_found",
    "folded",
    "messages_said",
    "next_step_set",
    "snapshot_of",
    "vars_changed",
]

_MOST_EVIDENCE = 1_000
Change = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Briefing:
    """What is known of a case, by field, and what is to be done next."""

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    next_step: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What answers rest on, the last 1,000 of it, and how many rested on nothing."""

    ids: tuple[str, ...] = ()
    ungrounded: int = 0


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A session as a document.

    Attributes:
        id: its id.
        messages: what was said.
        vars: variables of the application.
        memory_refs: names of memories, kept for whoever wrote them.
        created_at: when it was made, in whole seconds.
        updated_at: when it was changed last.
        briefing: what is known of the case.
        evidence: what answers rest on; None in a record that is older than evidence.

    """

    id: str
    messages: tuple[Mapping[str, Any], ...] = ()
    vars: Mapping[str, Any] = field(default_factory=dict[str, Any])
    memory_refs: tuple[Any, ...] = ()
    created_at: str = ""
    updated_at: str = ""
    briefing: Briefing = field(default_factory=Briefing)
    evidence: Evidence | None = field(default_factory=Evidence)

    def to_map(self) -> dict[str, Any]:
        """Return it as JSON."""
        told = asdict(self)
        evidence = None if self.evidence is None else {**told["evidence"], "ids": list(self.evidence.ids)}
        return {**told, "messages": list(self.messages), "memory_refs": list(self.memory_refs), "evidence": evidence}


def created(session_id: Any, values: Any, at: str) -> Change:
    """Return the change that makes a record.

    Args:
        session_id: its id.
        values: its variables.
        at: when.

    Raises:
        InvalidChange: the variables are none.

    """
    return {"type": "created", "at": at, "id": name_of(session_id), "vars": values_of(values)}


def messages_said(messages: Any, at: str) -> Change:
    """Return the change that adds messages.

    Args:
        messages: a map, a list of maps, or None.
        at: when.

    Raises:
        InvalidChange: one is none.

    """
    return {"type": "messages", "at": at, "messages": messages_of(messages, at)}


def vars_changed(values: Any, at: str) -> Change:
    """Return the change that sets variables; those that it does not name stay.

    Args:
        values: the variables.
        at: when.

    Raises:
        InvalidChange: they are none.

    """
    return {"type": "vars", "at": at, "vars": values_of(values)}


def evidence_found(ids: Any, ungrounded: Any, at: str) -> Change:
    """Return the change that adds evidence.

    Args:
        ids: what was found.
        ungrounded: how many answers more rested on nothing.
        at: when.

    Raises:
        InvalidChange: `ungrounded` is no number.

    """
    return {"type": "evidence", "at": at, "ids": names_of(ids), "ungrounded": number_of(ungrounded)}


def briefing_changed(name: Any, value: Any, at: str) -> Change:
    """Return the change that sets a field of the briefing, or removes it for a blank value.

    Args:
        name: the field.
        value: its value.
        at: when.

    """
    return {"type": "briefing", "at": at, "field": name_of(name), "value": text_of(value)}


def next_step_set(text: Any, at: str) -> Change:
    """Return the change that says what is to be done next.

    Args:
        text: what; blank for nothing.
        at: when.

    """
    return {"type": "next_step", "at": at, "text": text_of(text)}


def snapshot_of(record: SessionRecord) -> Change:
    """Return the change that stands for all that came before it.

    Args:
        record: what they came to.

    """
    return {"type": "snapshot", "at": record.updated_at, "record": record.to_map()}


def folded(changes: Iterable[Mapping[str, Any]], record: SessionRecord | None = None) -> SessionRecord | None:
    """Return what changes come to; those that are not known are passed over.

    Args:
        changes: the changes, in order.
        record: what those before came to; None if there were none.

    """
    for change in changes:
        if change.get("type") == "created":
            record = SessionRecord(change["id"], vars=change["vars"], created_at=change["at"], updated_at=change["at"])
        elif change.get("type") == "snapshot":
            record = _restored(change["record"])
        elif record is not None and change.get("type") in _APPLIED:
            record = replace(_APPLIED[change["type"]](record, change), updated_at=change["at"])
    return record


def _restored(told: Mapping[str, Any]) -> SessionRecord:
    briefing: Mapping[str, Any] = told.get("briefing") or {}
    evidence: Mapping[str, Any] | None = told.get("evidence")
    return SessionRecord(
        told["id"],
        tuple(told["messages"]),
        told["vars"],
        tuple(told["memory_refs"]),
        told["created_at"],
        told["updated_at"],
        Briefing(briefing.get("fields", {}), briefing.get("next_step")),
        None if evidence is None else Evidence(tuple(evidence["ids"]), evidence["ungrounded"]),
    )


def _with_messages(record: SessionRecord, change: Mapping[str, Any]) -> SessionRecord:
    return replace(record, messages=(*record.messages, *change["messages"]))


def _with_vars(record: SessionRecord, change: Mapping[str, Any]) -> SessionRecord:
    return replace(record, vars={**record.vars, **change["vars"]})


def _with_evidence(record: SessionRecord, change: Mapping[str, Any]) -> SessionRecord:
    before = record.evidence or Evidence()
    ids = tuple(dict.fromkeys((*before.ids, *change["ids"])))[-_MOST_EVIDENCE:]
    return replace(record, evidence=Evidence(ids, before.ungrounded + change["ungrounded"]))


def _with_briefing(record: SessionRecord, change: Mapping[str, Any]) -> SessionRecord:
    fields = {name: value for name, value in record.briefing.fields.items() if name != change["field"]}
    if change["value"] is not None:
        fields = {**record.briefing.fields, change["field"]: change["value"]}
    return replace(record, briefing=replace(record.briefing, fields=fields))


def _with_next_step(record: SessionRecord, change: Mapping[str, Any]) -> SessionRecord:
    return replace(record, briefing=replace(record.briefing, next_step=change["text"]))


_APPLIED = {
    "messages": _with_messages,
    "vars": _with_vars,
    "evidence": _with_evidence,
    "briefing": _with_briefing,
    "next_step": _with_next_step,
}
