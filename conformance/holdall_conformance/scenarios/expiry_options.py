"""A ttl beside an expectation and a fence: none of the three makes another one be forgotten."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from holdall import ABSENT, ANY, Conflict, Fenced, Put, Store
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import record_of

_LONG, _LONGER = 1000.0, 40 * 86_400.0
_SLACK, _ROUNDING = 1.0, 0.001
"""Seconds that a clause about hundreds of seconds does not argue about."""
_TOKEN = 7
_ENDING = 0.2
"""Seconds before the end of a record from which on it is looked at all the time."""
_CONFLICTS = 3


def _lasts(harness: Harness, scope: str, key: str, ttl: float, began: float) -> None:
    """Demand that a record which was written since a moment of the boot clock has the rest of its ttl left."""
    left, margin = record_of(harness.store, scope, key).expires_in, harness.capabilities.expiry_margin
    assert left is not None, f"{key!r} never expires"
    assert ttl - margin - _SLACK - (boot_time() - began) <= left <= ttl + margin + _ROUNDING, (
        f"{key!r}: {left} s of {ttl} s left"
    )


def _marked(store: Store, scope: str, key: str, token: int = _TOKEN) -> None:
    """Demand that a record has seen a token."""
    before = record_of(store, scope, key)
    with pytest.raises(Fenced):
        store.put(scope, key, "stale", fence=token - 1)
    assert record_of(store, scope, key).version == before.version


def _put(store: Store, operations: list[Put]) -> None:
    for asked in operations:
        store.put(asked.scope, asked.key, asked.value, expect=asked.expect, ttl=asked.ttl, fence=asked.fence)


def _commit_one_by_one(store: Store, operations: list[Put]) -> None:
    for operation in operations:
        store.commit([operation])


def _commit_together(store: Store, operations: list[Put]) -> None:
    store.commit(operations)


def _ways(harness: Harness) -> list[Callable[[Store, list[Put]], None]]:
    together = [_commit_together] if harness.capabilities.atomic_commit else []
    return [_put, _commit_one_by_one, *together]


def _expectations(store: Store, scope: str, fence: int | None) -> dict[str, Any]:
    """Return right expectations for new keys, and write what they expect."""
    version = store.put(scope, f"version {fence}", 1, ttl=_LONG * 2)
    store.put(scope, f"any {fence}", 1, ttl=_LONG * 2)
    return {f"version {fence}": version, f"any {fence}": ANY, f"new {fence}": ANY, f"absent {fence}": ABSENT}


@scenario("expiry.ttl-with-expectation-and-fence")
def ttl_with_expectation_and_fence(harness: Harness) -> None:
    """Put and commit keep a ttl with every expectation, with a fence and without, and the fence counts too."""
    store = harness.store
    for write in _ways(harness):
        scope, began = harness.new_scope(), boot_time()
        for fence, ttl in ((None, _LONG), (_TOKEN, _LONGER)):
            expectations = _expectations(store, scope, fence)
            puts = [Put(scope, key, 2, expect=expect, ttl=ttl, fence=fence) for key, expect in expectations.items()]
            for start in range(0, len(puts), 2):
                write(store, puts[start : start + 2])
            for key in expectations:
                _lasts(harness, scope, key, ttl, began)
                if fence is not None:
                    _marked(store, scope, key)


@scenario("expiry.ttl-excuses-nothing")
def ttl_excuses_nothing(harness: Harness) -> None:
    """A write with a ttl is refused as one without: for a wrong expectation, for a stale fence, for both."""
    store = harness.store
    for write in _ways(harness):
        scope = harness.new_scope()
        old = store.put(scope, "k", 1, fence=_TOKEN)
        version = store.put(scope, "k", 2, fence=_TOKEN)
        store.seal(scope, "sealed", _TOKEN)
        for ttl in (None, _LONG):
            for expect, fence in ((old, None), (old, _TOKEN), (ABSENT, None), (ABSENT, _TOKEN + 1)):
                with pytest.raises(Conflict):
                    write(store, [Put(scope, "k", 3, expect=expect, ttl=ttl, fence=fence)])
            for expect in (version, ANY, old):
                with pytest.raises(Fenced):
                    write(store, [Put(scope, "k", 3, expect=expect, ttl=ttl, fence=_TOKEN - 1)])
            with pytest.raises(Fenced):
                write(store, [Put(scope, "sealed", 3, expect=ABSENT, ttl=ttl, fence=_TOKEN - 1)])
        record = record_of(store, scope, "k")
        assert (record.value, record.version, record.expires_in) == (2, version, None)
        assert store.get(scope, "sealed") is None


@scenario("expiry.touch-with-a-fence")
def touch_with_a_fence(harness: Harness) -> None:
    """A touch with a fence sets a longer, a shorter and no end, and raises the mark."""
    store, scope, began = harness.store, harness.new_scope(), boot_time()
    for number, ttl in enumerate((_LONGER, _LONG, None)):
        key, token = f"k{number}", _TOKEN + number
        version = store.put(scope, key, 1, ttl=_LONG * 2)
        assert store.touch(scope, key, ttl, fence=token) is True
        if ttl is None:
            assert record_of(store, scope, key).expires_in is None
        else:
            _lasts(harness, scope, key, ttl, began)
        assert record_of(store, scope, key).version == version
        _marked(store, scope, key, token)


@scenario("expiry.update-with-a-fence")
def update_with_a_fence(harness: Harness) -> None:
    """An update keeps its ttl and its fence, over a record and where there is none, and tells what it wrote."""
    store, scope, began = harness.store, harness.new_scope(), boot_time()
    store.put(scope, "old", 1)
    for key in ("old", "new"):
        record = store.update(scope, key, lambda _: 2, ttl=_LONG, fence=_TOKEN)
        assert record.expires_in is not None
        assert record.version == record_of(store, scope, key).version
        _lasts(harness, scope, key, _LONG, began)
        _marked(store, scope, key)


@scenario("expiry.update-after-a-conflict")
def update_after_a_conflict(harness: Harness) -> None:
    """An update whose first try met a rival's write keeps its ttl and its fence in the next one."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    for number in range(_CONFLICTS):
        key, seen, began = f"k{number}", list[Any](), boot_time()
        if number:
            store.put(scope, key, "first")

        def changed(value: Any, key: str = key, seen: list[Any] = seen) -> str:
            seen.append(value)
            if len(seen) == 1:
                rival.put(scope, key, "rival")
            return f"after {value}"

        record = store.update(scope, key, changed, ttl=_LONG, fence=_TOKEN)
        assert seen == ["first" if number else None, "rival"]
        assert (record.value, record.version) == ("after rival", record_of(store, scope, key).version)
        assert record.expires_in is not None
        _lasts(harness, scope, key, _LONG, began)
        _marked(store, scope, key)


