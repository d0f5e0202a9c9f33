"""The items of the derived layout in words, and those that should not outlive a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from holdall.derived.envelope import decode_envelope
from holdall.derived.layout import BATCH, CHUNK, FLAG, LEASE, LOG, META, RECORD, chunk_end, split_named, split_part
from holdall.derived.log_state import decode_state
from holdall.spi import ABSENT, ANY, BackendItem, Mismatch
from holdall_conformance.simulation.world import NO_ANSWER

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["describe_request", "leftovers_of", "short"]

_KINDS = {META: "format", RECORD: "record", LOG: "log head", CHUNK: "chunk", BATCH: "batch id", LEASE: "lease"}


def short(identity: str | None) -> str:
    """Return an id of a simulated environment without its zeros.

    Args:
        identity: the id, or None.

    """
    return "none" if identity is None else "#" + (identity[:16].lstrip("0") or "0")


def describe_request(what: Any, result: Any) -> str:
    """Return a request to the stand-in, and its answer, in a few words.

    Args:
        what: what `PortBackend` passed on.
        result: the answer, or `NO_ANSWER`.

    """
    match what:
        case ("put", key, payload, expect):
            wanted = f"put {_name(key)} = {_content(key, payload)} (expect {_state(key, expect)})"
            return f"{wanted}{_answer(result)}"
        case ("delete", key, expect):
            return f"delete {_name(key)} (expect {_state(key, expect)}){_answer(result)}"
        case ("get", key):
            found = f"{_content(key, result.payload)}" if isinstance(result, BackendItem) else "nothing"
            return f"get {_name(key)}" if result is NO_ANSWER else f"get {_name(key)} -> {found}"
        case ("scan", prefix, _):
            scanned = f"scan {_KINDS.get(prefix[:1], 'flag')}"
            return scanned if result is NO_ANSWER else f"{scanned} -> {len(result)} items"
        case _:
            return str(what[0]) if result is NO_ANSWER else f"{what[0]} -> {result}"


def _answer(result: Any) -> str:
    if result is NO_ANSWER:
        return ""
    return " -> it is not as expected" if isinstance(result, Mismatch) else " -> applied"


def _name(key: bytes) -> str:
    kind, name = key[:1], _KINDS.get(key[:1], "flag")
    if kind in {RECORD, LOG}:
        return f"{name} {split_named(key)[1]}"
    if kind == CHUNK:
        return f"{name} {short(split_part(key)[0])} up to {chunk_end(key)}"
    if kind == BATCH:
        incarnation, rest = split_part(key)
        return f"{name} {rest.decode()} of {short(incarnation)}"
    return f"{name} {key[1:].decode()}"


def _state(key: bytes, expect: Any) -> str:
    if expect is ANY or expect is ABSENT:
        return str(expect.value)
    return _content(key, expect)


def _content(key: bytes, payload: bytes) -> str:
    match key[:1]:
        case b"r":
            return _record(payload)
        case b"l":
            return _log_head(payload)
        case b"k":
            nonce, owner, token, *_ = orjson.loads(payload)
            return f"[token {token}, {'free' if nonce is None else f'held by {owner}'}]"
        case _:
            return f"[{len(payload)} bytes]"


def _record(payload: bytes) -> str:
    found = decode_envelope(payload)
    value = "no value" if found.payload is None else f"{found.payload.decode()} version {short(found.version)}"
    mark = f", mark {found.mark}" if found.mark else ""
    expires = "" if found.expires is None else f", expires at {found.expires:.3f}"
    return f"[{value}{mark}{expires}]"


def _log_head(payload: bytes) -> str:
    state, nonce = decode_state(payload)
    mark = f", mark {state.mark}" if state.mark else ""
    if state.incarnation is None:
        return f"[no log{mark}]"
    extent = f"{state.first}..{state.length} of {short(state.incarnation)}, tail from {state.base}"
    return f"[{extent}{mark}, write {short(nonce)}]"


def leftovers_of(items: Mapping[bytes, bytes]) -> list[str]:
    """Return the items that hold neither anything live nor a mark, a token or the format, after everything expired.

    Args:
        items: all items of the storage.

    """
    logs = {key: decode_state(payload)[0] for key, payload in items.items() if key[:1] == LOG}
    first = {state.incarnation: state.first for state in logs.values() if state.incarnation is not None}
    found: list[str] = []
    for key, payload in items.items():
        match key[:1]:
            case b"r":
                record = decode_envelope(payload)
                needless = record.expires is not None or (record.payload is None and record.mark == 0)
            case b"l":
                needless = logs[key].incarnation is None and logs[key].mark == 0
            case b"c":
                incarnation = split_part(key)[0]
                needless = incarnation not in first or chunk_end(key) <= first[incarnation]
            case b"b":
                needless = split_part(key)[0] not in first
            case kind:
                needless = kind == FLAG
        if needless:
            found.append(f"{_name(key)} = {_content(key, payload)}")
    return found
