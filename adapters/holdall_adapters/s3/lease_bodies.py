"""Leases and flags as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdall_adapters.s3.cells import ENDED, LASTING, Kind

__all__ = ["FLAG", "LEASE", "FlagState", "LeaseState"]


class LeaseState(NamedTuple):
    """What is kept of a key of the lock, for ever.

    Attributes:
        key: the key.
        nonce: that of the lease; None if it is free.
        owner: the label of who had it last.
        token: the last token.
        ttl: how long the lease lasts, in seconds.
        expires: when it ends on the server's clock, in seconds since 1970.
        floor: the next token is above it.

    """

    key: str
    nonce: str | None = None
    owner: str = ""
    token: int = 0
    ttl: float = 0.0
    expires: float = 0.0
    floor: int = 0


class FlagState(NamedTuple):
    """A flag, and when it is lowered by itself."""

    key: str
    expires: float


_LEASE_FIELDS = ("k", "w", "o", "token", "ttl", "x", "f")


def _lease_header(state: LeaseState) -> tuple[dict[str, Any], int]:
    return dict(zip(_LEASE_FIELDS, state, strict=True)), LASTING


def _lease_state(header: Mapping[str, Any], _: bytes) -> LeaseState:
    return LeaseState(*(header[field] for field in _LEASE_FIELDS))


def _flag_header(state: FlagState) -> tuple[dict[str, Any], int]:
    return {"k": state.key, "x": state.expires}, ENDED if state.expires == 0 else LASTING


def _flag_state(header: Mapping[str, Any], _: bytes) -> FlagState:
    return FlagState(header["k"], header["x"])


def _nothing(_: LeaseState | FlagState) -> bytes:
    return b""


LEASE: Kind[LeaseState] = Kind(header=_lease_header, payload=_nothing, state=_lease_state)
FLAG: Kind[FlagState] = Kind(header=_flag_header, payload=_nothing, state=_flag_state)