@scenario("expiry.update-overtaken-by-a-higher-token")
def update_overtaken_by_a_higher_token(harness: Harness) -> None:
    """An update that meets a higher token while its function runs raises Fenced, and the rival's value stays."""
    store, rival, scope = harness.store, harness.open_store(), harness.new_scope()
    store.put(scope, "k", "first")

    def changed(_: Any) -> str:
        rival.put(scope, "k", "rival", fence=_TOKEN + 1)
        return "stale"

    with pytest.raises(Fenced):
        store.update(scope, "k", changed, ttl=_LONG, fence=_TOKEN)
    record = record_of(store, scope, "k")
    assert (record.value, record.expires_in) == ("rival", None)


@scenario("expiry.there-until-the-margin", waits=True)
def there_until_the_margin(harness: Harness) -> None:
    """A record, put or touched, is there until its ttl is over but for the declared margin."""
    store, scope, margin = harness.store, harness.new_scope(), harness.capabilities.expiry_margin
    ttl = max(2 * margin + 0.5, harness.short_ttl + margin, 2 * harness.capabilities.min_ttl)
    store.put(scope, "touched", 1, ttl=_LONG)
    began = boot_time()
    store.put(scope, "put", 1, ttl=ttl)
    assert store.touch(scope, "touched", ttl) is True
    written, until = boot_time(), began + ttl - margin
    while True:
        found = store.get_many(scope, ["put", "touched"])
        if (now := boot_time()) >= until:
            break
        assert [record and record.key for record in found] == ["put", "touched"], f"gone {until - now:.3f} s early"
        time.sleep(0.002 if until - now < _ENDING else until - now - _ENDING)
    harness.outlast(max(0, written + ttl - boot_time()))
    assert list(store.keys(scope).items) == []
