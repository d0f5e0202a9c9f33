"""A forked child that opens the parent's database anew, as it is told to: nothing is lost, nothing hangs.

SQLite keeps its file locks in a table of the process, which a child inherits; with connections open at the fork, writes
of both sides were lost without an error.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

CHILD_OUTLIVES_CLOSE = """
    import os, sys, time, holdall
    url = sys.argv[1]
    parent = holdall.open_store(url)
    parent.put("a", "start", 1)
    lock = holdall.open_lock(parent)
    hold = lock.hold("held", ttl=5, heartbeat=0.01)
    hold.__enter__()
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        with holdall.open_store(url) as mine:
            mine.put("a", "first", 1)
            os.write(writable, b"x")
            time.sleep(0.4)
            for number in range(100):
                mine.put("a", f"child-{number}", number)
        os._exit(0)
    os.read(readable, 1)
    for number in range(50):
        parent.put("a", f"parent-{number}", number)
    hold.__exit__(None, None, None)
    parent.close()
    assert os.waitpid(pid, 0)[1] == 0
    with holdall.open_store(url) as after:
        assert len(after.keys("a").items) == 152, len(after.keys("a").items)
"""

FORKS_AMID_WRITES = """
    import os, sys, threading, time, holdall
    url = sys.argv[1]
    store = holdall.open_store(url)
    stop, written = threading.Event(), [0, 0, 0]

    def write(worker):
        while not stop.is_set():
            store.put("w", f"{worker}-{written[worker]}", "x" * 500)
            written[worker] += 1

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(3)]
    for thread in threads:
        thread.start()
    for number in range(20):
        pid = os.fork()
        if pid == 0:
            with holdall.open_store(url, timeout=20) as mine:
                mine.put("child", str(number), number)
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0
    stop.set()
    for thread in threads:
        thread.join()
    assert len(store.keys("child").items) == 20
    assert sum(1 for _ in store.iter_keys("w")) == sum(written)
"""


@pytest.mark.parametrize(
    "program", [CHILD_OUTLIVES_CLOSE, FORKS_AMID_WRITES], ids=["parent-closes-first", "amid-writes"]
)
def test_a_child_that_opens_anew_loses_nothing(program, tmp_path):
    command = [sys.executable, "-c", textwrap.dedent(program), f"sqlite:///{tmp_path}/x.db"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_memory_opened_in_a_child_is_new_and_never_hangs():
    program = """
        import os, threading, holdall
        store = holdall.open_store("memory://shared")
        stop = threading.Event()

        def write():
            while not stop.is_set():
                store.put("s", "k", "x" * 10_000)

        thread = threading.Thread(target=write)
        thread.start()
        for _ in range(50):
            pid = os.fork()
            if pid == 0:
                with holdall.open_store("memory://shared") as mine:
                    assert mine.get("s", "k") is None
                os._exit(0)
            assert os.waitpid(pid, 0)[1] == 0
        stop.set()
        thread.join()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
