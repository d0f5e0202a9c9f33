"""Records as objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from holdall_adapters.s3.cells import ENDED, EXPIRING, LASTING, Kind

__all__ = ["RECORD", "RecordState"]


class RecordState(NamedTuple):
    """What is under a key.

    Attributes:
        scope: its scope.
        key: its key.
        version: the id of the write that it is of; None if it was deleted, or only has a mark.
        payload: the value; None where it is not remembered.
        expires: when it expires on the server's clock, in seconds since 1970, or None.
        mark: the highest token seen, 0 for none.

    """

    scope: str
    key: str
    version: str | None = None
    payload: bytes | None = None
    expires: float | None = None
    mark: int = 0

    def live(self, past: float) -> str | None:
        """Return the version if it is there and has not surely expired.

        Args:
            past: a time that has come.

        """
        return None if self.expires is not None and self.expires <= past else self.version


def _header(state: RecordState) -> tuple[dict[str, Any], int]:
    header = {"s": state.scope, "k": state.key, "v": state.version, "x": state.expires, "m": state.mark}
    if state.version is None:
        return header, ENDED
    return header, LASTING if state.expires is None else EXPIRING


def _state(header: Mapping[str, Any], payload: bytes) -> RecordState:
    return RecordState(header["s"], header["k"], header["v"], payload, header["x"], header["m"])


def _payload(state: RecordState) -> bytes:
    return state.payload or b""


def _without_payload(state: RecordState) -> RecordState:
    return state._replace(payload=None)


RECORD: Kind[RecordState] = Kind(header=_header, payload=_payload, state=_state, slim=_without_payload)
