"""What `holdall copy` takes between SQLite and files: time, and the most memory that the process ever had.

    python benchmarks/copying.py [--records 1000000] [--entries 1000000] [--json]

Makes a source in SQLite, copies it into a folder and that into another database, each copy verified by digests. Memory
is what the system calls the high-water mark of the resident set, so it runs on Linux.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import holdall

BATCH = 1_000
LOOK = 0.02


def fill(url: str, records: int, entries: int) -> None:
    """Write small records of one scope, and a log of small entries."""
    with holdall.open_store(url) as store:
        for start in range(0, records, BATCH):
            numbers = range(start, min(start + BATCH, records))
            store.put_many("users", {f"user:{n:07}": {"name": f"n{n}", "n": n, "text": "x" * 60} for n in numbers})
        for start in range(0, entries, BATCH):
            numbers = range(start, min(start + BATCH, entries))
            store.append("sessions", "log", [{"role": "user", "n": n, "text": "y" * 80} for n in numbers])


def peak_of(pid: int) -> int:
    """Return the most memory that a process ever had, in bytes; 0 when it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)


def copy(source: str, destination: str) -> dict[str, Any]:
    """Copy, and return the time in seconds, the memory in MB, and what the command said."""
    started, peak = time.monotonic(), 0
    command = [sys.executable, "-m", "holdall.cli", "copy", "--json", source, destination]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            peak = max(peak, peak_of(process.pid))
            time.sleep(LOOK)
        said = json.loads(process.stdout.read()) if process.stdout else {}
    if process.returncode:
        raise RuntimeError(f"the copy failed with status {process.returncode}")
    return {"seconds": round(time.monotonic() - started, 1), "peak_mb": round(peak / 1e6, 1), "said": said}


def main() -> None:
    parser = argparse.ArgumentParser(description="time and memory of holdall copy between SQLite and files")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--entries", type=int, default=1_000_000)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        source, files, back = (f"sqlite:///{name}/source.db", f"file://{name}/files", f"sqlite:///{name}/back.db")
        relaxed = "?durability=relaxed"
        fill(source + relaxed, chosen.records, chosen.entries)
        results = {
            "sqlite to file": copy(source, files + relaxed),
            "file to sqlite": copy(files, back + relaxed),
        }
    if chosen.json:
        print(json.dumps(results, indent=1))
        return
    for way, result in results.items():
        print(f"{way}: {result['seconds']} s, {result['peak_mb']} MB at most")


if __name__ == "__main__":
    main()
