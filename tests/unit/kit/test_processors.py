"""Which processors the threads and children of a harness run on."""

from __future__ import annotations

import os
import threading

import pytest

from holdall_conformance.processors import on_any_processor, on_one_processor

pytestmark = pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not tell processors")


def _of_a_new_thread() -> set[int]:
    found: list[set[int]] = []
    thread = threading.Thread(target=lambda: found.append(os.sched_getaffinity(0)))
    thread.start()
    thread.join()
    return found[0]


def test_threads_of_one_clause_stay_together_and_racers_do_not():
    before = os.sched_getaffinity(0)
    with on_one_processor():
        mine = os.sched_getaffinity(0)
        assert len(mine) == 1
        assert mine <= before
        assert _of_a_new_thread() == mine
        with on_any_processor():
            assert _of_a_new_thread() == before
        assert os.sched_getaffinity(0) == mine
    assert os.sched_getaffinity(0) == before


def test_leaving_by_an_error_restores_them_too():
    before = os.sched_getaffinity(0)
    with pytest.raises(ArithmeticError), on_one_processor():
        raise ArithmeticError
    assert os.sched_getaffinity(0) == before
