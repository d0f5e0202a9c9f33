"""What `import holdall` costs beside a bare interpreter, in milliseconds at the median, alternating in one run.

python benchmarks/import_time.py [--json]
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

ROUNDS = 21


def run(code: str) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return (time.perf_counter() - started) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description="what `import holdall` costs")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    pairs = [(run("pass"), run("import holdall")) for _ in range(ROUNDS + 1)][1:]
    row = {
        "bare_ms": round(statistics.median(bare for bare, _ in pairs), 1),
        "holdall_ms": round(statistics.median(ours for _, ours in pairs), 1),
        "more_ms": round(statistics.median(ours - bare for bare, ours in pairs), 1),
    }
    print(json.dumps(row) if chosen.json else f"bare {row['bare_ms']} ms, with holdall {row['more_ms']} ms more")


if __name__ == "__main__":
    main()
