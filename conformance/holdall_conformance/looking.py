"""A first look at one side of a backend: what it calls itself, what it declares, and which operations it lacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from holdall import Capabilities, ConfigError, Unsupported
from holdall_conformance.absence import Absent, absent_from_lock, absent_from_store
from holdall_conformance.harness import Harness

__all__ = ["Look", "look_at"]


@dataclass(frozen=True, slots=True)
class Look:
    """What the first look saw.

    Attributes:
        adapter: the name that the backend gives itself.
        capabilities: what it declares.
        absent: operations that it does not have; "store" or "lock" where it has none at all.

    """

    adapter: str
    capabilities: Capabilities
    absent: frozenset[str]


def look_at(harness: Harness) -> Look:
    """Look at one side of a backend.

    Args:
        harness: an entered harness of that side.

    Raises:
        Absent: the backend has no such side.
        ConfigError: every opening gives another storage.

    """
    capabilities: Any = harness.capabilities
    if not isinstance(capabilities, Capabilities):
        message = (
            f"capabilities are {type(capabilities).__name__}, not holdall.Capabilities: say what the backend can do"
        )
        raise ConfigError(message)
    _check_shared(harness)
    names: list[str] = []
    absent: set[str] = set()
    for what, probe in (("store", absent_from_store), ("lock", absent_from_lock)):
        try:
            handle: Any = getattr(harness, what)
        except (Absent, Unsupported):
            absent.add(what)
            continue
        names.append(getattr(handle, "adapter", "") or type(harness.bare(handle)).__name__)
        absent |= probe(handle, harness.new_scope())
    return Look(names[0], capabilities, frozenset(absent))


def _check_shared(harness: Harness) -> None:
    """Refuse a backend whose handles do not see each other's records: no clause could tell anything of it."""
    scope = harness.new_scope()
    try:
        harness.store.put(scope, "k", 1)
        here, elsewhere = (store.get(scope, "k") for store in (harness.store, harness.open_store()))
        harness.store.delete(scope, "k")
    except ConfigError:
        raise
    except Exception:  # noqa: BLE001 - whatever is wrong is for the clauses to find
        return
    if here is not None and elsewhere is None:
        message = (
            f"each opening of {harness.source.subject} gives a storage of its own, and nothing can be proven of that: "
            "give the same one again, such as memory://kit instead of memory://"
        )
        raise ConfigError(message)
