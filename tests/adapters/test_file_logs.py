"""The file of a log: torn ends are mended, damage before them is not, and truncating gives the room back."""

from __future__ import annotations

import json
import random
from itertools import islice

import pytest

import holdall
from holdall import BatchMismatch, Corrupt, Fenced, Truncated
from holdall_adapters.file import batch_index, log_file, log_reader

LARGE = "x" * 300_000


@pytest.fixture
def store(tmp_path):
    with holdall.open_store(f"file://{tmp_path}/store?durability=relaxed") as opened:
        yield opened


@pytest.fixture
def file(tmp_path):
    return tmp_path / "store" / "logs" / "s" / "log"


def reopened(tmp_path):
    return holdall.open_store(f"file://{tmp_path}/store?durability=relaxed")


def values(store):
    return [entry.value for entry in store.read("s", "log", store.head("s", "log").first)]


def test_the_file_reads_as_json_lines(store, file):
    store.append("s", "log", [{"n": 1}, "zwei"], batch_id="b")
    store.append("s", "log", [10**30], fence=3)
    store.truncate("s", "log", 1)
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert [line["v"] for line in lines if "p" in line] == [{"n": 1}, "zwei", 10**30]
    assert [line["p"] for line in lines if "p" in line] == [0, 1, 2]
    assert [(line["commit"], line["first"], line["mark"]) for line in lines if "commit" in line] == [
        (2, 0, 0),
        (1, 0, 3),
        (0, 1, 3),
    ]
    assert (lines[0]["scope"], lines[0]["key"]) == ("s", "log")


@pytest.mark.parametrize("zeros", [False, True], ids=["cut", "zeroed"])
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_a_torn_end_is_no_entry_and_the_next_append_mends_it(store, file, tmp_path, zeros, warm):
    """The last batch is cut at each of its bytes, or filled with zeros from there on."""
    store.append("s", "log", ["a", "b"], batch_id="first")
    whole = file.read_bytes()
    with reopened(tmp_path) as writer:
        writer.append("s", "log", ["c", {"commit": 1, "crc": "00000000"}], batch_id="second")
    grown = file.read_bytes()
    for length in range(len(whole), len(grown)):
        torn = grown[:length] + (b"\0" * (len(grown) - length) if zeros else b"")
        file.write_bytes(whole)
        with reopened(tmp_path) as opened:
            if warm:
                assert values(opened) == ["a", "b"]
            file.write_bytes(torn)
            assert values(opened) == ["a", "b"]
            assert file.read_bytes() == torn, "a read has written"
            assert opened.append("s", "log", ["d"], batch_id="third").start == 2
            assert values(opened) == ["a", "b", "d"]
            assert opened.append("s", "log", ["a", "b"], batch_id="first").start == 0
        assert json.loads(file.read_bytes().splitlines()[-1])["commit"] == 1


def test_torn_ends_of_large_logs(store, file, tmp_path):
    """Where the file is too large to be read whole, the last commit is looked for from its end."""
    chance = random.Random(7)
    for number in range(8):
        store.append("s", "log", [f"{number}{LARGE}", number])
    whole = file.read_bytes()
    store.append("s", "log", [LARGE, LARGE, "last"])
    grown = file.read_bytes()
    for length in sorted(chance.sample(range(len(whole), len(grown)), 20)):
        file.write_bytes(grown[:length])
        with reopened(tmp_path) as cold:
            assert cold.head("s", "log").length == 16
            assert cold.append("s", "log", ["mended"]).start == 16
            assert cold.tail("s", "log", 2)[0].value == 7
            assert cold.tail("s", "log", 1)[0].value == "mended"


@pytest.mark.parametrize("part", ["entry", "commit"])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_damage_before_the_last_batch_is_corrupt_and_nothing_is_cut_off(store, file, tmp_path, part, number):
    for value in range(5):
        store.append("s", "log", [f"value-{value}"])
    store.append("s", "other", ["whole"])
    content = file.read_bytes()
    wanted = b"value-%d" % number if part == "entry" else b'"start":%d' % number
    file.write_bytes(content.replace(wanted, b"\0" * len(wanted)))
    damaged = file.read_bytes()
    with reopened(tmp_path) as cold:
        for use in (
            lambda: cold.read("s", "log"),
            lambda: cold.head("s", "log"),
            lambda: cold.append("s", "log", ["more"]),
            lambda: cold.truncate("s", "log", 1),
        ):
            with pytest.raises(Corrupt) as caught:
                use()
            assert (caught.value.scope, caught.value.key) == ("s", "log")
        assert file.read_bytes() == damaged
        assert cold.read("s", "other")[0].value == "whole"
        assert cold.drop("s", "other")


