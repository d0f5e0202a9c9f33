"""Ambiguity of reads, of opening, of silence and of races: what else happens on a way that loses requests."""

from __future__ import annotations

import functools
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from holdall import HoldallError, OutcomeUnknown, StoreTimeout, Unavailable
from holdall_conformance.explain import reason_of
from holdall_conformance.harness import Harness
from holdall_conformance.proxied import through_proxy
from holdall_conformance.proxy_faults import (
    BLACK_HOLE,
    PASS,
    REFUSE,
    Fault,
    Moment,
    Plan,
    cut_reply,
    cut_request,
    drop_reply,
    hang,
)
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.ambiguity_trials import check
from holdall_conformance.scenarios.support import in_threads, record_of, values_of

_TIMEOUT = 2.0
_BOUND = 2 * _TIMEOUT + 1
"""Seconds in which an operation with that timeout must have ended: it may have waited for a connection before."""
_STUCK = 60.0
_AT_ONCE = 9
_WRITERS = 4
_APPENDS = 25
_RATE = 0.08
_PATIENCE = 30.0

_Call = Callable[[], Any]
_Read = Callable[[Any], Any]


@scenario("ambiguity.reads-are-true")
def reads_are_true(harness: Harness) -> None:
    """A read whose request or reply is lost returns what is there or raises Unavailable, and never says 'absent'."""
    store, scope = harness.store, harness.new_scope()
    store.put(scope, "k", "v")
    reads: dict[str, _Read] = {
        "get": lambda store: getattr(store.get(scope, "k"), "value", None),
        "get_many": lambda store: [getattr(each, "value", None) for each in store.get_many(scope, ["k", "no"])],
        "scan": lambda store: [each.value for each in store.scan(scope).items],
        "keys": lambda store: list(store.keys(scope).items),
        "scopes": lambda store: list(store.scopes(scope).items),
    }
    check(_untrue(harness, reads))


@scenario("ambiguity.log-reads-are-true")
def log_reads_are_true(harness: Harness) -> None:
    """A read of a log whose request or reply is lost returns what is there or raises Unavailable, and never less."""
    store, scope = harness.store, harness.new_scope()
    store.append(scope, "k", [1, 2, "x" * 50_000])
    reads: dict[str, _Read] = {
        "read": lambda store: values_of(store.read(scope, "k")),
        "tail": lambda store: values_of(store.tail(scope, "k", 1)),
        "head": lambda store: store.head(scope, "k"),
        "iter_entries": lambda store: values_of(store.iter_entries(scope, "k")),
        "logs": lambda store: list(store.logs(scope).items),
    }
    check(_untrue(harness, reads))


def _untrue(harness: Harness, reads: dict[str, _Read]) -> list[str]:
    """Read straight, then with faults on the way, and return where that did not come to the same, a line each."""
    problems: list[str] = []
    with through_proxy(harness) as (proxy, behind):
        store = behind.open_store()
        for name in reads.keys() - harness.absent:
            expected = reads[name](harness.store)
            for fault in (drop_reply(), cut_request(0), cut_reply(1), cut_reply(20)):
                _settle(functools.partial(reads[name], store))
                proxy.strike(fault)
                try:
                    found = reads[name](store)
                except (Unavailable, StoreTimeout):
                    continue
                except HoldallError as error:
                    problems.append(f"{name}, {fault}: raised {reason_of(error)}")
                    continue
                if found != expected:
                    problems.append(f"{name}, {fault}: returned {found!r}, and {expected!r} is there")
    return problems


