"""The core of a backend under the seeded scheduler: many clients, faults at every request, the same run for a seed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.simulation import WORKLOADS, describe, failures, shrink

if TYPE_CHECKING:
    from holdall_conformance.simulation import Subject

__all__ = ["run_simulated"]

_SCHEDULES = 400
_SEEDS = 2**32
_NUMBERS = {workload.name: number for number, workload in enumerate(WORKLOADS)}


def run_simulated(subject: Subject, schedules: int, chance: random.Random, workload: str) -> None:
    """Simulate as many schedules of a workload as asked for, and fail with the first bad one, shrunk.

    Args:
        subject: what to simulate.
        schedules: how many.
        chance: where the seeds come from.
        workload: what the clients do: the name of one of `WORKLOADS`.

    """
    number, step = _NUMBERS[workload], len(WORKLOADS)
    first = chance.randrange(_SEEDS) * step + number
    for found in failures(subject, range(first, first + schedules * step, step)):
        raise AssertionError(describe(shrink(subject, found)))


@scenario("simulation.records", level="full")
def records(harness: Harness) -> None:
    """Under every interleaving and fault tried, records stay linearizable: no write is lost, doubled or made up."""
    run_simulated(harness.subject_of_simulation(), harness.scaled(_SCHEDULES), harness.chance, "records")


@scenario("simulation.expiry", level="full")
def expiry(harness: Harness) -> None:
    """Under every interleaving and fault tried, what expires is gone in time and not before, and leaves its mark."""
    run_simulated(harness.subject_of_simulation(), harness.scaled(_SCHEDULES), harness.chance, "expiry")


@scenario("simulation.logs", level="full")
def logs(harness: Harness) -> None:
    """Under every interleaving and fault tried, logs stay linearizable, and batches are whole and once."""
    run_simulated(harness.subject_of_simulation(), harness.scaled(_SCHEDULES), harness.chance, "logs")


@scenario("simulation.chunks", level="full")
def chunks(harness: Harness) -> None:
    """Under every interleaving and fault tried, logs of large entries lose none to truncates, drops and sweeps."""
    run_simulated(harness.subject_of_simulation(), harness.scaled(_SCHEDULES), harness.chance, "chunks")


@scenario("simulation.leases", level="full")
def leases(harness: Harness) -> None:
    """Under every interleaving and fault tried, no two clients have a lease at once, and tokens only rise."""
    run_simulated(harness.subject_of_simulation(), harness.scaled(_SCHEDULES), harness.chance, "leases")
