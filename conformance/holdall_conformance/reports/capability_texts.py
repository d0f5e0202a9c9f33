"""What each capability means, in a sentence for somebody who chooses a storage."""

from __future__ import annotations

__all__ = ["MEANINGS", "meaning_of"]

MEANINGS = {
    "persistent": "What is acknowledged survives the end of every process.",
    "cross_process": "Several processes of one host may share it.",
    "cross_host": "Several hosts may share it.",
    "durable_tokens": "Fencing tokens go on rising after a restart.",
    "atomic_commit": "A commit of several operations is all or nothing.",
    "max_commit_operations": "How many operations one commit takes.",
    "native_follow": "Who follows a log is woken up by the storage; otherwise it asks again and again.",
    "expiry_clock": "Whose clock says that something has expired.",
    "expiry_margin": "By how much expiry may come early or late.",
    "min_ttl": "The shortest time to live of records, leases and flags.",
    "max_scope_bytes": "The longest scope, in UTF-8.",
    "max_key_bytes": "The longest key, in UTF-8.",
    "max_value_bytes": "The largest value or log entry, as JSON.",
    "max_batch_entries": "How many entries one append takes.",
    "max_batch_bytes": "How much JSON one append or commit takes.",
}
"""The sentences, by the names of the fields of `holdall.Capabilities`."""


def meaning_of(name: str) -> str:
    """Return what a capability means; the kit knows those of `holdall.Capabilities`.

    Args:
        name: its name.

    """
    return MEANINGS.get(name, "Declared by the adapter; this version of the kit does not know it.")
