"""Properties, with hypothesis: whatever values, keys and sequences of calls it thinks of, shrunk when they fail."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.properties_machine import StoreMachine, any_json
from holdall_conformance.scenarios.support import (
    all_items,
    has,
    identical,
    value_of,
    values_of,
)

_FEW, _SOME, _MANY = 5, 12, 30
_STEPS = 25
_MOST_TEXT = 20

_texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=_MOST_TEXT)


def _most(harness: Harness) -> int:
    """Return how many examples to try at level full: fewer where each call crosses a network."""
    return _SOME if harness.capabilities.cross_host else _MANY


def _settings(harness: Harness, steps: int = _STEPS) -> settings:
    return settings(
        max_examples=harness.scaled(_FEW if harness.level == "base" else _most(harness)),
        stateful_step_count=steps,
        database=None,
        deadline=None,
        print_blob=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )


def _for_all(harness: Harness, strategy: st.SearchStrategy[Any], check: Callable[[Any], None]) -> None:
    """Check many values that a strategy makes, always the same ones for a seed."""

    @seed(harness.seed)
    @_settings(harness)
    @given(strategy)
    def run(value: Any) -> None:
        check(value)

    run()


@scenario("values.any-json")
def any_json_value(harness: Harness) -> None:
    """Whatever JSON value is put, or appended, comes back the same in type, sign of zero and order of keys."""
    store, scope = harness.store, harness.new_scope()

    def check(value: Any) -> None:
        store.put(scope, "k", value)
        assert identical(value_of(store, scope, "k"), value)
        if has(store, "append"):
            position = store.append(scope, "log", [value, [value]]).start
            assert identical(values_of(store.read(scope, "log", position)), [value, [value]])

    _for_all(harness, any_json, check)


@scenario("keys.any-text")
def any_text_as_key(harness: Harness) -> None:
    """Whatever texts are keys, each has its own record and log, and listings hold them all in order."""
    store, base = harness.store, harness.new_scope()
    turns = iter(range(1_000_000))

    def check(keys: list[str]) -> None:
        scope = f"{base}-{next(turns)}"
        for number, key in enumerate(keys):
            store.put(scope, key, number)
        if has(store, "append"):
            store.append(scope, keys[0], [keys[0]])
            assert list(all_items(store.logs, scope, limit=100)) == keys[:1]
        assert [value_of(store, scope, key) for key in keys] == list(range(len(keys)))
        assert list(all_items(store.keys, scope, limit=100)) == sorted(keys)
        for prefix in (keys[0][:1], keys[-1]):
            found = list(all_items(store.keys, scope, prefix, limit=100))
            assert found == sorted(key for key in keys if key.startswith(prefix))

    _for_all(harness, st.lists(_texts, min_size=1, max_size=6, unique=True), check)


@scenario("keys.any-text-as-scope", level="full")
def any_text_as_scope(harness: Harness) -> None:
    """Whatever texts end the names of scopes, their records do not meet, and clearing one spares the others."""
    store, base = harness.store, harness.new_scope()
    turns = iter(range(1_000_000))

    def check(names: list[str]) -> None:
        scopes = [f"{base}-{next(turns)}-{name}" for name in names]
        for scope in scopes:
            store.put(scope, "k", scope)
        assert [value_of(store, scope, "k") for scope in scopes] == scopes
        store.clear(scopes[0])
        assert [store.get(scope, "k") is None for scope in scopes] == [True] + [False] * (len(scopes) - 1)

    _for_all(harness, st.lists(_texts, min_size=2, max_size=4, unique=True), check)


@scenario("records.any-calls", level="full")
def any_calls(harness: Harness) -> None:
    """Whatever one client calls in a row, on records and logs, comes out as a model of the contract says."""

    class Machine(StoreMachine):
        pass

    Machine.harness = harness
    harness.store.get(harness.new_scope(), "k")
    run_state_machine_as_test(seed(harness.seed)(Machine), settings=_settings(harness))
