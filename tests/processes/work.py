"""What the child processes of these tests do."""

from __future__ import annotations

import os
import resource
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

import holdall
from holdall import ABSENT, HoldallError, clock, plugins
from holdall.clock import boot_time
from holdall_adapters.file import files
from holdall_conformance.children import PATIENCE, Parent, wait_until
from holdall_conformance.harness import Harness
from holdall_conformance.scenarios.processes_leases_work import lease_from, lease_to

NOBODY = 65_534
KILLED_MANY = 30


def url_in(scheme: str, path: Path) -> str:
    """Return the URL of an embedded storage at an absolute path."""
    return f"sqlite:///{path}" if scheme == "sqlite" else f"{scheme}://{path}"


def open_again_and_again(parent: Parent, harness: Harness, number: int) -> None:
    """Open every file that the parent names at the moment it names, and write to it at once."""
    parent.say("ready")
    while (order := parent.hear()) is not None:
        url, moment = order
        wait_until(moment)
        parent.say(open_and_write(url, f"process-{number}"))


def open_and_write(url: str, name: str) -> str:
    """Open a store and a lock, write with both, and say what went wrong."""
    try:
        with holdall.open_store(url) as store, holdall.open_lock(url) as lock:
            store.put("s", name, name, expect=ABSENT)
            store.append("s", "log", [name])
            lease = lock.acquire(name, ttl=PATIENCE, timeout=0)
            lock.release(lease)
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
        return repr(error)
    return ""


