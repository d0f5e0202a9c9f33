"""Clears away what a run has left in a storage that may be shared."""

from __future__ import annotations

from typing import Any

from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness

__all__ = ["clear_away"]


def clear_away(harness: Harness) -> list[str]:
    """Remove the records and logs of all scopes of a run, and return what a reader must know of what stays.

    Args:
        harness: the storage; `harness.run` is what the names of those scopes begin with.

    """
    try:
        store = harness.store
    except Absent:
        return []
    remarks = [
        remark
        for what, clear in (("records", _clear_records), ("logs", _clear_logs))
        if (remark := _tried(what, clear, store, harness.run))
    ]
    return remarks or [
        f"nothing is left that reads can see; marks and tokens of scopes {harness.run}-... stay, as always"
    ]


def _tried(what: str, clear: Any, store: Any, prefix: str) -> str:
    try:
        clear(store, prefix)
    except Absent:
        return f"{what} of scopes that begin with {prefix!r} were left: they cannot be listed"
    except Exception as error:  # noqa: BLE001 - the report is made all the same
        return f"{what} of scopes that begin with {prefix!r} were left: {type(error).__name__}: {error}"
    return ""


def _clear_records(store: Any, prefix: str) -> None:
    for scope in _all(store.scopes, prefix):
        store.clear(scope)


def _clear_logs(store: Any, prefix: str) -> None:
    for scope in _all(store.log_scopes, prefix):
        for key in _all(store.logs, scope, ""):
            store.drop(scope, key)


def _all(listing: Any, *arguments: str) -> list[str]:
    """Return every name; a broken listing must not keep the kit for ever."""
    found: list[str] = []
    after: str | None = None
    while True:
        page = listing(*arguments, after=after)
        found.extend(page.items)
        if page.next is None or (after is not None and page.next <= after):
            return found
        after = page.next
