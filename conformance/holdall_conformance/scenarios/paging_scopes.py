"""Listings of scopes and logs."""

from __future__ import annotations

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.listings import everything
from holdall_conformance.scenarios.support import (
    all_items,
    fill,
)


def _record_scopes(harness: Harness, prefix: str, limit: int = 1000) -> list[str]:
    return list(all_items(harness.store.scopes, prefix, limit=limit))


def _log_scopes(harness: Harness, prefix: str, limit: int = 1000) -> list[str]:
    return list(all_items(harness.store.log_scopes, prefix, limit=limit))


@scenario("paging.scopes-once-each")
def scopes_once_each(harness: Harness) -> None:
    """Scopes lists each scope once however many records it holds, in order, with limits of all sizes."""
    store, base = harness.store, harness.new_scope()
    names = [f"{base}{number:03}" for number in range(60)]
    for number, name in enumerate(names):
        fill(
            store,
            name,
            {f"k{index}": index for index in range(1 + (number * 7 % 120 if number % 4 == 1 else number % 3))},
        )
    for limit in (1, 7, 59, 60, 61, 50_000):
        assert _record_scopes(harness, base, limit) == names, f"limit {limit}"
    assert everything(store.scopes, base, after=names[30]) == names[31:]
    assert everything(store.scopes, base, after=f"{names[30]}x") == names[31:]
    assert everything(store.scopes, f"{base}01") == names[10:20]


@scenario("paging.log-scopes-once-each", level="full")
def log_scopes_once_each(harness: Harness) -> None:
    """log_scopes lists each scope once however many logs it holds, in order, with limits of all sizes."""
    store, base = harness.store, harness.new_scope()
    names = [f"{base}{number:03}" for number in range(20)]
    for number, name in enumerate(names):
        for index in range(1 + number * 7 % 9):
            store.append(name, f"k{index}", [index])
    for limit in (1, 7, 19, 20, 21, 50_000):
        assert _log_scopes(harness, base, limit) == names, f"limit {limit}"
    assert everything(store.log_scopes, base, after=names[10]) == names[11:]
    assert everything(store.log_scopes, f"{base}01") == names[10:]


@scenario("paging.records-and-logs-have-scopes-apart")
def records_and_logs_have_scopes_apart(harness: Harness) -> None:
    """A scope with records only is no log scope, and one with logs only no scope of records."""
    store, base = harness.store, harness.new_scope()
    store.put(f"{base}-records", "k", 1)
    store.append(f"{base}-logs", "k", [1])
    assert _record_scopes(harness, base) == [f"{base}-records"]
    assert _log_scopes(harness, base) == [f"{base}-logs"]


@scenario("paging.scopes-of-expired-records", waits=True)
def scopes_of_expired_records(harness: Harness) -> None:
    """A scope that holds only expired records, however many, is not listed; one with one live record is."""
    store, base, ttl = harness.store, harness.new_scope(), harness.short_ttl
    for name in ("a-dead", "b-mixed", "c-dead", "d-alive", "e-dead"):
        if "dead" not in name:
            store.put(base + name, "zzz", 1)
        if "alive" not in name:
            fill(store, base + name, {f"k{number:03}": 1 for number in range(120)}, ttl=ttl)
    harness.outlast(ttl)
    for limit in (1, 2, 1000):
        assert _record_scopes(harness, base, limit) == [f"{base}b-mixed", f"{base}d-alive"]
    store.sweep()
    assert _record_scopes(harness, base) == [f"{base}b-mixed", f"{base}d-alive"]


@scenario("paging.scopes-of-deleted-records")
def scopes_of_deleted_records(harness: Harness) -> None:
    """A scope disappears with its last record or log, also where fencing marks stay behind."""
    store, base = harness.store, harness.new_scope()
    for name in ("plain", "marked"):
        fence = 3 if name == "marked" else None
        store.put(base + name, "k", 1, fence=fence)
        store.append(base + name, "k", [1], fence=fence)
        assert _record_scopes(harness, base) == _log_scopes(harness, base) == [base + name]
        store.delete(base + name, "k", fence=fence)
        store.drop(base + name, "k", fence=fence)
        assert _record_scopes(harness, base) == _log_scopes(harness, base) == []
        assert list(store.keys(base + name).items) == list(store.logs(base + name).items) == []


@scenario("paging.reads-create-nothing")
def reads_create_nothing(harness: Harness) -> None:
    """Reading, sealing, touching, truncating and refused writes make no scope, record or log appear."""
    store, base = harness.store, harness.new_scope()
    scope = f"{base}-ghost"
    store.get(scope, "k")
    store.get_many(scope, ["k"])
    store.read(scope, "k")
    store.tail(scope, "k", 3)
    store.head(scope, "k")
    list(store.follow(scope, "k", timeout=0))
    store.seal(scope, "k", 4)
    store.seal(scope, "k", 4, log=True)
    store.touch(scope, "k", 60)
    store.truncate(scope, "k", 5)
    store.delete(scope, "k", fence=4)
    store.drop(scope, "k", fence=4)
    store.clear(scope)
    store.sweep()
    assert _record_scopes(harness, base) == _log_scopes(harness, base) == []
    assert list(store.keys(scope).items) == list(store.logs(scope).items) == []


@scenario("paging.marks-hide-nothing")
def marks_hide_nothing(harness: Harness) -> None:
    """Many bare marks between live records and logs neither show up nor hide what lies behind them."""
    store, scope = harness.store, harness.new_scope()
    for number in range(130):
        store.seal(scope, f"m{number:03}", 1)
        store.seal(scope, f"m{number:03}", 1, log=True)
    for key in ("a", "m050x", "z"):
        store.put(scope, key, 1)
        store.append(scope, key, [1])
    for limit in (1, 2, 50, 1000):
        assert list(all_items(store.keys, scope, limit=limit)) == ["a", "m050x", "z"]
        assert list(all_items(store.logs, scope, limit=limit)) == ["a", "m050x", "z"]
    assert list(store.iter_keys(scope)) == ["a", "m050x", "z"]


@scenario("paging.scopes-behind-bare-marks", level="full")
def scopes_behind_bare_marks(harness: Harness) -> None:
    """Scopes that hold only marks are passed over, and the live scopes around them are listed."""
    store, base = harness.store, harness.new_scope()
    for number in range(60):
        store.seal(f"{base}{number:03}", "k", 1)
        store.seal(f"{base}{number:03}", "k", 1, log=True)
    for name in ("000", "030", "059", "zzz"):
        store.put(base + name, "x", 1)
        store.append(base + name, "x", [1])
    expected = [base + name for name in ("000", "030", "059", "zzz")]
    for limit in (1, 3, 1000):
        assert _record_scopes(harness, base, limit) == expected
        assert _log_scopes(harness, base, limit) == expected


@scenario("paging.logs-listed")
def logs_listed(harness: Harness) -> None:
    """Logs lists keys of logs in order, truncated ones too, without dropped ones."""
    store, scope = harness.store, harness.new_scope()
    for number in range(30):
        store.append(scope, f"{number:02}", [number])
    store.truncate(scope, "03", 1)
    store.drop(scope, "04")
    store.restore_log(scope, "restored", 5, [])
    expected = [f"{number:02}" for number in range(30) if number != 4] + ["restored"]
    for limit in (1, 7, 30, 1000):
        assert list(all_items(store.logs, scope, limit=limit)) == expected
    assert everything(store.logs, scope, "1") == [f"1{number}" for number in range(10)]
    assert everything(store.logs, scope, "1", after="15") == ["16", "17", "18", "19"]
