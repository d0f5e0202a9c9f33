"""A log of a million entries streams in bounded memory, and one entry is read without those before it."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import resource, sys, holdall

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    entries = int(sys.argv[2])
    with holdall.open_store(sys.argv[1]) as store:
        for start in range(0, entries, 1_000):
            store.append("s", "log", [{"n": number, "text": "x" * 100} for number in range(start, start + 1_000)])
        before = peak()
        count = sum(1 for number, entry in enumerate(store.iter_entries("s", "log")) if entry.value["n"] == number)
        assert count == entries, count
        assert [entry.position for entry in store.tail("s", "log", 3)] == [entries - 3, entries - 2, entries - 1]
        half = entries // 2
        assert [entry.value["n"] for entry in store.read("s", "log", half, 2)] == [half, half + 1]
        assert sum(1 for _ in store.follow("s", "log", entries - 5, timeout=0)) == 5
        print(round(peak() - before, 1))
"""


@pytest.mark.parametrize(
    "backend,entries", [("sqlite:///{}/long.db?durability=relaxed", 1_000_000), ("memory://long?derived=true", 20_000)]
)
def test_streaming_takes_bounded_memory(tmp_path, backend, entries):
    command = [sys.executable, "-c", textwrap.dedent(PROGRAM), backend.format(tmp_path), str(entries)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 40
