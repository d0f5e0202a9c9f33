"""The parts that write: what they do when somebody else writes at the same time, or they are stopped in between."""

import pytest

import holdall
from holdall.cli.bounds import READ_BYTES, Pace
from holdall.cli.log_writer import LogWriter
from holdall.cli.outcome import Outcome
from holdall.cli.reading import Chunk, Log
from holdall.cli.record_writer import RecordWriter
from holdall.clock import boot_time
from holdall.values import Record


class Meddled:
    """A store in which something happens right before a method is called."""

    def __init__(self, store, **before):
        self._store = store
        self._before = before

    def __getattr__(self, name):
        if name in self._before:
            self._before.pop(name)()
        return getattr(self._store, name)


@pytest.fixture
def store():
    with holdall.open_store("memory://") as store:
        yield store


def chunk(count=5, **changes):
    return Chunk(
        "s", [Record("s", f"k{number}", number, "", changes.get("left")) for number in range(count)], boot_time()
    )


def log(values, first=0):
    return Log("s", "log", first, first + len(values), iter(values))


@pytest.mark.parametrize(
    "policy, kept, counts", [("error", 9, (4, 1, 0)), ("skip", 9, (4, 0, 0)), ("overwrite", 2, (4, 0, 1))]
)
def test_a_write_by_somebody_else_is_never_lost_silently(store, policy, kept, counts):
    outcome = Outcome()
    meddled = Meddled(store, commit=lambda: store.put("s", "k2", 9))
    RecordWriter(meddled, policy, outcome).write(chunk())
    assert store.get("s", "k2").value == kept
    assert [store.get("s", f"k{number}").value for number in (0, 1, 3, 4)] == [0, 1, 3, 4]
    assert (outcome.records.copied, outcome.records.conflicts, outcome.records.overwritten) == counts


def test_two_copies_that_write_the_same_get_on(store):
    outcome = Outcome()
    meddled = Meddled(store, commit=lambda: store.put("s", "k2", 2))
    RecordWriter(meddled, "error", outcome).write(chunk())
    assert (outcome.records.copied, outcome.records.present, outcome.failures) == (4, 1, 0)


def test_a_record_that_vanishes_is_written_all_the_same(store):
    store.put("s", "k2", 9)
    outcome = Outcome()
    RecordWriter(Meddled(store, commit=lambda: store.delete("s", "k2")), "overwrite", outcome).write(chunk())
    assert store.get("s", "k2").value == 2


def test_the_time_that_passed_is_taken_off(store):
    outcome = Outcome()
    old = Chunk("s", [Record("s", "a", 1, "", 100.0), Record("s", "b", 1, "", 50.0)], boot_time() - 60)
    RecordWriter(store, "error", outcome).write(old)
    assert 39 < store.get("s", "a").expires_in <= 40
    assert store.get("s", "b") is None
    assert (outcome.records.copied, outcome.records.expired) == (1, 1)


@pytest.mark.parametrize("length, method", [(3, "restore_log"), (1500, "append")])
def test_a_log_that_somebody_else_writes_is_an_error_and_whole(store, length, method):
    meddled = Meddled(store, **{method: lambda: store.append("s", "log", ["theirs"])})
    with pytest.raises(holdall.Conflict, match="somebody else is writing this log"):
        LogWriter(meddled, "error", Outcome()).write(log(list(range(length))))
    values = [entry.value for entry in store.read("s", "log")]
    assert values.count("theirs") == 1
    assert values[:-1] == list(range(len(values) - 1))


def test_a_log_that_grows_while_it_is_replaced_is_not_dropped(store):
    store.append("s", "log", ["other"])
    meddled = Meddled(store, drop=lambda: store.append("s", "log", ["theirs"]))
    with pytest.raises(holdall.Conflict):
        LogWriter(meddled, "overwrite", Outcome()).write(log([1, 2]))
    assert [entry.value for entry in store.read("s", "log")] == ["other", "theirs"]


def interrupt():
    raise KeyboardInterrupt


def test_a_stop_between_drop_and_restore_is_resumed(store):
    store.append("s", "log", [0, 1, "other"])
    with pytest.raises(KeyboardInterrupt):
        LogWriter(Meddled(store, restore_log=interrupt), "overwrite", Outcome()).write(log([0, 1, 2], 0))
    assert store.head("s", "log") is None
    outcome = Outcome()
    LogWriter(store, "overwrite", outcome).write(log([0, 1, 2]))
    assert [entry.value for entry in store.read("s", "log")] == [0, 1, 2]
    assert outcome.logs.copied == 1


def test_a_source_that_fails_leaves_the_other_log(store):
    store.append("s", "log", [0, "other"])

    def values():
        yield 0
        yield 1
        raise holdall.Unavailable("gone")

    with pytest.raises(holdall.Unavailable):
        LogWriter(store, "overwrite", Outcome()).write(Log("s", "log", 0, 3, values()))
    assert [entry.value for entry in store.read("s", "log")] == [0, "other"]


def test_a_replaced_log_keeps_its_exact_values_and_positions(store):
    values = [-0.0, 2**70, {"b": 1, "a": 2}, "x\ny", None]
    store.restore_log("s", "log", 7, [*values[:3], "other"])
    LogWriter(store, "overwrite", Outcome()).write(log(values, first=7))
    assert [(entry.position, repr(entry.value)) for entry in store.read("s", "log", 7)] == [
        (position, repr(value)) for position, value in enumerate(values, 7)
    ]


def test_the_pace_follows_the_sizes():
    pace = Pace()
    for _ in range(10):
        pace.saw([100])
    assert pace.count == 1000
    pace.saw([10, 16 * 2**20])
    assert pace.count == 1
    pace.saw([READ_BYTES // 3])
    assert pace.count == 2
