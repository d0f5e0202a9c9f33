"""Runs the clauses on the broken backends, records which caught them, and writes `docs/reference/broken.md`.

python tools/broken_table.py            # only writes the page, from what was recorded
python tools/broken_table.py --record   # all of them anew, about fifteen minutes
python tools/broken_table.py --record lost-update immortal
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
from pathlib import Path

from holdall_conformance.broken import registry
from holdall_conformance.broken.registry import Broken, all_broken
from holdall_conformance.broken.table import page
from holdall_conformance.broken.trying import HANGS, clauses_for, is_a_mistake, try_broken

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/reference/broken.md"
RECORD = Path(registry.__file__).with_name("caught.json")
PATIENCE = 8.0
"""Seconds after which a clause counts as hanging while it is recorded."""
KEPT = 3
"""How many clauses are kept for each, the fastest first."""


def record(broken: Broken) -> list[tuple[str, bool]]:
    """Run every clause of its groups on a broken backend and return those that failed, and whether they hung."""
    found: list[tuple[bool, float, str]] = []
    for scenario in clauses_for(broken):
        with tempfile.TemporaryDirectory(prefix="broken-", ignore_cleanup_errors=True) as folder:
            result = try_broken(broken, scenario, Path(folder), PATIENCE)
        if result.outcome != "failed":
            continue
        if is_a_mistake(result):
            print(f"{broken.id}: {scenario.id} failed by mistake: {result.reason}", file=sys.stderr)
            continue
        found.append((result.reason.startswith(HANGS), result.seconds, scenario.id))
        if len(found) >= KEPT and not all(hangs for hangs, _, _ in found):
            break
        if sum(hangs for hangs, _, _ in found) >= 2:
            break
    return [(clause, hangs) for hangs, _, clause in sorted(found)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", nargs="*", metavar="ID", help="run the clauses, on these or on all")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if options.record is not None:
        for broken in all_broken():
            if not options.record or broken.id in options.record:
                found = record(broken)
                print(f"{broken.id}: {', '.join(clause for clause, _ in found) or 'NOT CAUGHT'}", flush=True)
                save({broken.id: found})
    save({})
    registry.caught.cache_clear()
    PAGE.write_text(page())


def save(fresh: dict[str, list[tuple[str, bool]]]) -> None:
    """Put what was found into the record, in which only backends that still exist stay."""
    known: dict[str, list[tuple[str, bool]]] = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    known |= fresh
    ids = [broken.id for broken in all_broken()]
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(ids) if name in known]
    fresh_file = RECORD.with_suffix(f".{os.getpid()}")
    fresh_file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    fresh_file.replace(RECORD)


if __name__ == "__main__":
    main()
