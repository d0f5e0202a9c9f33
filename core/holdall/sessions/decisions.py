"""Decisions on calls that wait for an approval: what is to be appended, if anything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdall.sessions.audit import audit
from holdall.sessions.errors import SessionError

__all__ = ["ApprovalRefused", "decision_of"]


class ApprovalRefused(SessionError):
    """A call cannot be approved or denied any more, or nobody was asked about it.

    Args:
        reason: "no_open_approval" or "already_decided".
        message: what is wrong, for a person.

    """


def decision_of(entries: Sequence[Any], call_id: Any, note: str | None, *, approved: bool) -> dict[str, Any] | None:
    """Return the entry that decides on a call, or None if it was decided so already.

    Args:
        entries: the entries of a log from its beginning.
        call_id: the call.
        note: why, or None.
        approved: whether it may be run.

    Raises:
        ApprovalRefused: it was decided otherwise, or nobody was asked about it.
        InvalidLog: as `audit`.

    """
    control = audit(entries)
    decided = control.decisions.get(call_id) if isinstance(call_id, str) else None
    if decided is not None:
        if decided["approved"] is approved:
            return None
        raise ApprovalRefused("already_decided", f"the call {call_id!r} was decided otherwise")
    if all(approval.call.id != call_id for approval in control.approvals):
        raise ApprovalRefused("no_open_approval", f"nobody was asked about a call {call_id!r}")
    entry = {"type": "approval_decision", "call_id": call_id, "approved": approved}
    return entry if note is None else {**entry, "note": note}
