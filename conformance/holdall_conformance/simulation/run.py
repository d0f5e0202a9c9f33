"""Runs one schedule: drawn by a seed, or given as the list of its choices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdall.drive import drive
from holdall_conformance.simulation.choices import Choices, Given, Kind, Seeded
from holdall_conformance.simulation.judge import Failure, judge
from holdall_conformance.simulation.play import Client, Play, Workload
from holdall_conformance.simulation.work_leases import LEASES
from holdall_conformance.simulation.work_logs import CHUNKS, LOGS
from holdall_conformance.simulation.work_records import EXPIRY, RECORDS
from holdall_conformance.simulation.world import Endless, Event, World

if TYPE_CHECKING:
    from holdall_conformance.history.calls import Call
    from holdall_conformance.simulation.subject import Subject

__all__ = ["WORKLOADS", "Outcome", "failures", "replay", "simulate"]

WORKLOADS: tuple[Workload, ...] = (RECORDS, LOGS, LEASES, EXPIRY, CHUNKS)
"""What the clients of a run may be up to; the first choice of a run is one of these."""

_LONG = 10_000.0
_FOUNDED = 4


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a run.

    Attributes:
        subject: what was simulated.
        workload: name of what the clients did.
        choices: the choices made; given to `replay` they make the same run.
        kinds: what each of them chose.
        marks: for each list of them, where the choices of an operation begin.
        failure: what is wrong, or None.
        events: what happened, in order.
        steps: how many of the events came before all was over and a last client looked at what is left.
        calls: the history.
        seed: what drew the choices; None of a replay.

    """

    subject: Subject
    workload: str
    choices: Sequence[Sequence[int]]
    kinds: Sequence[Sequence[Kind]]
    marks: Sequence[Sequence[int]]
    failure: Failure | None
    events: Sequence[Event]
    steps: int
    calls: Sequence[Call]
    seed: int | None = None

    @property
    def began(self) -> float:
        """The time of the first event."""
        return self.events[0].at if self.events else 0.0


def simulate(subject: Subject, seed: int) -> Outcome:
    """Run the schedule of a seed; the seed modulo the number of workloads says which of them.

    Args:
        subject: what to simulate.
        seed: any whole number.

    """
    return _run(subject, Seeded(seed), seed % len(WORKLOADS), seed)


def replay(subject: Subject, choices: Sequence[Sequence[int]]) -> Outcome:
    """Run the schedule of given choices.

    Args:
        subject: what to simulate.
        choices: the choices of an earlier run; where they end, all goes on in the plainest way.

    """
    return _run(subject, Given(choices), None, None)


def failures(subject: Subject, seeds: Iterable[int]) -> Iterator[Outcome]:
    """Simulate seed after seed and yield the runs that fail.

    Args:
        subject: what to simulate.
        seeds: the seeds.

    Yields:
        The failing runs, not yet shrunk.

    """
    for seed in seeds:
        outcome = simulate(subject, seed)
        if outcome.failure is not None:
            yield outcome


def _run(subject: Subject, choices: Choices, workload: int | None, seed: int | None) -> Outcome:
    world = World(choices)
    number = world.pick("detail", len(WORKLOADS)) if workload is None else world.decide(workload)
    play = Play(subject, WORKLOADS[number], world, subject.stand_in())
    try:
        failure = _perform(play) or judge(play)
    except Exception as error:  # noqa: BLE001 - whatever a core raises that it should not is a finding
        failure = Failure(type(error).__name__, f"{type(error).__name__}: {error}")
    finally:
        world.close()
    steps = len(world.events) if play.steps is None else play.steps
    return Outcome(
        subject,
        play.workload.name,
        world.made,
        world.kinds,
        world.marks,
        failure,
        world.events,
        steps,
        play.calls,
        seed,
    )


def _perform(play: Play) -> Failure | None:
    """Run the clients to their ends, then read and sweep in peace; return what is left that should not be."""
    world = play.world
    if world.pick("detail", _FOUNDED) == 0:  # otherwise who comes first has to set up the storage
        world.calm = True
        drive(Client(play, "founder").open())
        world.calm = False
    play.begin()
    try:
        world.run()
    except Endless as error:
        return Failure("endless", str(error))
    play.steps = len(world.events)
    world.calm = True
    drive(_conclude(play))
    world.leap(_LONG)
    return drive(_clear(play))


async def _conclude(play: Play) -> None:
    client = Client(play, "reader")
    await client.open()
    await play.workload.finish(client)


async def _clear(play: Play) -> Failure | None:
    client = Client(play, "sweeper")
    await client.open()
    await client.unrecorded("sweep", client.store.sweep())
    await play.workload.finish(client)
    left = play.subject.leftovers(play.storage)
    if left:
        return Failure("leftovers", "the sweep left behind: " + "; ".join(left))
    again = await client.store.sweep()
    return Failure("leftovers", f"a sweep right after a sweep removed {again} more") if again else None
