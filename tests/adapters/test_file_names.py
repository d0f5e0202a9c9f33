"""Names of files: injective on every file system, and listed in the order of what they stand for."""

from __future__ import annotations

import os
import random
import re
import time
import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import given

import holdall
from holdall_adapters.file import listing
from holdall_adapters.file.disk import Disk
from holdall_adapters.file.names import CONTINUED, LONGEST_PART, bytes_of_part, parts_of

NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=260)
TICK = 0.05
"""Seconds in which the clock of every file system goes on."""
PART = re.compile(r"(?:[a-z0-9_-]|%[0-9a-f]{2})+\+?")


@given(NAMES)
def test_a_name_comes_back_and_its_parts_are_plain(name):
    parts = parts_of(name)
    assert b"".join(bytes_of_part(part) for part in parts).decode() == name
    assert all(PART.fullmatch(part) and len(part) <= LONGEST_PART for part in parts)
    assert [part.endswith(CONTINUED) for part in parts] == [True] * (len(parts) - 1) + [False]


@given(NAMES, NAMES)
def test_no_file_system_can_merge_two_names(one, other):
    folded = [
        tuple(unicodedata.normalize(form, part.casefold()) for part in parts_of(name))
        for name in (one, other)
        for form in ("NFC", "NFKD")
    ]
    assert (one == other) == (folded[0] == folded[2]) == (folded[1] == folded[3])


@pytest.mark.parametrize(
    "name,part",
    [("user:42", "user%3a42"), ("Foo", "%46oo"), ("..", "%2e%2e"), ("é", "%c3%a9"), ("a_b-c9", "a_b-c9"), ("+", "%2b")],
)
def test_the_rule_does_not_change(name, part):
    assert parts_of(name) == (part,)


@pytest.mark.parametrize("part", ["A", "%41a ", "%61", "%4G", ".DS_Store", "a+", "", "a~", "x" * 81, "%", "é", "a%"])
def test_what_is_nobodys_name_stands_for_nothing(part):
    assert bytes_of_part(part) is None


@pytest.mark.parametrize("window", [1, 7, 65_536])
def test_listings_are_in_order_and_whole_whatever_the_window(tmp_path, monkeypatch, window):
    monkeypatch.setattr(listing, "_WINDOW", window)
    chance = random.Random(window)
    lengths = [1, 2, 3, 79, 80, 81, 160, 161, 300]
    names = sorted({"".join(chance.choices("aA.\0é+", k=chance.choice(lengths))) for _ in range(60)})
    with holdall.open_store(f"file://{tmp_path}/store?durability=relaxed") as store:
        for name in names:
            store.put("s", name, name)
            store.append(name, "log", [1])
        for _ in range(30):
            chosen = chance.choice(names)
            after = chance.choice([None, chosen, chosen + "a", chosen[:-1] or None])
            prefix = chance.choice(["", chosen[:2], chosen[:80], chosen])
            wanted = [name for name in names if name.startswith(prefix) and (after is None or name > after)]
            assert list(store.iter_keys("s", prefix, after=after)) == wanted
            assert list(store.log_scopes(prefix, after=after).items) == wanted


def test_a_window_is_not_used_once_its_folder_has_changed(tmp_path, monkeypatch):
    """The pages of a quiet folder share a window, which is read once; a write in between shows in the next page."""
    reads, names = [], Disk.names
    monkeypatch.setattr(Disk, "names", lambda disk, way: reads.append(way) or names(disk, way))
    monkeypatch.setattr(listing, "_OLD_ENOUGH", -1_000.0)  # the folder counts as quiet at once
    with holdall.open_store(f"file://{tmp_path}/store?durability=relaxed") as store:
        store.put_many("s", {f"k{number}": number for number in range(9)})
        time.sleep(TICK)
        reads.clear()
        page = store.keys("s", limit=3)
        assert page.items == ["k0", "k1", "k2"]
        assert store.keys("s", after=page.next, limit=2).items == ["k3", "k4"]
        assert len(reads) == 1
        time.sleep(TICK)
        store.put("s", "k25", "new")
        os.utime(tmp_path / "store" / "records" / "s", (1, 1))  # as archivers do
        assert store.keys("s", after=page.next, limit=2).items == ["k25", "k3"]


def test_a_folder_that_has_just_changed_is_read_again(tmp_path):
    with holdall.open_store(f"file://{tmp_path}/store?durability=relaxed") as store:
        for number in range(300):
            store.put("s", f"k{number:03}", number)
            assert store.keys("s", after=f"k{number - 1:03}" if number else None).items == [f"k{number:03}"]


def test_files_of_others_are_passed_over(tmp_path):
    with holdall.open_store(f"file://{tmp_path}/store") as store:
        store.put("s", "k", 1)
        folder = tmp_path / "store" / "records" / "s"
        for name in (".DS_Store", "k~", "Thumbs.db", "%ff", "%80k"):
            (folder / name).write_text("theirs")
        assert store.keys("s").items == ["k"]
        assert [record.key for record in store.iter_records("s")] == ["k"]
        store.sweep()
        assert (folder / "k~").read_text() == "theirs"


def test_a_sweep_leaves_no_empty_folder(tmp_path):
    """Also where long scopes and keys went on in folders of their own."""
    names = ["short", "x" * 80, "x" * 81, "X" * 400, "x" * 200]
    with holdall.open_store(f"file://{tmp_path}/store?durability=relaxed") as store:
        before = {path for path in (tmp_path / "store").rglob("*") if path.is_dir()}
        for scope in names:
            for key in names:
                store.put(scope, key, 1)
                store.append(scope, key, [1], batch_id="b")
                store.append(scope, key, [2], batch_id="c")
        for scope in names:
            store.clear(scope)
            for key in names:
                store.drop(scope, key)
        store.sweep()
        left = {path for path in (tmp_path / "store").rglob("*") if path.is_dir()}
        assert left == before
        store.put("short", "x" * 200, 2)
        assert store.scopes().items == ["short"]
