"""The embedded adapters beside hand-written code that gives the same guarantees, in one run, alternating.

    python benchmarks/embedded.py [--quick] [--json]

The floor of SQLite is plain `sqlite3`: the same tables, the same durability, one prepared statement with version,
expiry and mark, and orjson for the value. The floor of files is plain `os`: for a record and a lease a temporary file,
fsync, rename and an fsync of the folder, for an append one write and fdatasync, all under a `flock`. That of memory
is a dict of orjson bytes. Figures are microseconds at the median of the operation, and the ratio of the medians of
holdall and floor, round by round.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import sqlite3
import statistics
import tempfile
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

import holdall

VALUE = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "Grüße aus Kyōto: " + "the parcel leaves on Monday, and the invoice follows. " * 12},
        {
            "type": "tool_call",
            "id": "call_17",
            "name": "search",
            "arguments": {"query": "ferry", "limit": 10, "near": 1.5},
        },
    ],
    "usage": {"input": 1200, "output": 83},
}
Case = tuple[str, Callable[[int], Any], Callable[[int], Any], int]


class Floor:
    """What a careful user would write by hand for SQLite."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.db = sqlite3.connect(path, isolation_level=None)
        self.db.text_factory = bytes
        self.db.execute("PRAGMA journal_mode = WAL")
        self.db.execute(f"PRAGMA synchronous = {synchronous}")
        self.db.create_function("now", 0, lambda: time.clock_gettime(time.CLOCK_BOOTTIME))
        for statement in (
            "CREATE TABLE r (scope TEXT, key TEXT, payload TEXT, version TEXT, expires REAL, mark INTEGER)",
            "CREATE UNIQUE INDEX ri ON r (scope, key)",
            "CREATE TABLE l (id INTEGER PRIMARY KEY, scope TEXT, key TEXT, incarnation TEXT, mark INTEGER)",
            "CREATE UNIQUE INDEX li ON l (scope, key)",
            "CREATE TABLE b (id INTEGER PRIMARY KEY, count INTEGER, payload TEXT)",
            "CREATE TABLE k (key TEXT PRIMARY KEY, nonce TEXT, token INTEGER, expires REAL) WITHOUT ROWID",
            "INSERT INTO l (scope, key, incarnation, mark) VALUES ('s', 'log', 'i', 0)",
        ):
            self.db.execute(statement)

    def put(self, key: str) -> str:
        version = os.urandom(16).hex()
        self.db.execute(
            "INSERT INTO r VALUES ('s', ?, CAST(? AS TEXT), ?, NULL, 0) ON CONFLICT (scope, key) DO UPDATE SET"
            " payload = excluded.payload, version = excluded.version, expires = excluded.expires",
            (key, orjson.dumps(VALUE), version),
        )
        return version

    def get(self, key: str) -> Any:
        statement = "SELECT payload, version, expires FROM r WHERE scope = 's' AND key = ?"
        row = self.db.execute(statement, (key,)).fetchone()
        return orjson.loads(row[0]), row[1].decode()

    def append(self, count: int) -> int:
        payload = b"\n".join([orjson.dumps(VALUE) for _ in range(count)])
        rows = self.db.execute(
            "INSERT INTO b SELECT (l.id << 36) | coalesce((SELECT (b.id & 68719476735) + b.count FROM b WHERE"
            " b.id >= l.id << 36 AND b.id < (l.id + 1) << 36 ORDER BY b.id DESC LIMIT 1), 0), ?, CAST(? AS TEXT)"
            " FROM l WHERE scope = 's' AND key = 'log' RETURNING id & 68719476735",
            (count, payload),
        ).fetchall()
        return rows[0][0]

    def read(self, start: int, count: int) -> list[Any]:
        found: list[Any] = []
        statement = "SELECT id & 68719476735, payload FROM b WHERE id >= ? ORDER BY id"
        cursor = self.db.execute(statement, ((1 << 36) | start,))
        for _, payload in cursor:
            found += map(orjson.loads, payload.split(b"\n"))
            if len(found) >= count:
                break
        cursor.close()
        return found[:count]

    def pair(self) -> None:
        nonce = os.urandom(16).hex()
        self.db.execute(
            "INSERT INTO k VALUES ('k', ?, 1, now() + 60) ON CONFLICT (key) DO UPDATE SET nonce = excluded.nonce,"
            " token = token + 1, expires = excluded.expires WHERE nonce IS NULL OR expires <= now() RETURNING token",
            (nonce,),
        ).fetchall()
        release = "UPDATE k SET nonce = NULL WHERE key = 'k' AND nonce = ? AND expires > now() RETURNING 1"
        self.db.execute(release, (nonce,)).fetchall()


