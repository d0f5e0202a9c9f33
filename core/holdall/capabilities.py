"""What a backend declares about itself; the conformance kit verifies it in both directions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Capabilities", "ExpiryClock"]

ExpiryClock = Literal["server", "boot", "estimated", "client"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """The promises and limits of a backend.

    Attributes:
        persistent: what is acknowledged survives the end of every process.
        cross_process: several processes of one host may share it.
        cross_host: several hosts may share it.
        durable_tokens: fencing tokens go on after a restart.
        atomic_commit: a commit of several operations is all or nothing.
        max_commit_operations: how many operations one commit takes.
        native_follow: `follow` is woken up by the backend; otherwise it polls.
        expiry_clock: whose clock judges expiry: the server's, this host's boot clock, the server's as estimated, or
            the client's.
        expiry_margin: seconds by which expiry may come early or late.
        min_ttl: the shortest ttl in seconds, for records, leases and flags.
        max_scope_bytes: longest scope, in bytes of UTF-8.
        max_key_bytes: longest key, in bytes of UTF-8.
        max_value_bytes: largest value or log entry, in bytes of its JSON.
        max_batch_entries: most entries in one append.
        max_batch_bytes: most bytes of JSON in one append or commit.

    """

    persistent: bool
    cross_process: bool
    cross_host: bool
    durable_tokens: bool
    atomic_commit: bool
    max_commit_operations: int
    native_follow: bool
    expiry_clock: ExpiryClock
    expiry_margin: float
    min_ttl: float
    max_scope_bytes: int
    max_key_bytes: int
    max_value_bytes: int
    max_batch_entries: int
    max_batch_bytes: int
