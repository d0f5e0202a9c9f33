"""Fences with every kind of write, expectation and state of what is written, and that marks rise by each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from holdall import ABSENT, ANY, Append, Conflict, Delete, Fenced, Head, Put, Store
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import has, values_of

_OLD, _STALE, _MARK = 2, 4, 5
_RAISED = 7


@dataclass(frozen=True, slots=True)
class _Place:
    """A record or log in some state.

    Attributes:
        right: what a write may expect there, by name.
        wrong: what is not so there, by name.

    """

    store: Store
    scope: str
    key: str
    right: dict[str, Any]
    wrong: dict[str, Any]

    def every(self) -> dict[str, Any]:
        """Return all that a write may expect, true or not."""
        return {**self.right, **self.wrong}


_Way = Callable[..., Any]
"""A write that takes a fence."""
_Make = Callable[[Store, str, str, int], _Place]


def _record(store: Store, scope: str, key: str, mark: int) -> _Place:
    version = store.put(scope, key, "good", fence=mark)
    return _Place(store, scope, key, {"ANY": ANY, "version": version}, {"ABSENT": ABSENT, "other": "stale"})


def _deleted_record(store: Store, scope: str, key: str, mark: int) -> _Place:
    version = store.put(scope, key, "good", fence=mark)
    store.delete(scope, key)
    return _Place(store, scope, key, {"ANY": ANY, "ABSENT": ABSENT}, {"version": version})


def _sealed_record(store: Store, scope: str, key: str, mark: int) -> _Place:
    store.seal(scope, key, mark)
    return _Place(store, scope, key, {"ANY": ANY, "ABSENT": ABSENT}, {"version": "stale"})


def _log(store: Store, scope: str, key: str, mark: int) -> _Place:
    head = store.append(scope, key, ["a", "b"], fence=mark).head
    return _Place(store, scope, key, {"ANY": ANY, "length": 2, "head": head}, {"ABSENT": ABSENT, "other": 7})


def _emptied_log(store: Store, scope: str, key: str, mark: int) -> _Place:
    store.append(scope, key, ["a", "b"], fence=mark)
    store.truncate(scope, key, 2)
    head = store.head(scope, key)
    return _Place(store, scope, key, {"ANY": ANY, "length": 2, "head": head}, {"ABSENT": ABSENT, "other": 0})


def _dropped_log(store: Store, scope: str, key: str, mark: int) -> _Place:
    head = store.append(scope, key, ["a", "b"], fence=mark).head
    store.drop(scope, key)
    return _Place(store, scope, key, {"ANY": ANY, "ABSENT": ABSENT, "length": 0}, {"head": head})


def _sealed_log(store: Store, scope: str, key: str, mark: int) -> _Place:
    store.seal(scope, key, mark, log=True)
    return _Place(store, scope, key, {"ANY": ANY, "ABSENT": ABSENT, "length": 0}, {"other": 2})


_RECORDS: dict[str, _Make] = {"present": _record, "deleted": _deleted_record, "absent": _sealed_record}
_LOGS: dict[str, _Make] = {
    "present": _log,
    "emptied": _emptied_log,
    "dropped": _dropped_log,
    "absent": _sealed_log,
}


def _commit(store: Store, operation: Callable[..., Any], *, fence: int) -> None:
    store.commit([operation(fence=fence)])


def _record_ways(place: _Place, expected: dict[str, Any]) -> Iterator[tuple[str, _Way]]:
    """Yield the ways to write a record that take an expectation, with each of some expectations."""
    store, at = place.store, (place.scope, place.key)
    for name, expect in expected.items():
        yield f"put {name}", partial(store.put, *at, "new", expect=expect)
        yield f"put ttl {name}", partial(store.put, *at, "new", expect=expect, ttl=600)
        yield f"delete {name}", partial(store.delete, *at, expect=expect)
        if has(store, "commit"):
            yield f"commit put {name}", partial(_commit, store, partial(Put, *at, "new", expect=expect))
            yield f"commit delete {name}", partial(_commit, store, partial(Delete, *at, expect=expect))


def _plain_ways(place: _Place) -> Iterator[tuple[str, _Way]]:
    """Yield the ways to write a record that take no expectation."""
    store, at = place.store, (place.scope, place.key)
    yield "touch", partial(store.touch, *at, 600)
    yield "update", partial(store.update, *at, lambda _: "new")


def _log_ways(place: _Place, expected: dict[str, Any]) -> Iterator[tuple[str, _Way]]:
    """Yield the ways to change a log, with each of some expectations, with a batch id and without."""
    store, at = place.store, (place.scope, place.key)
    for name, expect in expected.items():
        for batch in (None, f"batch {name}"):
            yield f"append {name} {batch}", partial(store.append, *at, ["new"], expect=expect, batch_id=batch)
            if has(store, "commit"):
                append = partial(Append, *at, ["new"], expect=expect, batch_id=batch and f"commit {batch}")
                yield f"commit append {name} {batch}", partial(_commit, store, append)
        yield f"truncate {name}", partial(store.truncate, *at, 1, expect=expect)
        yield f"drop {name}", partial(store.drop, *at, expect=expect)


def _look_at_record(place: _Place) -> Any:
    return place.store.get(place.scope, place.key)


def _look_at_log(place: _Place) -> tuple[Head | None, list[Any]]:
    head = place.store.head(place.scope, place.key)
    first = head.first if head is not None else 0
    return head, values_of(place.store.read(place.scope, place.key, first))


def _demand_fenced(name: str, way: _Way, fence: int, mark: int) -> None:
    """Check that one write is refused for its token, and told the mark."""
    told = None
    try:
        way(fence=fence)
    except Fenced as fenced:
        told = fenced.mark
    except Conflict as conflict:
        raise AssertionError(f"{name}: a stale write is a conflict, not fenced") from conflict
    assert told is not None, f"{name}: the token {fence} got past the mark {mark}"
    assert told == mark, f"{name}: the mark is told as {told}, not {mark}"


def _stale_record(place: _Place, state: str) -> None:
    """Check that no stale write of a record gets in, and that none changes it."""
    before = _look_at_record(place)
    for name, way in [*_record_ways(place, place.every()), *_plain_ways(place)]:
        _demand_fenced(f"{name} of a record that is {state}", way, _STALE, _MARK)
        assert _look_at_record(place) == before, f"{name} was refused and changed a record that is {state}"


@scenario("fencing.stale-with-any-expectation")
def stale_with_any_expectation(harness: Harness) -> None:
    """A stale write of a record is Fenced whatever it expects and whatever is there, and changes nothing."""
    scope = harness.new_scope()
    for state, make in _RECORDS.items():
        _stale_record(make(harness.store, scope, state, _MARK), state)


@scenario("fencing.stale-log-writes-with-any-expectation")
def stale_log_writes_with_any_expectation(harness: Harness) -> None:
    """A stale change of a log is Fenced whatever it expects, with or without batch id, and changes nothing."""
    scope = harness.new_scope()
    for state, make in _LOGS.items():
        place = make(harness.store, scope, state, _MARK)
        before = _look_at_log(place)
        for name, way in _log_ways(place, place.every()):
            _demand_fenced(f"{name} of a log that is {state}", way, _STALE, _MARK)
            assert _look_at_log(place) == before, f"{name} was refused and changed a log that is {state}"


def _late(place: _Place, *, log: bool = False) -> _Way:
    """Return a plain write to a place."""
    store, at = place.store, (place.scope, place.key)
    return partial(store.append, *at, ["late"]) if log else partial(store.put, *at, "late")


def _raised(make: _Make, ways: Callable[[_Place], list[tuple[str, _Way]]], harness: Harness, *, log: bool) -> None:
    """Check of each way, at a place of its own, that it raises the mark."""
    store, scope = harness.store, harness.new_scope()
    for number, (name, _) in enumerate(ways(make(store, scope, "first", _OLD))):
        place = make(store, scope, f"k{number}", _OLD)
        _, way = ways(place)[number]
        way(fence=_RAISED)
        _demand_fenced(f"what comes after {name}", _late(place, log=log), _RAISED - 1, _RAISED)


@scenario("fencing.every-expectation-raises-the-mark")
def every_expectation_raises_the_mark(harness: Harness) -> None:
    """A write of a record raises the mark whatever it expects and whatever was there."""
    for make in _RECORDS.values():
        _raised(make, lambda place: [*_record_ways(place, place.right), *_plain_ways(place)], harness, log=False)


@scenario("fencing.every-expectation-raises-the-mark-of-a-log")
def every_expectation_raises_the_mark_of_a_log(harness: Harness) -> None:
    """A change of a log raises the mark whatever it expects, with or without batch id, and whatever was there."""
    for make in _LOGS.values():
        _raised(make, lambda place: list(_log_ways(place, place.right)), harness, log=True)


@scenario("fencing.expectation-counts-with-a-fence")
def expectation_counts_with_a_fence(harness: Harness) -> None:
    """A write with a good token that expects what is not so is a Conflict, and changes nothing."""
    scope = harness.new_scope()
    if has(harness.store, "put", "get", "delete"):
        for state, make in _RECORDS.items():
            place = make(harness.store, scope, state, _OLD)
            _demand_conflicts(place, _record_ways(place, place.wrong), _look_at_record)
    if has(harness.store, "append", "head", "read", "truncate", "drop"):
        for state, make in _LOGS.items():
            place = make(harness.store, scope, state, _OLD)
            _demand_conflicts(place, _log_ways(place, place.wrong), _look_at_log)


def _demand_conflicts(place: _Place, ways: Iterator[tuple[str, _Way]], look: Callable[[_Place], Any]) -> None:
    before = look(place)
    for name, way in ways:
        try:
            way(fence=_RAISED)
        except Conflict:
            assert look(place) == before, f"{name} was a conflict and changed something"
        else:
            raise AssertionError(f"{name} succeeded where {place.key}")


@scenario("fencing.expired-keeps-the-mark", waits=True)
def expired_keeps_the_mark(harness: Harness) -> None:
    """Over what has expired a stale write is Fenced whatever it expects, also after an unfenced write."""
    store, scope, ttl = harness.store, harness.new_scope(), harness.short_ttl
    unfenced = dict(_unfenced(store, scope))
    version = store.put(scope, "stale", "good", ttl=ttl, fence=_MARK)
    for key in unfenced:
        store.put(scope, key, "good", ttl=ttl, fence=_MARK)
    harness.outlast(ttl)
    _stale_record(_Place(store, scope, "stale", {"ANY": ANY, "ABSENT": ABSENT}, {"version": version}), "expired")
    for key, write in unfenced.items():
        write()
        _demand_fenced(f"put after {key}", partial(store.put, scope, key, "late"), _STALE, _MARK)


@scenario("fencing.unfenced-over-deleted-keeps-the-mark")
def unfenced_over_deleted_keeps_the_mark(harness: Harness) -> None:
    """An unfenced write over what was deleted keeps the mark, by whatever operation."""
    store, scope = harness.store, harness.new_scope()
    for key, write in _unfenced(store, scope):
        _deleted_record(store, scope, key, _MARK)
        write()
        _demand_fenced(f"put after {key}", partial(store.put, scope, key, "late"), _STALE, _MARK)


def _unfenced(store: Store, scope: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the ways to write a record without a fence, each under the key that it writes."""
    yield "put", lambda: store.put(scope, "put", 1)
    yield "put ttl", lambda: store.put(scope, "put ttl", 1, ttl=600)
    yield "put absent", lambda: store.put(scope, "put absent", 1, expect=ABSENT)
    yield "update", lambda: store.update(scope, "update", lambda _: 1)
    yield "touch", lambda: store.touch(scope, "touch", 600)
    yield "delete", lambda: store.delete(scope, "delete")
    if has(store, "put_many"):
        yield "put_many", lambda: store.put_many(scope, {"put_many": 1})
    if has(store, "delete_many"):
        yield "delete_many", lambda: store.delete_many(scope, ["delete_many"])
    if has(store, "commit"):
        yield "commit", lambda: store.commit([Put(scope, "commit", 1)])


@scenario("fencing.marks-of-one-name-apart")
def marks_of_one_name_apart(harness: Harness) -> None:
    """A seal or write of a record leaves the mark of the log of that name alone, and the other way round."""
    store, scope = harness.store, harness.new_scope()
    of_records: list[_Way] = [way for _, way in _record_ways(_sealed_record(store, scope, "r", 1), {"ANY": ANY})]
    of_records.append(partial(store.seal, scope, "r"))
    for way in of_records:
        way(fence=9)
        assert store.append(scope, "r", ["low"], fence=1).count == 1
        assert store.seal(scope, "r", 1, log=True) is not None
    of_logs: list[_Way] = [way for _, way in _log_ways(_sealed_log(store, scope, "l", 1), {"ANY": ANY})]
    of_logs.append(partial(store.seal, scope, "l", log=True))
    for way in of_logs:
        way(fence=9)
        assert store.put(scope, "l", "low", fence=1)
        assert store.seal(scope, "l", 1) is not None
