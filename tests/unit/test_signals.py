"""Signal handlers that use a store, or raise as Ctrl-C does, at any moment: nothing hangs, nothing is torn."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

USE = """
    import faulthandler, os, random, signal, sys, time, holdall
    faulthandler.dump_traceback_later(40, exit=True)
    url, mode = sys.argv[1:]

    class Interrupt(BaseException):
        pass

    def handler(*_):
        if mode == "raise":
            raise Interrupt
        store.get("s", "k")

    store = holdall.open_store(url)
    store.put("s", "k", 1)
    signal.signal(signal.SIGALRM, handler)
    ends = time.monotonic() + 2

    def read_until_the_end():
        while time.monotonic() < ends:
            signal.setitimer(signal.ITIMER_REAL, 0.0002 + random.random() * 0.001)
            for _ in range(60):
                store.get("s", "k")
            while signal.getitimer(signal.ITIMER_REAL)[0]:
                time.sleep(0.0002)

    while time.monotonic() < ends:
        try:
            read_until_the_end()
        except Interrupt:
            continue
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_REAL, 0)
    assert store.get("s", "k").value == 1
    started = time.monotonic()
    if os.fork() == 0:
        with holdall.open_store("memory://child"):
            os._exit(0)
    assert os.wait()[1] == 0
    assert time.monotonic() - started < 20
"""

TORN = """
    import random, signal, time, holdall
    from holdall import Append, Put

    class Interrupt(BaseException):
        pass

    def handler(*_):
        raise Interrupt

    store = holdall.open_store("memory://")
    signal.signal(signal.SIGALRM, handler)
    ends, number, interrupted = time.monotonic() + 2, 0, 0
    while time.monotonic() < ends:
        number += 1
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0002 + random.random() * 0.001)
            puts = [Put("c", f"k{index}", number) for index in range(60)]
            store.commit([*puts, Append("c", "log", [number] * 3, batch_id=str(number))])
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Interrupt:
            interrupted += 1
        signal.setitimer(signal.ITIMER_REAL, 0)
        assert len({record.value for record in store.scan("c").items}) <= 1
    entries = [entry.value for entry in store.read("c", "log")]
    assert len(entries) % 3 == 0
    assert all(len(set(entries[start : start + 3])) == 1 for start in range(0, len(entries), 3))
    assert interrupted > 10
"""


def run(program, *arguments):
    command = [sys.executable, "-c", textwrap.dedent(program), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mode", ["use", "raise"])
@pytest.mark.parametrize("url", ["memory://signals", "sqlite:///{}/x.db?durability=relaxed"])
def test_a_handler_may_use_a_store_or_raise(tmp_path, url, mode):
    run(USE, url.format(tmp_path), mode)


def test_an_interrupted_commit_is_whole_or_absent():
    run(TORN)
