"""Tries writes while replies are lost, and judges what they returned or raised by the truth."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from holdall import HoldallError, OutcomeUnknown, StoreTimeout, Unavailable
from holdall_conformance.absence import Absent
from holdall_conformance.explain import reason_of
from holdall_conformance.harness import Harness
from holdall_conformance.proxied import through_proxy
from holdall_conformance.proxy import Proxy
from holdall_conformance.proxy_faults import PASS, Fault
from holdall_conformance.scenarios.ambiguity_writes import World, Write

__all__ = ["Trials", "check", "usable"]

_RECOVERY = 30.0
"""Seconds within which a handle must work again when the way is free."""
_AT_ONCE = 6
"""Ways through a proxy at once: each takes connections, and a server has only so many."""
_ATTEMPTS = 4
"""So often a fault is planned again for a first request: a heartbeat of the driver may take it."""
_STUCK = 60.0
"""Seconds in which whatever waits must end once its connections are closed."""


def check(problems: Sequence[str]) -> None:
    """Fail with all problems, a line each, if there is one."""
    assert not problems, "\n".join(problems)


def usable(harness: Harness, kinds: Sequence[type[Write]]) -> list[type[Write]]:
    """Return the writes that a backend has the operations for.

    Args:
        harness: the backend.
        kinds: the writes.

    Raises:
        Absent: it has them for none.

    """
    found = [kind for kind in kinds if harness.absent.isdisjoint(kind.operations)]
    if not found:
        message = f"the backend has no {', no '.join(sorted(harness.absent))}"
        raise Absent(message)
    return found


class _Outcome:
    """What a call came to, in a thread that can be waited for."""

    def __init__(self, write: Write) -> None:
        self.result: Any = None
        self.error: Exception | None = None
        self._write = write
        self._thread = threading.Thread(target=self._run, name=write.name, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._write.act()
        except Exception as error:  # noqa: BLE001 - judged by whoever waits
            self.error = error

    def ends_within(self, seconds: float) -> bool:
        self._thread.join(seconds)
        return not self._thread.is_alive()


@dataclass(frozen=True, slots=True)
class Trials:
    """How writes are tried.

    Attributes:
        faults: each is tried at each request of a write.
        most: at no more than so many requests of a write.
        timeout: that of the handles with the faults on their way, in seconds.
        limit: seconds in which a write must have ended.
        then: what happens to every request and connection after the fault, until the write has ended.
        settled: whether a write must return, since nothing is lost for good.

    """

    faults: Sequence[Fault]
    most: int
    timeout: float = 10.0
    limit: float = 30.0
    then: Fault = PASS
    settled: bool = False

    def problems(self, harness: Harness, kinds: Sequence[type[Write]]) -> list[str]:
        """Try writes one after the other and return what was wrong, a line each.

        Args:
            harness: the backend.
            kinds: the writes.

        """
        with through_proxy(harness) as (proxy, behind):
            world = World(harness, behind, self.timeout)
            pairs = itertools.product(kinds, self.faults)
            return [problem for kind, fault in pairs for problem in self._at_each(kind, fault, world, proxy)]

    def problems_side_by_side(self, harness: Harness, kinds: Sequence[type[Write]]) -> list[str]:
        """Try writes at once, each with a proxy of its own, and return what was wrong, a line each.

        Args:
            harness: the backend.
            kinds: the writes.

        """
        with through_proxy(harness), ThreadPoolExecutor(_AT_ONCE) as pool:  # tells at once where there is no way
            found = list(pool.map(lambda kind: self.problems(harness, [kind]), kinds))
        return [problem for problems in found for problem in problems]

    def _at_each(self, kind: type[Write], fault: Fault, world: World, proxy: Proxy) -> Iterator[str]:
        """Strike each request of a write, in a new write for each, until it has no more of them."""
        for at in range(1, self.most + 1):
            problem, struck = self._at(at, kind, fault, world, proxy)
            for _ in range(_ATTEMPTS):
                if struck or problem or at > 1:
                    break
                problem, struck = self._at(at, kind, fault, world, proxy)
            if not struck and not problem and (at > 1 or fault.kind.startswith("cut")):
                return  # it has no more requests, or they and their replies are shorter than the cut
            if not struck:
                problem = problem or "no request of it was seen"
            if problem:
                yield f"{kind.name}, {fault} at request {at}: {problem}"

    def _at(self, at: int, kind: type[Write], fault: Fault, world: World, proxy: Proxy) -> tuple[str, bool]:
        """Strike one request of a new write; return what was wrong with it, and whether the fault had its effect."""
        write = kind(world)
        write.prepare()
        problem = _recovered(write)
        if problem:
            return problem, True
        proxy.strike(fault, at=at, then=self.then)
        outcome = _Outcome(write)
        problem = self._awaited(outcome, proxy)
        struck = bool(proxy.heal())
        if not struck and (at > 1 or fault.kind.startswith("cut")):
            return problem, struck
        return problem or self._judged(write, outcome), struck

    def _judged(self, write: Write, outcome: _Outcome) -> str:
        if self.settled and outcome.error is not None:
            return f"raised {reason_of(outcome.error)}"
        return _judged(write, outcome)

    def _awaited(self, outcome: _Outcome, proxy: Proxy) -> str:
        """Wait for the end of a write; where it does not come, close the connections."""
        if outcome.ends_within(self.limit):
            return ""
        began = time.monotonic()
        proxy.disconnect()
        ended = outcome.ends_within(_STUCK)
        after = f"{time.monotonic() - began:.1f} s after its connections were closed" if ended else "not even then"
        return f"did not end within {self.limit:g} s, with a timeout of {self.timeout:g} s; it ended {after}"


def _recovered(write: Write) -> str:
    """Wait until the handle works, and return what is wrong if it does not."""
    deadline = time.monotonic() + _RECOVERY
    while True:
        try:
            if write.of_lock:
                write.world.through_lock.held(write.place[1])
            else:
                write.world.through.head(*write.place)
        except (Unavailable, StoreTimeout) as error:
            if time.monotonic() > deadline:
                return f"though the way is free again, the handle does not work: {error}"
            time.sleep(0.05)
        else:
            return ""


def _judged(write: Write, outcome: _Outcome) -> str:
    """Return what is wrong with an outcome, by the truth; "" if nothing is."""
    error = outcome.error
    if isinstance(error, Absent):
        raise error
    if error is not None and not isinstance(error, OutcomeUnknown | Unavailable | StoreTimeout):
        return f"raised {reason_of(error)}"
    said = "returned" if error is None else f"raised {type(error).__name__}"
    try:
        applied = write.applied()
        if not isinstance(error, OutcomeUnknown) and applied != (error is None):
            return f"{said}, and it was {'applied' if applied else 'not applied'}"
        if error is None:
            write.confirm(outcome.result)
        else:
            write.explain(error)
        problem = _recovered(write)
        if problem:
            return problem
        write.repeat()
    except (AssertionError, HoldallError) as problem:
        return f"{said}, but {reason_of(problem)}"
    return ""