def _settle(call: _Call) -> None:
    """Call until it succeeds, since a handle may need a moment after a fault."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            call()
        except (Unavailable, StoreTimeout):
            assert time.monotonic() < deadline, "though the way is free again, the handle does not work"
            time.sleep(0.05)
        else:
            return


@scenario("ambiguity.timeouts-bound-every-operation", waits=True)
def timeouts_bound_every_operation(harness: Harness) -> None:
    """Whether the server refuses connections or is silent, an operation ends within its timeout, and says so."""
    outages: list[tuple[Fault, Fault]] = [(cut_request(0), REFUSE), (hang(), BLACK_HOLE), (BLACK_HOLE, BLACK_HOLE)]
    usable = sorted(_OPERATIONS.keys() - harness.absent)
    cases = [(name, fault, then, at) for name in usable for fault, then in outages for at in (1, 2)]
    with through_proxy(harness), ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(pool.map(lambda case: _bounded(harness, *case), cases))
    check([problem for problem in found if problem])


_OPERATIONS: dict[str, Callable[[Any, str], Any]] = {
    "get": lambda store, scope: store.get(scope, "k"),
    "put": lambda store, scope: store.put(scope, "k", 2),
    "append": lambda store, scope: store.append(scope, "k", [2]),
}


def _bounded(harness: Harness, name: str, fault: Fault, then: Fault, at: int) -> str:
    """Do an operation in an outage, and return what is wrong with its end."""
    scope, ended = harness.new_scope(), threading.Event()
    caught: list[Exception] = []
    with through_proxy(harness) as (proxy, behind):
        store = behind.open_store(timeout=_TIMEOUT)
        _OPERATIONS[name](store, scope)
        proxy.strike(fault, at=at, then=then)

        def act() -> None:
            try:
                _OPERATIONS[name](store, scope)
            except Exception as error:  # noqa: BLE001 - judged below
                caught.append(error)
            ended.set()

        threading.Thread(target=act, name=name, daemon=True).start()
        in_time = ended.wait(_BOUND)
        proxy.heal()
        proxy.disconnect()
        ended.wait(_STUCK)
    where = f"{name}, {fault} at request {at} and {then} from then on"
    if not in_time:
        return f"{where}: did not end within {_BOUND:g} s, with a timeout of {_TIMEOUT:g} s"
    wrong = [error for error in caught if not isinstance(error, Unavailable | StoreTimeout | OutcomeUnknown)]
    return f"{where}: raised {reason_of(wrong[0])}" if wrong else ""


@scenario("ambiguity.opening-without-a-server", waits=True)
def opening_without_a_server(harness: Harness) -> None:
    """Opened while the server refuses connections, a store raises Unavailable in time, and a later one works."""
    with through_proxy(harness) as (proxy, behind):
        proxy.always(REFUSE)
        began = time.monotonic()
        with pytest.raises((Unavailable, StoreTimeout)):
            behind.open_store(timeout=_TIMEOUT).get(harness.new_scope(), "k")
        assert time.monotonic() - began <= _BOUND
        proxy.heal()
        assert behind.open_store(timeout=_TIMEOUT).get(harness.new_scope(), "k") is None


@scenario("ambiguity.races-over-lost-replies", level="full")
def races_over_lost_replies(harness: Harness) -> None:
    """Several writers race while replies are lost: each append and update that returned counts once, no other twice."""
    scope = harness.new_scope()
    harness.store.put(scope, "count", 0)
    with through_proxy(harness) as (proxy, behind):
        stores = [behind.open_store() for _ in range(_WRITERS)]
        proxy.follow(_at_random(random.Random(harness.seed)))
        writers = [functools.partial(_writer, harness, store, scope, name) for name, store in enumerate(stores)]
        fates = in_threads(writers)
        proxy.heal()
    entries = Counter(values_of(harness.store.read(scope, "log")))
    problems = [each for found in fates for each in _misjudged(found, entries)]
    check(problems)
    updates = Counter(fate for found in fates for what, _, fate in found if what == "update")
    count = record_of(harness.store, scope, "count").value
    assert updates["done"] <= count <= updates["done"] + updates["unknown"]


def _at_random(chance: random.Random) -> Plan:
    faults = (drop_reply(), cut_request(0), cut_reply(1), cut_reply(30))

    def plan(moment: Moment) -> Fault:
        return chance.choice(faults) if moment.of_connection and chance.random() < _RATE else PASS

    return plan


def _writer(harness: Harness, store: Any, scope: str, name: int) -> list[tuple[str, str, str]]:
    """Append and update in turns, and return what became of each: done, unknown, or refused before it was applied."""
    fates: list[tuple[str, str, str]] = []
    for number in range(harness.scaled(_APPENDS)):
        entry = f"{name}-{number}"
        fates.append(("append", entry, _fate(functools.partial(store.append, scope, "log", [entry]))))
        fates.append(("update", entry, _fate(functools.partial(store.update, scope, "count", _one_more))))
    return fates


def _one_more(value: int) -> int:
    return value + 1


def _fate(call: _Call) -> str:
    try:
        call()
    except OutcomeUnknown:
        return "unknown"
    except (Unavailable, StoreTimeout):
        return "refused"
    return "done"


def _misjudged(found: Any, entries: Counter[Any]) -> Iterator[str]:
    if isinstance(found, Exception):
        yield reason_of(found)
        return
    allowed = {"done": {1}, "unknown": {0, 1}, "refused": {0}}
    for what, entry, fate in found:
        if what == "append" and entries[entry] not in allowed[fate]:
            yield f"the append of {entry} was {fate}, and its entry is there {entries[entry]} times"
