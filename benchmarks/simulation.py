"""How many simulated schedules of each workload run in a minute, on one core.

`python benchmarks/simulation.py [--json] [--schedules N] [--clock boot|server|client]`, with holdall installed. The
ratio is the time of a workload beside that of the fastest.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from holdall_conformance.simulation import WORKLOADS, derived_subject, simulate


def measured(clock: Any, schedules: int, number: int) -> dict[str, Any]:
    """Run the schedules of one workload and return what they were and how long they took."""
    subject, steps, calls = derived_subject(clock), 0, 0
    failed = 0
    begun = time.perf_counter()
    for seed in range(number, number + schedules * len(WORKLOADS), len(WORKLOADS)):
        outcome = simulate(subject, seed)
        steps += outcome.steps
        calls += len(outcome.calls)
        failed += outcome.failure is not None
    seconds = time.perf_counter() - begun
    return {
        "workload": WORKLOADS[number].name,
        "schedules": schedules,
        "seconds": seconds,
        "schedules_a_minute": 60 * schedules / seconds,
        "steps_a_schedule": steps / schedules,
        "calls_a_schedule": calls / schedules,
        "failed": failed,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--schedules", type=int, default=500, help="of each workload")
    parser.add_argument("--clock", default="boot", choices=["boot", "server", "client"])
    parser.add_argument("--json", action="store_true")
    settings = parser.parse_args()
    rows = [measured(settings.clock, settings.schedules, number) for number in range(len(WORKLOADS))]
    if settings.json:
        print(json.dumps(rows, indent=1))
        return
    fastest = min(row["seconds"] for row in rows)
    for row in rows:
        print(
            f"{row['workload']:8} {row['schedules_a_minute']:9,.0f} schedules a minute "
            f"({row['seconds'] / fastest:.2f} x the fastest), {row['steps_a_schedule']:.0f} steps "
            f"and {row['calls_a_schedule']:.0f} calls each, {row['failed']} failed"
        )
    total = sum(row["schedules"] for row in rows)
    print(f"all      {60 * total / sum(row['seconds'] for row in rows):9,.0f} schedules a minute, {total} in all")


if __name__ == "__main__":
    main()