class FileFloor:
    """What a careful user would write by hand for files: guarded, atomic, synced, and no more."""

    def __init__(self, folder: Path, *, durable: bool) -> None:
        folder.mkdir()
        self.folder, self.durable = str(folder), durable
        self.guard = os.open(folder / "guard", os.O_CREAT | os.O_RDWR)
        self.directory = os.open(folder, os.O_RDONLY)
        self.log = os.open(folder / "log", os.O_CREAT | os.O_RDWR)
        self.end = self.length = 0
        self.offsets: list[int] = []

    def _replace(self, name: str, content: bytes) -> None:
        draft = f"{self.folder}/{os.urandom(16).hex()}"
        descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        os.write(descriptor, content)
        if self.durable:
            os.fsync(descriptor)
        os.close(descriptor)
        os.rename(draft, f"{self.folder}/{name}")  # noqa: PTH104 - the floor is plain `os`
        if self.durable:
            os.fsync(self.directory)

    def _read(self, name: str) -> bytes | None:
        try:
            descriptor = os.open(f"{self.folder}/{name}", os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            return os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    def put(self, key: str) -> str:
        version = os.urandom(16).hex()
        fcntl.flock(self.guard, fcntl.LOCK_EX)
        found = self._read(key)
        mark = 0 if found is None else orjson.loads(found.partition(b"\n")[0])["mark"]
        about = {"version": version, "expires": None, "mark": mark}
        payload = orjson.dumps(VALUE)
        about["crc"] = zlib.crc32(payload)
        self._replace(key, orjson.dumps(about) + b"\n" + payload)
        fcntl.flock(self.guard, fcntl.LOCK_UN)
        return version

    def get(self, key: str) -> Any:
        about, _, payload = (self._read(key) or b"").partition(b"\n")
        found = orjson.loads(about)
        if found["crc"] != zlib.crc32(payload):
            raise ValueError
        return orjson.loads(payload), found["version"]

    def append(self, count: int) -> int:
        fcntl.flock(self.guard, fcntl.LOCK_EX)
        lines: list[bytes] = []
        for position in range(self.length, self.length + count):
            lines.append(b'{"p":%d,"v":%b}\n' % (position, orjson.dumps(VALUE)))
            self.offsets.append(self.end)
            self.end += len(lines[-1])
        data = b"".join(lines)
        data += b'{"commit":%d,"crc":%d}\n' % (count, zlib.crc32(data))
        os.pwrite(self.log, data, os.fstat(self.log).st_size)
        if self.durable:
            os.fdatasync(self.log)
        self.end, self.length = os.fstat(self.log).st_size, self.length + count
        fcntl.flock(self.guard, fcntl.LOCK_UN)
        return self.length - count

    def read(self, start: int, count: int) -> list[Any]:
        found: list[Any] = []
        data = os.pread(self.log, 2**21, self.offsets[start])
        for line in data.split(b"\n"):
            if line.startswith(b'{"p":'):
                found.append(orjson.loads(line)["v"])
                if len(found) == count:
                    break
        return found

    def pair(self) -> None:
        for owner in (os.urandom(16).hex(), None):
            fcntl.flock(self.guard, fcntl.LOCK_EX)
            found = self._read("lease")
            token = 1 if found is None else orjson.loads(found)["token"] + 1
            self._replace("lease", orjson.dumps({"owner": owner, "token": token, "expires": time.monotonic() + 60}))
            fcntl.flock(self.guard, fcntl.LOCK_UN)


def pair(lock: holdall.Lock) -> None:
    lease = lock.try_acquire("k")
    if lease is None or not lock.release(lease):
        raise RuntimeError("the lease was not to be had")


def sqlite_cases(folder: Path, durability: str) -> list[Case]:
    store = holdall.open_store(f"sqlite:///{folder}/{durability}.db?durability={durability}")
    return cases(store, Floor(folder / f"{durability}-floor.db", "FULL" if durability == "full" else "NORMAL"))


def file_cases(folder: Path, durability: str) -> list[Case]:
    store = holdall.open_store(f"file://{folder}/files-{durability}?durability={durability}")
    return cases(store, FileFloor(folder / f"floor-{durability}", durable=durability == "full"))


def cases(store: holdall.Store, floor: Floor | FileFloor) -> list[Case]:
    lock = holdall.open_lock(store)
    return [
        ("put", lambda n: store.put("s", f"k{n % 100}", VALUE), lambda n: floor.put(f"k{n % 100}"), 300),
        ("get", lambda n: store.get("s", f"k{n % 100}"), lambda n: floor.get(f"k{n % 100}"), 300),
        ("append 1", lambda n: store.append("s", "log", [VALUE]), lambda n: floor.append(1), 300),
        ("append 100", lambda n: store.append("s", "log", [VALUE] * 100), lambda n: floor.append(100), 20),
        ("read 1,000", lambda n: store.read("s", "log", 0, 1_000), lambda n: floor.read(0, 1_000), 5),
        ("lease pair", lambda n: pair(lock), lambda n: floor.pair(), 200),
    ]


def memory_cases() -> list[Case]:
    store = holdall.open_store("memory://bench")
    bare: dict[tuple[str, str], tuple[bytes, str]] = {}

    def put(n: int) -> None:
        bare["s", f"k{n % 100}"] = orjson.dumps(VALUE), os.urandom(16).hex()

    return [
        ("put", lambda n: store.put("s", f"k{n % 100}", VALUE), put, 500),
        ("get", lambda n: store.get("s", f"k{n % 100}"), lambda n: orjson.loads(bare["s", f"k{n % 100}"][0]), 500),
    ]


def median(call: Callable[[int], Any], count: int) -> float:
    times: list[int] = []
    for number in range(count):
        started = time.perf_counter_ns()
        call(number)
        times.append(time.perf_counter_ns() - started)
    return statistics.median(times) / 1000


def row_of(adapter: str, operation: str, pairs: list[tuple[float, float]]) -> dict[str, Any]:
    ratios = [left / right for left, right in pairs]
    return {
        "adapter": adapter,
        "operation": operation,
        "holdall_us": round(statistics.median(left for left, _ in pairs), 1),
        "floor_us": round(statistics.median(right for _, right in pairs), 1),
        "ratio": round(statistics.median(ratios), 2),
        "from": round(min(ratios), 2),
        "to": round(max(ratios), 2),
    }


def show(rows: list[dict[str, Any]], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=1))
        return
    print(f"{'adapter':40} {'operation':14} {'holdall':>10} {'floor':>10} {'ratio':>7}  spread")
    for row in rows:
        print(
            f"{row['adapter']:40} {row['operation']:14} {row['holdall_us']:>10} {row['floor_us']:>10} {row['ratio']:>7}"
            f"  {row['from']}-{row['to']}"
        )


