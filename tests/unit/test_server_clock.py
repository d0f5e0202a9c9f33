"""The estimate of a server's clock by the Date headers of its replies."""

from __future__ import annotations

import random
from email.utils import formatdate

import pytest

from holdall_adapters.aws.server_clock import ServerClock

OFFSET = 1_700_000_000.25


class Clock:
    """An environment of which only the boot clock is asked."""

    def __init__(self):
        self.now = 1_000.0

    def boot_time(self):
        return self.now


@pytest.fixture
def boot():
    return Clock()


def reply(clock, boot, offset=OFFSET, there=0.01, back=0.01):
    """Send a request and take in what the server's clock says when it has arrived."""
    sent = boot.now
    date = formatdate(sent + there + offset, usegmt=True)
    boot.now += there + back
    clock.saw(date, sent, boot.now)


def test_nothing_is_known_before_the_first_reply(boot):
    assert not ServerClock(boot).known


def test_one_reply_bounds_the_time_from_both_sides(boot):
    clock = ServerClock(boot)
    reply(clock, boot)
    assert clock.known
    assert clock.earliest() <= boot.now + OFFSET <= clock.latest()
    assert clock.latest() - clock.earliest() <= 1.03


def test_the_bounds_hold_whatever_the_way_of_the_replies(boot):
    clock, chance = ServerClock(boot), random.Random(1)
    for _ in range(2_000):
        boot.now += chance.random() * 3
        reply(clock, boot, there=chance.random() * 0.4, back=chance.random() * 0.4)
        assert clock.earliest() <= boot.now + OFFSET <= clock.latest()


def test_many_replies_narrow_the_bounds(boot):
    clock = ServerClock(boot)
    for _ in range(200):
        boot.now += 0.0137
        reply(clock, boot, there=0.001, back=0.001)
    assert clock.latest() - clock.earliest() < 0.05


def test_the_bounds_widen_with_their_age(boot):
    clock = ServerClock(boot)
    reply(clock, boot)
    before = clock.latest() - clock.earliest()
    boot.now += 1_000
    assert clock.latest() - clock.earliest() == pytest.approx(before + 0.4)


def test_a_server_whose_clock_runs_a_little_apart_stays_within_the_bounds(boot):
    clock = ServerClock(boot)
    for number in range(3_000):
        boot.now += 1.3
        offset = OFFSET + 150e-6 * 1.32 * number
        reply(clock, boot, offset=offset)
        assert clock.earliest() <= boot.now + offset + 1e-3
        assert clock.latest() >= boot.now + offset - 1e-3


@pytest.mark.parametrize("step", [-3_600.0, 3_600.0])
def test_a_step_of_the_clock_begins_the_bounds_anew(boot, step):
    clock = ServerClock(boot)
    reply(clock, boot)
    boot.now += 10
    reply(clock, boot, offset=OFFSET + step)
    assert clock.earliest() <= boot.now + OFFSET + step <= clock.latest()


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Jan 2024 10:00:00 GMT"])
def test_what_is_no_date_is_passed_over(boot, date):
    clock = ServerClock(boot)
    clock.saw(date, 1.0, 2.0)
    assert not clock.known
