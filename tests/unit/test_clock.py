from __future__ import annotations

import time

from holdall.clock import Anchor, boot_id, boot_time, next_anchor


def test_boot_clock_goes_on():
    first = boot_time()
    time.sleep(0.01)
    assert 0.009 < boot_time() - first < 5
    assert boot_id() == boot_id() != ""


def test_new_storage_begins_with_the_wall_clock():
    anchor = next_anchor(None, "boot-1", 100.0, 5_000.0)
    assert anchor == Anchor("boot-1", 4_900.0, 5_000.0)


def test_within_a_boot_the_wall_clock_does_not_count():
    anchor = Anchor("boot-1", 4_900.0, 5_000.0)
    assert next_anchor(anchor, "boot-1", 200.0, 1.0) is anchor


def test_after_a_boot_the_time_goes_on_from_the_wall_clock():
    anchor = next_anchor(Anchor("boot-1", 4_900.0, 5_000.0), "boot-2", 10.0, 9_000.0)
    assert anchor.offset + 10.0 == 9_000.0


def test_after_a_boot_with_a_wrong_wall_clock_time_never_goes_back():
    anchor = next_anchor(Anchor("boot-1", 4_900.0, 5_000.0), "boot-2", 10.0, 3.0)
    assert anchor.offset + 10.0 == 5_000.0


def test_the_time_it_was_last_stored_is_renewed_so_that_it_cannot_go_back_far():
    anchor = Anchor("boot-1", 4_900.0, 5_000.0)
    renewed = next_anchor(anchor, "boot-1", 10_000.0, 1.0)
    assert renewed == Anchor("boot-1", 4_900.0, 14_900.0)
    assert next_anchor(renewed, "boot-1", 10_100.0, 1.0) is renewed
