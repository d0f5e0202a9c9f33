"""A client that calls a store in a row, whatever comes to hypothesis' mind, beside a model of what must come of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdall import ABSENT, ANY, BatchMismatch, Conflict, Fenced, Truncated
from holdall_conformance.harness import Harness
from holdall_conformance.model import LogModel, RecordModel
from holdall_conformance.scenarios.support import all_items, identical, values_of

__all__ = ["StoreMachine", "any_json"]

_REFUSALS = (Conflict, Fenced, Truncated, BatchMismatch)
_KEYS = st.sampled_from(["a", "a/b", "B"])
_FENCES = st.sampled_from([None, None, None, 1, 2, 3])
_EXPECTATIONS = st.sampled_from(["any", "any", "absent", "current", "former"])
_LONGEST_WAIT = 0.5

any_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=2**63, max_value=2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=8,
)
"""Any JSON value, small."""


def _outcome(call: Callable[[], Any]) -> Any:
    """Return what a call returned, or the refusal that it raised as something that can be compared."""
    try:
        return call()
    except _REFUSALS as error:
        told = {name: getattr(error, name, None) for name in ("current", "mark", "first")}
        return type(error).__name__, {name: value for name, value in told.items() if value is not None}


class StoreMachine(RuleBasedStateMachine):
    """Records and logs of one scope, by the contract and by the store."""

    harness: ClassVar[Harness]

    def __init__(self) -> None:
        super().__init__()
        self.store = self.harness.store
        self.scope = self.harness.new_scope()
        self.records = {key: RecordModel() for key in ("a", "a/b", "B")}
        self.logs = {key: LogModel() for key in ("a", "a/b", "B")}
        self.waited = False
        self.former: dict[str, Any] = dict.fromkeys(self.records, ABSENT)
        self.former_heads: dict[str, Any] = dict.fromkeys(self.logs, 7)

    def _version(self, key: str, wish: str) -> Any:
        record = self.records[key]
        current = ABSENT if record.version is None else record.version
        return {"any": ANY, "absent": ABSENT, "current": current, "former": self.former[key]}[wish]

    def _head(self, key: str, wish: str) -> Any:
        head = self.logs[key].head
        current = ABSENT if head is None else head
        return {"any": ANY, "absent": ABSENT, "current": current, "former": self.former_heads[key]}[wish]

    @rule(key=_KEYS, value=any_json, wish=_EXPECTATIONS, fence=_FENCES)
    def put(self, key: str, value: Any, wish: str, fence: int | None) -> None:
        """Put."""
        self._put(key, value, wish, fence, ttl=None)

    def _put(self, key: str, value: Any, wish: str, fence: int | None, ttl: float | None) -> None:
        record, expect = self.records[key], self._version(key, wish)
        due = _outcome(lambda: record.admit(expect, fence))
        found = _outcome(lambda: self.store.put(self.scope, key, value, expect=expect, fence=fence, ttl=ttl))
        if due is not None:
            assert found == due, f"put {key!r}: {found}, not {due}"
            return
        assert isinstance(found, str), f"put {key!r}: {found}"
        assert found != record.version
        self.former[key] = record.version or self.former[key]
        record.put(value, found, mortal=ttl is not None)

    @rule(key=_KEYS, wish=_EXPECTATIONS, fence=_FENCES)
    def delete(self, key: str, wish: str, fence: int | None) -> None:
        """Delete a record."""
        record, expect = self.records[key], self._version(key, wish)
        due = _outcome(lambda: record.admit(expect, fence))
        found = _outcome(lambda: self.store.delete(self.scope, key, expect=expect, fence=fence))
        self.former[key] = record.version or self.former[key]
        due = record.delete() if due is None else due
        assert found == due, f"delete {key!r}: {found}, not {due}"

    @rule(key=_KEYS, fence=st.integers(1, 4), log=st.booleans())
    def seal(self, key: str, fence: int, *, log: bool) -> None:
        """Seal a record or a log."""
        model: RecordModel | LogModel = self.logs[key] if log else self.records[key]
        due = _outcome(lambda: model.admit(ANY, fence))
        found = _outcome(lambda: self.store.seal(self.scope, key, fence, log=log))
        if due is None:
            due = model.head if isinstance(model, LogModel) else model.version
        assert found == due, f"seal {key!r} with {fence}: {found}, not {due}"

    @rule(
        key=_KEYS,
        values=st.lists(any_json, min_size=1, max_size=4),
        wish=_EXPECTATIONS,
        fence=_FENCES,
        batch_id=st.sampled_from([None, None, "x", "y"]),
    )
    def append(self, key: str, values: list[Any], wish: str, fence: int | None, batch_id: str | None) -> None:
        """Append a batch."""
        log, expect = self.logs[key], self._head(key, wish)
        known = _outcome(lambda: log.known(batch_id, values))
        due = _outcome(lambda: log.admit(expect, fence)) if known is None else known
        found = _outcome(
            lambda: self.store.append(self.scope, key, values, expect=expect, fence=fence, batch_id=batch_id)
        )
        if due is None:
            self.former_heads[key] = log.head or self.former_heads[key]
            start = log.append(values, found.head.incarnation, batch_id)
            assert (found.start, found.count, found.head) == (start, len(values), log.head), f"append {key!r}: {found}"
        elif isinstance(due[0], int):
            assert (found.start, found.count) == due, f"append {key!r} again: {found}, not {due}"
        else:
            assert found == due, f"append {key!r}: {found}, not {due}"

    @rule(key=_KEYS, before=st.integers(0, 12), fence=_FENCES)
    def truncate(self, key: str, before: int, fence: int | None) -> None:
        """Truncate a log."""
        log = self.logs[key]
        due = _outcome(lambda: log.admit(ANY, fence))
        before = min(before, len(log.entries))
        due = log.truncate(before) if due is None else due
        found = _outcome(lambda: self.store.truncate(self.scope, key, before, fence=fence))
        assert found == due, f"truncate {key!r} before {before}: {found}, not {due}"

    @rule(key=_KEYS, wish=_EXPECTATIONS, fence=_FENCES)
    def drop(self, key: str, wish: str, fence: int | None) -> None:
        """Drop a log."""
        log, expect = self.logs[key], self._head(key, wish)
        due = _outcome(lambda: log.admit(expect, fence))
        self.former_heads[key] = log.head or self.former_heads[key]
        due = log.drop() if due is None else due
        found = _outcome(lambda: self.store.drop(self.scope, key, expect=expect, fence=fence))
        assert found == due, f"drop {key!r}: {found}, not {due}"

    @rule(key=_KEYS, start=st.integers(0, 8))
    def read(self, key: str, start: int) -> None:
        """Read a log from somewhere."""
        log = self.logs[key]
        due = _outcome(lambda: log.read(start))
        found = _outcome(lambda: self.store.read(self.scope, key, start))
        if isinstance(due, tuple):
            assert found == due, f"read {key!r} from {start}: {found}, not {due}"
        else:
            assert [entry.position for entry in found] == [position for position, _ in due]
            assert identical(values_of(found), [value for _, value in due])
            assert found.head == log.head

    @rule()
    def sweep(self) -> None:
        """Sweep: nothing that is alive may change."""
        self.store.sweep()

    @rule(key=_KEYS, value=any_json, other=_KEYS)
    def expire(self, key: str, value: Any, other: str) -> None:
        """Let a record expire, beside one that is touched in time and one that was made mortal and put anew."""
        ttl = self.harness.short_ttl
        if self.waited or ttl + self.harness.capabilities.expiry_margin > _LONGEST_WAIT:
            return
        self.waited = True
        self._put(key, value, "any", None, ttl)
        if other != key and self.records[other].version is not None:
            assert self.store.touch(self.scope, other, 600) is True
        self.harness.outlast(ttl)
        self.former[key] = self.records[key].version
        self.records[key].delete()

    @invariant()
    def all_is_as_it_should_be(self) -> None:
        """Every record, every head and the listings are those of the model."""
        living = sorted(key for key, record in self.records.items() if record.version is not None)
        for key, record in self.records.items():
            found = self.store.get(self.scope, key)
            assert (None if found is None else found.version) == record.version, f"get {key!r}: {found}"
            assert found is None or identical(found.value, record.value), f"get {key!r}: {found}"
        assert list(all_items(self.store.keys, self.scope, limit=100)) == living
        assert [self.store.head(self.scope, key) for key in self.logs] == [log.head for log in self.logs.values()]
        listed = list(all_items(self.store.logs, self.scope, limit=100))
        assert listed == sorted(key for key, log in self.logs.items() if log.incarnation is not None)

    def teardown(self) -> None:
        """Leave nothing behind."""
        self.store.clear(self.scope)
        for key in self.logs:
            self.store.drop(self.scope, key)