@pytest.mark.parametrize("number", [0, 2, 4])
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_an_entry_that_was_edited_is_corrupt_and_kept(store, file, tmp_path, number, warm):
    """Also in the last batch: no crash leaves a whole line that is another one."""
    for value in range(5):
        store.append("s", "log", [f"pay 10{value}", "x"])
    whole = file.read_bytes()
    with reopened(tmp_path) as opened:
        if warm:
            assert len(opened.read("s", "log")) == 10
        file.write_bytes(whole.replace(b"pay 10%d" % number, b"pay 90%d" % number))
        with pytest.raises(Corrupt):
            opened.read("s", "log")
        if not warm:
            with pytest.raises(Corrupt):
                opened.append("s", "log", ["next"])
            assert b"pay 90%d" % number in file.read_bytes()


def test_entries_missing_inside_a_large_log_are_corrupt(store, file, tmp_path):
    for number in range(8):
        store.append("s", "log", [f"{number}{LARGE}"])
    content = file.read_bytes()
    at = content.index(b'{"p":3,')
    file.write_bytes(content[:at] + b"\0" * 1_000 + content[at + 1_000 :])
    with reopened(tmp_path) as cold:
        with pytest.raises(Corrupt):
            cold.read("s", "log")
        with pytest.raises(Corrupt):
            cold.read("s", "log", 3, 1)
        assert cold.read("s", "log", 5, 1)[0].position == 5


@pytest.mark.parametrize("content", [b"", b"\0" * 300, b"garbage", b'{"log":1}\n', b"[]\n", b"\xff\xfe\n"])
def test_a_file_that_is_no_log(store, file, content):
    store.append("s", "log", [1])
    file.write_bytes(content)
    for use in (lambda: store.read("s", "log"), lambda: store.append("s", "log", [2]), lambda: store.drop("s", "log")):
        with pytest.raises(Corrupt):
            use()
    assert file.read_bytes() == content


def test_a_log_that_was_cut_off_while_it_was_open_is_corrupt(store, file):
    store.append("s", "log", [1])
    short = file.read_bytes()
    store.append("s", "log", [2])
    file.write_bytes(short)
    for use in (lambda: store.read("s", "log"), lambda: store.append("s", "log", [3])):
        with pytest.raises(Corrupt, match="shorter"):
            use()


def test_a_seal_or_truncate_that_was_cut_off_while_it_was_open_is_corrupt(store, file):
    store.append("s", "log", [1, 2])
    for change in (lambda: store.seal("s", "log", 7, log=True), lambda: store.truncate("s", "log", 1)):
        before = file.read_bytes()
        change()
        after = file.read_bytes()
        file.write_bytes(before)
        with pytest.raises(Corrupt, match="shorter"):
            store.append("s", "log", [3], fence=3)
        file.write_bytes(after)


READS = {
    "read": lambda store: list(store.read("s", "log")),
    "read from 1": lambda store: list(store.read("s", "log", 1)),
    "read from 3": lambda store: list(store.read("s", "log", 3)),
    "read one before": lambda store: list(store.read("s", "log", 2, 1)),
    "read one behind": lambda store: list(store.read("s", "log", 9, 1)),
    "tail": lambda store: list(store.tail("s", "log", 11)),
    "iter_entries": lambda store: list(store.iter_entries("s", "log")),
    "follow": lambda store: list(store.follow("s", "log", timeout=0.01)),
}


@pytest.mark.parametrize("name", READS)
@pytest.mark.parametrize("warm", [False, True], ids=["cold", "warm"])
def test_no_read_gives_an_entry_of_a_batch_that_was_edited(store, file, tmp_path, name, warm):
    """However few entries of it are read, and however large it is: here three blocks and chunks."""
    store.append("s", "log", ["a"])
    store.append("s", "log", ["b" * 300_000] * 10)
    store.append("s", "log", ["c"])
    content = bytearray(file.read_bytes())
    with reopened(tmp_path) as opened:
        if warm:
            assert opened.head("s", "log").length == 12
        content[1_500_000] = ord("X")
        file.write_bytes(content)
        with pytest.raises(Corrupt):
            READS[name](opened)
        assert opened.read("s", "log", 0, 1)[0].value == "a"
        assert opened.tail("s", "log", 1)[0].value == "c"


