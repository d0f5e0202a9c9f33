"""What only LMDB has: cut keys, one environment a process, a map that fills up, writers that stand still."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import lmdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import holdall
from holdall.drive import drive
from holdall.environment import BlockingEnvironment
from holdall.spi import ABSENT, ANY, Mismatch
from holdall_lmdb.backend import LmdbBackend
from holdall_lmdb.environment import Settings, acquire
from holdall_lmdb.errors import translated

SETTINGS = Settings(durable=False, create=True, map_size=2**26)
LONGEST = 510 + 502
LETTERS = (b"", b"\x00", b"a", b"\xff", b"\xff\xff")
KEYS = st.builds(
    lambda start, length, end: (start * length + end)[:LONGEST] or b"k",
    st.sampled_from([b"\x00", b"a", b"ab", b"\xff"]),
    st.sampled_from([1, 2, 254, 255, 509, 510, 511, 771, 1012]),
    st.sampled_from(LETTERS),
)


def backend_in(folder: Path) -> LmdbBackend:
    return LmdbBackend(acquire(folder, SETTINGS), BlockingEnvironment(), 5)


def raw_keys(folder: Path) -> list[bytes]:
    with lmdb.open(str(folder), readonly=True) as opened, opened.begin() as view:
        return [bytes(key) for key, _ in view.cursor()]


@settings(deadline=None, max_examples=60)
@given(
    st.lists(KEYS, min_size=2, max_size=8),
    st.lists(st.tuples(st.sampled_from(["put", "put", "delete"]), st.integers(0, 7)), min_size=5, max_size=30),
    KEYS,
    KEYS,
    st.integers(1, 9),
)
def test_it_is_an_ordered_dictionary(tmp_path_factory, keys, steps, prefix, after, limit):
    backend = backend_in(tmp_path_factory.mktemp("model") / "db")
    model: dict[bytes, bytes] = {}
    for number, (what, which) in enumerate(steps):
        key = keys[which % len(keys)]
        if what == "put":
            model[key] = drive(backend.put(key, b"%d" % number, ANY))
        else:
            drive(backend.delete(key, ANY))
            model.pop(key, None)
    for start in (prefix, prefix[:1], b""):
        for behind in (after, after[:300], None):
            wanted = sorted(key for key in model if key.startswith(start) and (behind is None or key > behind))
            found = drive(backend.scan(start, behind, limit))
            assert [item.key for item in found] == wanted[:limit]
            assert all(item.payload == model[item.key] for item in found)
    assert all(drive(backend.get(key)).payload == payload for key, payload in model.items())
    drive(backend.close())


def test_conditions_hold_and_refusals_change_nothing(tmp_path):
    backend = backend_in(tmp_path / "db")
    tag = drive(backend.put(b"k", b"1", ABSENT))
    for refused in (
        backend.put(b"k", b"2", ABSENT),
        backend.put(b"k", b"2", b"other"),
        backend.put(b"new", b"2", b"other"),
        backend.delete(b"k", b"other"),
    ):
        with pytest.raises(Mismatch):
            drive(refused)
    assert drive(backend.get(b"k")).payload == b"1"
    assert drive(backend.get(b"new")) is None
    drive(backend.delete(b"k", tag))
    drive(backend.close())
    assert raw_keys(tmp_path / "db") == []  # no head is left without items


def test_the_longest_keys_that_are_declared_fit(tmp_path):
    with holdall.open_store(f"lmdb:///{tmp_path}/db") as store:
        for letter in ("\x00", "é"):
            scope, key = letter * (128 // len(letter.encode())), letter * (512 // len(letter.encode()))
            store.append(scope, key, [1], batch_id="b" * 512)
            store.put(scope, key, 1)
            assert list(store.keys(scope).items) == list(store.logs(scope).items) == [key]


def test_handles_share_one_environment_and_its_options(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "db")
    with (
        holdall.open_store(f"lmdb:///{tmp_path}/db") as first,
        holdall.open_store(f"lmdb:///{tmp_path}/link") as second,
    ):
        first.put("s", "k", 1)
        assert second.get("s", "k").value == 1
        with pytest.raises(holdall.ConfigError, match="other options"):
            holdall.open_store(f"lmdb:///{tmp_path}/db?durability=relaxed")
    holdall.open_store(f"lmdb:///{tmp_path}/db?durability=relaxed").close()


def test_a_full_map_says_so_and_a_larger_one_goes_on(tmp_path):
    url = f"lmdb:///{tmp_path}/db?map_size="
    with holdall.open_store(url + "1000000") as store:
        store.put("s", "small", 1)
        with pytest.raises(holdall.Unavailable, match="map_size"):
            store.put("s", "large", "x" * 1_000_000)
        assert list(store.keys("s").items) == ["small"]
        store.put("s", "small", 2)
    with holdall.open_store(url + "10000000") as store:
        store.put("s", "large", "x" * 1_000_000)
        assert store.get("s", "small").value == 2


GROW = """
import holdall, sys
with holdall.open_store(sys.argv[1] + "?map_size=50000000") as store:
    for number in range(9):
        store.put("s", f"large{number}", "x" * 1_000_000)
