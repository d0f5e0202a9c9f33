"""Seeded simulation: many clients of a core at once, under a scheduler that decides everything by numbers.

A core is `async def` over a port, and takes sleep, clock, ids and dice from its `holdall.spi.Environment`. So all that
happens to it can be decided from outside: who goes on at every request, which requests and replies are lost, which
arrive late or twice, where a client crashes, how the clock leaps. Here a seed decides it. A run is a handful of
clients over one strict in-memory stand-in for the storage; its history is checked for linearizability, its leases for
exclusion, its expiry against the clock, and what it leaves behind. The same seed makes the same run, and a run that
fails is shrunk to the fewest steps and printed.

::

    from holdall_conformance.simulation import derived_subject, describe, failures, shrink

    subject = derived_subject()
    for found in failures(subject, range(10_000)):
        print(describe(shrink(subject, found)))
        break

What is simulated is a `Subject`. `derived_subject` gives the parts that holdall derives from the five primitives of a
`Backend`. A backend of one's own between them and the storage, or another core on the same primitives, is
`DerivedSubject(core=...)`. A core over a port of its own is a class with the six members of `Subject`:

* `stand_in()` returns an empty storage, as strict as the contract of the real one and no kinder;
* `connect(storage, environment, step)` opens the core with a port whose every request is one
  `await step(what, effect, writes=..., again=...)`, where `effect` applies the request to the stand-in at one moment.
  What the port does not pass through `step` nobody can interleave or lose;
* `fault(kind)` returns the error by which that port tells that a request was refused, timed out, or is unknown;
* `describe(what, result)` and `leftovers(storage)` put requests and remains into words;
* `name` and `capabilities` say what it is and what it promises.

Real input and output cannot be simulated: a port that really waits would block the only thread there is.
"""

from holdall_conformance.simulation.choices import Choices, Given, Seeded
from holdall_conformance.simulation.derived import (
    Core,
    DerivedSubject,
    PortBackend,
    derived_capabilities,
    derived_subject,
)
from holdall_conformance.simulation.environment import SimulatedEnvironment
from holdall_conformance.simulation.judge import Failure
from holdall_conformance.simulation.network import Fault, Step
from holdall_conformance.simulation.run import WORKLOADS, Outcome, failures, replay, simulate
from holdall_conformance.simulation.shrink import shrink
from holdall_conformance.simulation.stand_in import StandIn
from holdall_conformance.simulation.subject import Subject
from holdall_conformance.simulation.text import describe, trace
from holdall_conformance.simulation.world import NO_ANSWER

__all__ = [
    "NO_ANSWER",
    "WORKLOADS",
    "Choices",
    "Core",
    "DerivedSubject",
    "Failure",
    "Fault",
    "Given",
    "Outcome",
    "PortBackend",
    "Seeded",
    "SimulatedEnvironment",
    "StandIn",
    "Step",
    "Subject",
    "derived_capabilities",
    "derived_subject",
    "describe",
    "failures",
    "replay",
    "shrink",
    "simulate",
    "trace",
]