def resolve_at_once(parent: Parent, harness: Harness) -> None:
    """Resolve a scheme for the first time in many threads."""
    sys.setswitchinterval(1e-6)
    together, found, errors = threading.Barrier(20, timeout=PATIENCE), [], []

    def resolve() -> None:
        together.wait()
        try:
            adapter = plugins.load_adapter("sqlite")
            with holdall.open_store(harness.url) as store:
                store.ping()
            found.append(id(adapter))
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
            errors.append(repr(error))

    threads = [threading.Thread(target=resolve) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    registered = [plugin for plugin in plugins.manager.get_plugins() if hasattr(plugin, "holdall_adapter")]
    parent.say([len(found), len(set(found)), len(registered), errors])


def _boot(folder: Path, name: str, seconds: float, wall_step: float) -> None:
    """Let this process believe that the machine has booted anew."""
    file = folder / f"boot-{name}"
    file.write_text(name)
    clock._LINUX_BOOT_ID = file
    clock.boot_id.cache_clear()
    real, started, wall = time.clock_gettime, time.clock_gettime(time.CLOCK_BOOTTIME), time.time

    def clock_gettime(which: int) -> float:
        return real(which) - started + seconds if which == time.CLOCK_BOOTTIME else real(which)

    time.clock_gettime = clock_gettime
    time.time = lambda: wall() + wall_step


def write_before_boot(parent: Parent, harness: Harness, folder: str) -> None:
    """Write what is to be judged after the next boot."""
    _boot(Path(folder), "first", 1_000_000.0, 0.0)
    store, lock = harness.store, harness.lock
    store.put("s", "long", "long", ttl=1_000)
    store.put("s", "short", "short", ttl=100)
    store.put("s", "for-ever", "for ever")
    lease = lock.acquire("key", ttl=100_000, timeout=0)
    store.put("s", "fenced", "old", fence=lease)
    store.append("s", "log", [1, 2, 3], fence=lease, batch_id="batch")
    parent.say(lease_to(lease))


def look_after_boot(
    parent: Parent, harness: Harness, folder: str, wall_step: float, message: dict[str, Any], name: str
) -> None:
    """Say what is there after another boot."""
    _boot(Path(folder), name, 5.0, wall_step)
    store, lock, former = harness.store, harness.lock, lease_from(message)
    long, short = store.get("s", "long"), store.get("s", "short")
    held = lock.held("key")
    released = lock.release(former)
    try:
        lock.renew(former)
        renewed = "renewed"
    except HoldallError as error:
        renewed = type(error).__name__
    lease = lock.acquire("key", ttl=100_000, timeout=0)
    store.seal("s", "fenced", lease)
    again = store.append("s", "log", [1, 2, 3], batch_id="batch")
    parent.say(
        {
            "long": None if long is None else long.expires_in,
            "short": None if short is None else short.expires_in,
            "for ever": store.get("s", "for-ever") is not None,
            "held": held,
            "released": released,
            "renewed": renewed,
            "token": lease.token,
            "again": [again.start, len(store.read("s", "log"))],
        }
    )


def outgrow_limit(parent: Parent, harness: Harness, kind: str, growth: int) -> None:
    """Write until a limit on the size of files is met; say what was acknowledged, and the error."""
    store, written = harness.store, 0
    store.put("s", "fixed", "value")
    limit = largest_file(harness.url) + growth
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    error = fill(store, kind)
    written = error[1]
    value = store.get("s", "fixed")
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.put("s", "after", "value")
    parent.say([error[0], written, None if value is None else value.value])


def largest_file(url: str) -> int:
    """Return the size of the largest file of a storage that `url_in` names."""
    scheme, _, path = url.partition("://")
    files = Path(path[1:]).parent.iterdir() if scheme == "sqlite" else Path(path).rglob("*")
    return max(file.stat().st_size for file in files if file.is_file())


def fill(store: Any, kind: str) -> tuple[str, int]:
    """Write until it fails; return the error and how many writes were acknowledged."""
    for number in range(10_000):
        try:
            if kind == "put":
                store.put("s", f"k{number:05}", "x" * 20_000)
            else:
                store.append("s", "log", ["x" * 10_000, "y" * 10_000])
        except HoldallError as error:
            return type(error).__name__, number
        except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
            return f"RAW {error!r}", number
    return "none", number


def use_as_nobody(parent: Parent, harness: Harness, operation: str) -> None:
    """Open the storage without the right to write, and say what comes of it."""
    holdall.open_store("memory://warm").close()
    plugins.load_adapter("sqlite")
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    try:
        with holdall.open_store(harness.url) as store:
            if operation == "put":
                store.put("s", "k", "new")
            else:
                record = store.get("s", "k")
                parent.say(["read", None if record is None else record.value])
                return
    except HoldallError as error:
        parent.say([type(error).__name__, str(error)])
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
        parent.say([f"RAW {error!r}", ""])
    else:
        parent.say(["written", ""])


def cut_large_log(parent: Parent, harness: Harness, operation: str) -> None:
    """Truncate or drop a log of many rows at the parent's word, and say when it is done."""
    store = harness.store
    store.head("s", "log")
    parent.say("ready")
    before = parent.hear()
    if operation == "drop":
        store.drop("s", "log")
    else:
        store.truncate("s", "log", before)
    parent.say("done")
    parent.hear()


def put_many_again_and_again(parent: Parent, harness: Harness, scope: str) -> None:
    """Write the same records round by round, and say after each round which it was."""
    for number in range(1_000):
        value = {"round": number, "filling": "x" * 500}
        harness.store.put_many(scope, {f"k{key:02}": value for key in range(KILLED_MANY)})
        parent.say(number)


def sweep_until_told(parent: Parent, harness: Harness, number: int) -> None:
    """Sweep again and again until the parent says something; say how often."""
    parent.say("ready")
    count = 0
    while not parent.told():
        harness.store.sweep()
        count += 1
    parent.hear()
    parent.say(count)


def run_out_of_descriptors(parent: Parent, harness: Harness) -> None:
    """Do everything with fewer and fewer descriptors; say which errors came, and what is there afterwards."""
    store, lock, errors = harness.store, harness.lock, []
    store.put("s", "fixed", "value")
    store.append("s", "log", [1], batch_id="b")
    uses = (
        lambda: store.put("s", "k", 1),
        lambda: store.get("s", "fixed"),
        lambda: store.append("s", "log", [2], batch_id="c"),
        lambda: store.append("s", "new", [1]),
        lambda: store.read("s", "log"),
        lambda: store.put_many("new", {"k" * 200: 1}),
        lambda: list(store.iter_keys("s")),
        lambda: lock.try_acquire("k"),
        lambda: lock.set_flag("f"),
        lambda: harness.open_store(),
    )
    taken = [os.open("/dev/null", os.O_RDONLY)]
    while len(taken) < 60:
        taken.append(os.open("/dev/null", os.O_RDONLY))
    for room in range(6):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(taken) + 1 + room, 4_096))
        for use in uses:
            try:
                use()
            except HoldallError as error:
                errors.append(type(error).__name__)
            except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
                errors.append(repr(error))
    resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, 4_096))
    record = store.get("s", "fixed")
    assert store.append("s", "log", [1], batch_id="b").start == 0
    parent.say([errors, None if record is None else record.value])


def wait_in_guard(parent: Parent, harness: Harness, scope: str, key: str) -> None:
    """Append to a log, and wait in the midst of it, before the disk has it."""
    wait = files.sync_data

    def waiting(descriptor: int) -> None:
        parent.say("in the guard")
        parent.hear()
        wait(descriptor)

    harness.store.append(scope, key, [0])
    files.sync_data = waiting
    harness.store.append(scope, key, [1])
    parent.say("done")


def write_elsewhere(parent: Parent, harness: Harness) -> None:
    """Write once, without much patience."""
    with harness.open_store(timeout=5.0) as store:
        store.put("s", "elsewhere", 1)
    parent.say("written")


def integrity(path: Path) -> None:
    """Demand that a database file is sound."""
    connection = sqlite3.connect(path, timeout=PATIENCE)
    try:
        found = connection.execute("PRAGMA integrity_check").fetchall()
    finally:
        connection.close()
    assert found == [("ok",)]


def waited(started: float) -> float:
    """Return the seconds since a moment of the boot clock."""
    return boot_time() - started
