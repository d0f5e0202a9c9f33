from __future__ import annotations

import asyncio

import pytest

from holdall.drive import drive, drive_iterator


async def numbers(closed):
    try:
        for number in range(3):
            yield number
    finally:
        closed.append(True)


def test_result_and_error_pass():
    async def work(fail):
        if fail:
            raise KeyError(fail)
        return 7

    assert drive(work("")) == 7
    with pytest.raises(KeyError):
        drive(work("x"))


def test_suspending_fails_loudly():
    async def work():
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="suspended in synchronous mode"):
        drive(work())


def test_iterator_is_closed_when_left():
    closed: list[bool] = []
    assert list(drive_iterator(numbers(closed))) == [0, 1, 2]
    for number in (iterator := drive_iterator(numbers(closed))):
        if number == 1:
            break
    iterator.close()
    assert closed == [True, True]
