"""Processes that open a storage which is not there yet, all at once."""

from __future__ import annotations

import holdall
from holdall import ABSENT
from holdall_conformance.children import Children, soon, wait_until
from holdall_conformance.harness import Harness

PROCESSES = 8


def open_and_write(parent, harness, url, name):
    """In a child process: open a storage at the moment the parent names, and write to it at once."""
    parent.say("ready")
    wait_until(parent.hear())
    try:
        with holdall.open_store(url) as store, holdall.open_lock(url) as lock:
            store.put("s", name, name, expect=ABSENT)
            store.append("s", "log", [name])
            lock.release(lock.acquire(name, timeout=0))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
        parent.say(repr(error))
    else:
        parent.say("")


def open_at_once(url):
    """Let processes open a storage at one moment, and demand that each can, and that nothing of theirs is lost."""
    with Children(Harness(url)) as children:
        target = "tests.adapters.openers:open_and_write"
        openers = [children.start(target, url, f"process-{number}") for number in range(PROCESSES)]
        assert [opener.hear() for opener in openers] == ["ready"] * PROCESSES
        moment = soon()
        for opener in openers:
            opener.say(moment)
        assert [opener.hear() for opener in openers] == [""] * PROCESSES
        for opener in openers:
            opener.finish()
    with holdall.open_store(url) as store:
        assert len(list(store.iter_keys("s"))) == len(store.read("s", "log")) == PROCESSES