@pytest.mark.parametrize("damage", ["zeros", "id", "digest"])
def test_a_remembered_batch_that_is_damaged_is_corrupt_and_appended_no_second_time(store, file, tmp_path, damage):
    for number in range(100):
        store.append("s", "log", ["x" * 3_000], batch_id=f"b{number}")
    store.truncate("s", "log", 90)
    content = file.read_bytes()
    at = content.index(b'"remembered":"b50"')
    old = {"zeros": b"remembered", "id": b'"b50"', "digest": b'"digest":"'}[damage]
    new = {"zeros": b"\0" * 10, "id": b'"bXX"', "digest": b'"digesT":"'}[damage]
    place = content.index(old, at)
    file.write_bytes(content[:place] + new + content[place + len(old) :])
    (tmp_path / "store" / "index" / "s" / "log").unlink()
    with reopened(tmp_path) as cold:
        for batch_id in ("b50", "b95"):
            with pytest.raises(Corrupt):
                cold.append("s", "log", ["x" * 3_000], batch_id=batch_id)
        assert cold.truncate("s", "log", 99) == 9
        assert cold.head("s", "log")[:2] == (99, 100)
        with pytest.raises(Corrupt):
            cold.sweep()


@pytest.mark.parametrize(
    "old, new", [(b'"start":3', b'"start":\0'), (b'"id":"b3"', b'"id":"bX"'), (b'"start"', b'"stArt"')]
)
def test_a_commit_inside_a_large_log_that_is_damaged_is_corrupt_for_its_ids(store, file, tmp_path, old, new):
    for number in range(9):
        store.append("s", "log", [LARGE], batch_id=f"b{number}")
    content = file.read_bytes()
    place = content.index(old, content.index(b'{"p":3,'))
    file.write_bytes(content[:place] + new + content[place + len(old) :])
    (tmp_path / "store" / "index" / "s" / "log").unlink()
    with reopened(tmp_path) as cold:
        assert cold.head("s", "log").length == 9
        with pytest.raises(Corrupt):
            cold.append("s", "log", [LARGE], batch_id="b3")


def test_a_log_in_the_place_of_another_is_corrupt(store, file):
    store.append("s", "log", [1])
    store.append("s", "other", [2])
    file.write_bytes((file.parent / "other").read_bytes())
    with pytest.raises(Corrupt, match="something else"):
        store.read("s", "log")
    assert store.logs("s").items == ["log", "other"]


def test_truncating_gives_the_room_back_and_forgets_nothing_else(store, file, tmp_path):
    for number in range(1_500):
        store.append("s", "log", [number, "x" * 100], batch_id=f"b{number}")
    store.seal("s", "log", 5, log=True)
    large, incarnation = file.stat().st_size, store.head("s", "log").incarnation
    assert store.truncate("s", "log", 2_901) == 2_901
    assert file.stat().st_size < large / 2
    for opened in (store, reopened(tmp_path)):
        assert opened.head("s", "log") == (2_901, 3_000, incarnation)
        assert [entry.position for entry in opened.read("s", "log", 2_901)] == list(range(2_901, 3_000))
        with pytest.raises(Truncated):
            opened.read("s", "log", 2_900)
        with pytest.raises(Fenced):
            opened.append("s", "log", [1], fence=4)
        assert opened.append("s", "log", [500, "x" * 100], batch_id="b500").start == 1_000
        with pytest.raises(BatchMismatch):
            opened.append("s", "log", ["other"], batch_id="b700")
    assert store.append("s", "log", [0, "x" * 100], batch_id="b0").start == 3_000
    assert store.truncate("s", "log", 10_000) == 101
    with reopened(tmp_path) as cold:
        assert cold.head("s", "log") == (3_002, 3_002, incarnation)
        assert cold.append("s", "log", [0, "x" * 100], batch_id="b0").start == 3_000
        assert cold.append("s", "log", ["next"]).start == 3_002
        assert values(cold) == ["next"]