def measure(name: str, cases: list[Case], rounds: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for operation, ours, floor, count in cases:
        pairs = [(median(ours, count), median(floor, count)) for _ in range(rounds + 1)][1:]
        rows.append(row_of(name, operation, pairs))
    return rows


def long_log(url: str, entries: int) -> list[dict[str, Any]]:
    """Append and tail on a log of ten entries and on a long one."""
    store = holdall.open_store(url)
    store.append("s", "short", ["x" * 200] * 10)
    for _ in range(entries // 1_000):
        store.append("s", "long", ["x" * 200] * 1_000)
    rows: list[dict[str, Any]] = []
    cases = [
        ("append 1", lambda key: store.append("s", key, ["x" * 200])),
        ("tail 10", lambda key: store.tail("s", key, 10)),
    ]
    for operation, call in cases:
        for key in ("short", "long"):
            for _ in range(10):
                store.append("s", key, ["x" * 200])
        pairs = [
            (median(lambda _, c=call: c("long"), 300), median(lambda _, c=call: c("short"), 300)) for _ in range(5)
        ]
        rows.append(row_of(f"{store.adapter}, log of {entries:,} against 10", operation, pairs))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="embedded adapters beside hand-written code")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, a shorter long log")
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    rounds = 3 if chosen.quick else 11
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = measure("memory", memory_cases(), rounds)
        rows += measure("sqlite relaxed", sqlite_cases(folder, "relaxed"), rounds)
        rows += measure("sqlite full", sqlite_cases(folder, "full"), rounds)
        rows += measure("files relaxed", file_cases(folder, "relaxed"), rounds)
        rows += measure("files full", file_cases(folder, "full"), rounds)
        rows += long_log(f"file://{folder}/long?durability=relaxed", 50_000 if chosen.quick else 1_000_000)
        rows += long_log(f"sqlite:///{folder}/long.db?durability=relaxed", 50_000 if chosen.quick else 1_000_000)
    show(rows, as_json=chosen.json)


if __name__ == "__main__":
    main()
