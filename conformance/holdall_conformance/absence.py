"""What a backend does not have: found out by calling, named in the report, and never mistaken for a failure.

An operation is absent when a handle lacks it, or when the plainest call of it raises `Unsupported` or
NotImplementedError. A scenario that comes to an absent operation ends there, as absent too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Self

from holdall import ANY, Put, Unsupported
from holdall_conformance.bridge import BridgedLock, BridgedStore

__all__ = ["Absent", "Lacking", "absent_from_lock", "absent_from_store"]


class Absent(Exception):
    """Ends a scenario that needs what the backend does not have; its text says what that is."""


def _unchanged(value: Any) -> Any:
    return value


def _nothing(_: Any) -> None:
    return None


_STORE: Mapping[str, Callable[[Any, str], Any]] = {
    "put": lambda store, scope: store.put(scope, "k", 1),
    "get": lambda store, scope: store.get(scope, "k"),
    "get_many": lambda store, scope: store.get_many(scope, ["k"]),
    "update": lambda store, scope: store.update(scope, "k", _unchanged),
    "touch": lambda store, scope: store.touch(scope, "k", 60),
    "put_many": lambda store, scope: store.put_many(scope, {"k": 1}),
    "scan": lambda store, scope: store.scan(scope),
    "keys": lambda store, scope: store.keys(scope),
    "scopes": lambda store, scope: store.scopes(scope),
    "iter_records": lambda store, scope: list(store.iter_records(scope)),
    "iter_keys": lambda store, scope: list(store.iter_keys(scope)),
    "commit": lambda store, scope: store.commit([Put(scope, "k", 1)]),
    "transaction": lambda store, _: store.transaction(_nothing),
    "delete": lambda store, scope: store.delete(scope, "k"),
    "delete_many": lambda store, scope: store.delete_many(scope, ["k"]),
    "clear": lambda store, scope: store.clear(scope),
    "seal": lambda store, scope: store.seal(scope, "k", 1),
    "append": lambda store, scope: store.append(scope, "k", [1]),
    "read": lambda store, scope: store.read(scope, "k"),
    "tail": lambda store, scope: store.tail(scope, "k", 1),
    "head": lambda store, scope: store.head(scope, "k"),
    "iter_entries": lambda store, scope: list(store.iter_entries(scope, "k")),
    "logs": lambda store, scope: store.logs(scope),
    "log_scopes": lambda store, scope: store.log_scopes(scope),
    "follow": lambda store, scope: next(iter(store.follow(scope, "k", timeout=0.05)), None),
    "truncate": lambda store, scope: store.truncate(scope, "k", 0, expect=ANY),
    "restore_log": lambda store, scope: store.restore_log(scope, "restored", 0, [1]),
    "drop": lambda store, scope: [store.drop(scope, key) for key in ("k", "restored")],
    "sweep": lambda store, _: store.sweep(),
    "ping": lambda store, _: store.ping(),
    "describe": lambda store, _: store.describe(),
}


def _hold(lock: Any, key: str) -> None:
    with lock.hold(key, ttl=60, timeout=1):
        pass


_LOCK: Mapping[str, Callable[[Any, str], Any]] = {
    "try_acquire": lambda lock, key: lock.release(lock.try_acquire(key)),
    "acquire": lambda lock, key: lock.release(lock.acquire(key, timeout=1)),
    "renew": lambda lock, key: lock.release(lock.renew(lock.try_acquire(key))),
    "release": lambda lock, key: lock.release(lock.try_acquire(key)),
    "held": lambda lock, key: lock.held(key),
    "holder": lambda lock, key: lock.holder(key),
    "raise_floor": lambda lock, key: lock.raise_floor(key, 1),
    "set_flag": lambda lock, key: lock.set_flag(key),
    "flag": lambda lock, key: lock.flag(key),
    "clear_flag": lambda lock, key: lock.clear_flag(key),
    "hold": _hold,
}


_OPTIONS: Mapping[str, Callable[[Any, str], Any]] = {
    "ttl": lambda store, scope: store.put(scope, "k", 1, ttl=60),
    "fence": lambda store, scope: store.put(scope, "fenced", 1, fence=1),
}
"""Options of writes that a backend may lack as a whole."""


def absent_from_store(store: Any, scope: str) -> frozenset[str]:
    """Return the operations that a store does not have, and the options that none of its writes take.

    Args:
        store: the store, behind a synchronous face.
        scope: one that nobody else uses.

    """
    absent = {name for name, probe in _STORE.items() if _is_absent(store, name, probe, scope)}
    if "put" not in absent:
        absent |= {name for name, probe in _OPTIONS.items() if _is_refused(partial(probe, store, scope))}
        _is_refused(lambda: [store.delete(scope, key) for key in ("k", "fenced")])
    return frozenset(absent)


def absent_from_lock(lock: Any, key: str) -> frozenset[str]:
    """Return the operations that a lock does not have.

    Args:
        lock: the lock, behind a synchronous face.
        key: one that nobody else uses.

    """
    return frozenset(name for name, probe in _LOCK.items() if _is_absent(lock, name, probe, f"{key}-{name}"))


def _is_absent(handle: Any, name: str, probe: Callable[[Any, str], Any], place: str) -> bool:
    bridged = isinstance(handle, BridgedStore | BridgedLock)  # a bridge has some operations of its own
    if getattr(handle.inner if bridged else handle, name, None) is None:
        return True
    return _is_refused(lambda: probe(handle, place))


def _is_refused(call: Callable[[], Any]) -> bool:
    """Tell whether a plain call is not there to be made: it is unsupported, or takes no such option."""
    try:
        call()
    except (Unsupported, NotImplementedError):
        return True
    except TypeError as error:
        return "unexpected keyword argument" in str(error)
    except Exception:  # noqa: BLE001 - it is there, and whatever is wrong with it is for the scenarios to find
        return False
    return False


class Lacking:
    """A handle without some of its operations, or options: asking for one of them ends the scenario as absent."""

    def __init__(self, inner: Any, absent: Iterable[str]) -> None:
        self.inner = inner
        self._absent = frozenset(absent)

    def __getattr__(self, name: str) -> Any:
        """Return what the handle has under a name."""
        if name in self._absent:
            message = f"the backend has no {name}"
            raise Absent(message)
        found = getattr(self.inner, name)
        options = [option for option in _OPTIONS if option in self._absent]
        if not options or not callable(found):
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            for option in options:
                if named.get(option) is not None:
                    message = f"the backend has no {option}"
                    raise Absent(message)
            return found(*arguments, **named)

        return call

    def __enter__(self) -> Self:
        """Enter the handle."""
        self.inner.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the handle."""
        self.inner.__exit__(*error)

    def __repr__(self) -> str:
        return repr(self.inner)