def test_sweeping_gives_back_what_little_was_truncated(store, file):
    for number in range(10):
        store.append("s", "log", [f"secret-{number}"])
    store.truncate("s", "log", 8)
    assert b"secret-3" in file.read_bytes()
    store.sweep()
    assert b"secret-3" not in file.read_bytes()
    assert values(store) == ["secret-8", "secret-9"]
    assert store.append("s", "log", ["next"]).start == 10


@pytest.mark.parametrize("damage", ["removed", "emptied", "garbage", "zeros", "no slots", "full", "middle", "flipped"])
def test_the_index_of_batch_ids_may_be_lost_or_damaged(store, tmp_path, damage):
    index = tmp_path / "store" / "index" / "s" / "log"
    for number in range(100):
        store.append("s", "log", [number], batch_id=f"b{number}")
    content = index.read_bytes()
    third = len(content) // 3
    damaged = {
        "emptied": b"",
        "garbage": b"garbage" * 40,
        "zeros": b"\0" * len(content),
        "no slots": content[:4_096] + b"\0" * (len(content) - 4_096),
        "full": content[:4_096] + b"\xff" * (len(content) - 4_096),
        "middle": content[:third] + b"\0" * third + content[2 * third :],
        "flipped": bytes(byte ^ (at % 4_096 == 700) for at, byte in enumerate(content)),
    }
    if damage == "removed":
        index.unlink()
    else:
        index.write_bytes(damaged[damage])
    assert [store.append("s", "log", [n], batch_id=f"b{n}").start for n in (0, 50, 99)] == [0, 50, 99]
    assert store.append("s", "log", [100], batch_id="b100").start == 100


def test_an_index_that_stayed_behind_is_not_believed(store, tmp_path):
    """As after a power cut, a restored backup, or a log that was dropped and made again."""
    index = tmp_path / "store" / "index" / "s" / "log"
    store.append("s", "log", [1], batch_id="b1")
    store.append("s", "log", [2], batch_id="b2")
    before = index.read_bytes()
    store.drop("s", "log")
    assert not index.exists()
    store.append("s", "log", [0])
    index.write_bytes(before)
    assert store.append("s", "log", [2], batch_id="b2").start == 1


def test_blocks_that_end_in_a_line_lose_nothing(tmp_path, monkeypatch):
    """Whatever the size of the blocks in which a file is read, what comes out is the same."""
    chance = random.Random(3)
    with reopened(tmp_path) as store:
        for number in range(120):
            entries = [f"{number}-{'é' * chance.randrange(60)}" for _ in range(chance.randrange(1, 6))]
            store.append("s", "log", entries, batch_id=f"b{number}")
        repeated = store.append("s", "log", ["?"], batch_id="b?").start
        expected = list(store.read("s", "log"))
    sizes = [(log_file, "_BLOCK"), (log_reader, "_PART"), (log_reader, "_BLOCK"), (log_reader, "_NEAR")]
    for block in (1_100, 1_501, 2_048, 5_000):
        for module, name in sizes:
            monkeypatch.setattr(module, name, block)
        (tmp_path / "store" / "index" / "s" / "log").unlink()
        with reopened(tmp_path) as store:
            assert list(store.read("s", "log")) == expected
            for position in chance.sample(range(len(expected)), 40):
                assert list(store.read("s", "log", position, 3)) == expected[position : position + 3]
            assert store.append("s", "log", ["?"], batch_id="b?").start == repeated
            assert list(store.tail("s", "log", 7)) == expected[-7:]


def ids_that_hash_to_the_end(count):
    """Batch ids whose places lie in the last two slots of a table of one page."""
    numbers = (f"b{number}" for number in range(1_000_000))
    return list(islice((name for name in numbers if batch_index._hash(name) % batch_index._SLOTS >= 253), count))


def test_ids_at_the_end_of_the_table_go_round_it(store, tmp_path):
    """Their slots are taken, so that they stand at the beginning of the table."""
    ids = ids_that_hash_to_the_end(20)
    for number, name in enumerate(ids):
        assert store.append("s", "log", [number], batch_id=name).start == number
        assert store.append("s", "log", [0], batch_id=ids[0]).start == 0
    with reopened(tmp_path) as other:
        for number, name in enumerate(ids):
            assert other.append("s", "log", [number], batch_id=name).start == number
            with pytest.raises(BatchMismatch):
                other.append("s", "log", ["other"], batch_id=name)
        assert other.head("s", "log").length == len(ids)