"""


def test_a_map_that_another_process_made_larger_is_taken_over(tmp_path):
    url = f"lmdb:///{tmp_path}/db"
    with holdall.open_store(url + "?map_size=1000000") as store:
        store.put("s", "k", 1)
        subprocess.run([sys.executable, "-c", GROW, url], check=True)
        assert len(store.get("s", "large8").value) == 1_000_000
        store.put("s", "k", "x" * 1_000_000)


STAND_STILL = """
import os, signal, sys
from pathlib import Path
from holdall.drive import drive
from holdall.environment import BlockingEnvironment
from holdall_lmdb.environment import Settings, acquire

folder = acquire(Path(sys.argv[1]), Settings(durable=True, create=True, map_size=2**36))
drive(folder.run(lambda view: os.kill(os.getpid(), signal.SIGSTOP), BlockingEnvironment(), 5, writing=True))
"""


def test_a_writer_that_stands_still_holds_nobody_up_for_ever(tmp_path):
    with holdall.open_store(f"lmdb:///{tmp_path}/db", timeout=0.3) as store:
        store.put("s", "k", 1)
        child = subprocess.Popen([sys.executable, "-c", STAND_STILL, str(tmp_path / "db")])
        try:
            os.waitid(os.P_PID, child.pid, os.WSTOPPED | os.WNOWAIT)
            with pytest.raises(holdall.StoreTimeout):
                store.put("s", "k", 2)
            assert store.get("s", "k").value == 1
        finally:
            child.kill()
            child.wait()
        store.put("s", "k", 3)


FORK = """
import os, signal, sys
from pathlib import Path
import holdall

def came_through():
    return [str(each.resolve()) for each in Path("/proc/self/fd").iterdir() if "db" in each.resolve().parts[-2:]]

url = sys.argv[1]
signal.alarm(30)
with holdall.open_store(url) as store:
    store.put("s", "parent", 1)
    pid = os.fork()
    if not pid:
        signal.alarm(30)
        assert came_through() == []  # not even a file of the parent's database is open here
        with holdall.open_store(url) as own:
            assert came_through()
            own.update("s", "parent", lambda value: value + 1)
            own.put("s", "child", [own.get("s", "parent").value])
        os._exit(0)
    for number in range(50):
        store.put("s", f"k{number}", number)
    assert os.waitpid(pid, 0)[1] == 0
    assert store.get("s", "child").value == [2]
    store.update("s", "parent", lambda value: value + 1)
    assert store.get("s", "parent").value == 3
"""


def test_parent_and_child_go_on_after_a_fork(tmp_path):
    subprocess.run([sys.executable, "-W", "error", "-c", FORK, f"lmdb:///{tmp_path}/db"], check=True, timeout=60)


def test_a_signal_handler_that_comes_into_an_operation_is_told_so(tmp_path):
    backend = backend_in(tmp_path / "db")
    told = []

    def handle(*_):
        with pytest.raises(holdall.Unavailable) as caught:
            drive(backend.get(b"k"))
        told.append(str(caught.value))

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        folder = acquire(tmp_path / "db", SETTINGS)
        drive(folder.run(lambda _: os.kill(os.getpid(), signal.SIGUSR1), BlockingEnvironment(), 5, writing=True))
        folder.release()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(told) == 1
    drive(backend.close())


def test_wrong_places_are_errors_of_configuration(tmp_path):
    (tmp_path / "file").write_text("no database")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "data.mdb").write_bytes(b"no database" * 1000)
    for place in ("lmdb://host/db", "lmdb://", f"lmdb:///{tmp_path}/none?create=false", f"lmdb:///{tmp_path}/file"):
        with pytest.raises(holdall.ConfigError):
            holdall.open_store(place)
    assert not (tmp_path / "none").exists()
    with pytest.raises(holdall.ConfigError, match="map_size"):
        holdall.open_store(f"lmdb:///{tmp_path}/db?map_size=-1")
    with pytest.raises(holdall.ConfigError, match="client"):
        holdall.open_store(f"lmdb:///{tmp_path}/db", client=object())
    with pytest.raises(holdall.Corrupt) as caught:
        holdall.open_store(f"lmdb:///{tmp_path}/folder")
    assert isinstance(caught.value.__cause__, lmdb.InvalidError)


def test_what_the_table_does_not_know_leaves_a_write_open():
    error = lmdb.Error("pwrite", 5)
    assert type(translated(error, writing=True)) is holdall.OutcomeUnknown
    assert type(translated(error, writing=False)) is holdall.Unavailable
