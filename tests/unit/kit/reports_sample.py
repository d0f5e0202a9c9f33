"""Reports made by hand, for the tests of their forms."""

from __future__ import annotations

from dataclasses import replace

from holdall_conformance.results import Report, Result

HOSTILE = (
    "</title><script>alert('x')</script>&amp;\"'\x00\x1b[31m\x07\u202e\ud800\ufffe\uffff\x85\U000e0001 $title {0} %s"
)
LONG = "Expected the log to hold entries 0 to 999 and found a gap.\n\n" + "\n".join(
    f"  step {number:03}: append(scope='kit-5f1c', key='a', entries=[{number}], expect=Head(first=0, length={number}))"
    for number in range(60)
)


def result(name="values.exact", outcome="passed", side="sync", **settings):
    settings.setdefault("proves", f"What {name} says holds on every handle and for every value that JSON has.")
    settings.setdefault("seconds", 0.0123)
    settings.setdefault("level", "base")
    return Result(id=name, side=side, outcome=outcome, **settings)


def both_sides(*results):
    return [*results, *(replace(each, side="async", seconds=each.seconds * 2) for each in results)]


def report(results=(), **settings):
    known = {
        "subject": "postgresql://app@db.example/test",
        "adapter": "postgres",
        "level": "full",
        "complete": True,
        "seed": 20_261_130,
        "effort": 1.0,
        "started": "2026-11-30T17:34:51+01:00",
        "seconds": 83.4,
        "versions": {"holdall": "0.1.0", "Python": "3.11.2", "psycopg": "3.2.3", "holdall-postgres": "0.1.0"},
        "environment": {"system": "Linux 6.1 x86_64", "processors": "2", "container": "no"},
        "capabilities": {
            "persistent": True,
            "atomic_commit": False,
            "max_commit_operations": 1,
            "expiry_clock": "server",
            "expiry_margin": 0.25,
            "min_ttl": 0.01,
            "max_value_bytes": 16 * 2**20,
            "max_batch_entries": 10_000,
        },
        "results": tuple(results),
    }
    return Report(**{**known, **settings})


def green():
    groups = ["batches", "concurrency", "crash", "expiry", "keys", "leases", "logs", "records", "values", "versions"]
    passed = [result(f"{group}.clause-{number}", seconds=0.01 * number) for group in groups for number in range(1, 8)]
    absent = [
        result(f"{group}.many-{number}", "absent", reason="needs atomic_commit", seconds=0.0)
        for group in ("commits", "transactions")
        for number in range(7)
    ]
    return report(
        both_sides(*passed, *absent), remarks=("The scope kit-5f1c was left behind: the backend refused to clear it.",)
    )


def mixed():
    failed = [
        result(
            "logs.no-gaps-between-racing-writers",
            "failed",
            reason="the entries 998 and 1000 stand beside each other",
            detail=LONG,
            hint="Look at how the position of a batch is chosen: two writers of batches of different sizes overlap.",
        ),
        result("values.exact-floats", "failed", side="async", level="full", reason="assert 1 == 1.0", detail="x" * 400),
    ]
    absent = [
        result("commits.all-or-nothing", "absent", reason="needs atomic_commit", seconds=0.0),
        result("commits.all-or-nothing", "absent", side="async", reason="needs atomic_commit", seconds=0.0),
        result("logs.trimmed", "absent", side="async", reason="the operation truncate raises Unsupported", seconds=0.0),
        result("fork.reopens", "absent", seconds=0.0),
    ]
    passed = both_sides(result("records.read-back"), result("records.absent", seconds=12.5), result("values.exact"))
    return report(
        [*passed, *failed, *absent], absent_operations=("truncate",), remarks=("One child process had to be killed.",)
    )


def hostile():
    results = [
        result(
            "values.x",
            "failed",
            reason=HOSTILE,
            detail=f"{HOSTILE}\n\tsecond line\r\nthird",
            hint=HOSTILE,
            proves=HOSTILE,
        ),
        result("keys.y", "absent", reason=HOSTILE),
        result(f"z{HOSTILE}.z{HOSTILE}", proves=HOSTILE),
    ]
    return report(
        results,
        subject=f"mem://{HOSTILE}",
        adapter=HOSTILE,
        started=HOSTILE,
        versions={HOSTILE: HOSTILE},
        environment={HOSTILE: HOSTILE},
        capabilities={HOSTILE: HOSTILE, "expiry_clock": HOSTILE},
        absent_operations=(HOSTILE,),
        remarks=(HOSTILE,),
    )
