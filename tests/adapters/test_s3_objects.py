"""What stands in the bucket: names, more of them than a listing has, segments, orphans, versions, damage."""

from __future__ import annotations

import concurrent.futures
import threading
import uuid

import pytest

import holdall
from holdall import Corrupt, TooLarge
from holdall_adapters.aws import times
from holdall_adapters.s3 import CAPABILITIES
from tests.adapters.aws_tools import bare_client
from tests.adapters.s3_tools import bucket_of, names_in, prefix_of
from tests.servers import moto_s3

MIB = 2**20
LARGEST = CAPABILITIES.max_value_bytes
FULL = 64 * 1024


@pytest.fixture
def store(s3_prefix):
    with holdall.open_store(s3_prefix) as store:
        yield store


@pytest.fixture
def client(s3_prefix):
    client = bare_client(s3_prefix)
    yield client
    client.close()


@pytest.fixture
def names(client, s3_prefix):
    """Return a function that returns the names of all objects."""
    return lambda: names_in(client, s3_prefix)


@pytest.fixture
def long_ago(monkeypatch):
    """Everything is old enough to be swept: the time for which orphans are kept is over at once."""
    from holdall_adapters.s3 import store  # noqa: PLC0415 - beside the fixture of that name

    monkeypatch.setattr(store, "KEPT", -60.0)
    assert times.KEPT == 3600


@pytest.mark.parametrize("length", [1, FULL, MIB, LARGEST - 2])
def test_values_up_to_the_limit_come_back(store, length):
    store.put("s", "k", "x" * length)
    assert store.get("s", "k").value == "x" * length
    assert [len(record.value) for record in store.scan("s").items] == [length]


def test_above_the_limit_nothing_is_written(store, names):
    before = names()
    for write in (
        lambda: store.put("s", "k", "x" * (LARGEST - 1)),
        lambda: store.append("s", "k", ["x" * (LARGEST - 1)]),
        lambda: store.append("s", "k", ["x" * (LARGEST // 2)] * 2),
    ):
        with pytest.raises(TooLarge):
            write()
    assert names() == before


def test_names_are_short_enough_for_every_server(store, names):
    scope, key = "\U0001f600" * 32, "\U0001f600" * 128
    assert (len(scope.encode()), len(key.encode())) == (CAPABILITIES.max_scope_bytes, CAPABILITIES.max_key_bytes)
    store.put(scope, key, 1)
    store.append(scope, key, [1])
    longest = max(names(), key=len)
    assert len(longest) + 129 <= 1_024  # with the longest prefix
    assert max(map(len, longest.split("/"))) <= 250
    assert all(name.isascii() for name in names())
    assert store.get(scope, key).value == 1
    assert list(store.iter_keys(scope)) == [key]


def test_names_that_could_be_taken_for_folders_are_apart(store):
    keys = ["a", "a/", "a/b", "a//b", "/", "a~", "a~/b", ".", "..", "a\x00", "\x7f", "\U0010ffff", "A", "a" * 400]
    for key in keys:
        store.put("s", key, key)
        store.put(key[:128], "k", key)
    assert list(store.iter_keys("s")) == sorted(keys)
    assert [record.value for record in store.get_many("s", keys)] == keys
    assert store.scopes().items == sorted({*(key[:128] for key in keys), "s"})


def test_more_keys_than_a_listing_has_while_others_delete_them(store, s3_prefix):
    keys = [f"k{number:05}" for number in range(2_500)]
    for start in range(0, len(keys), 500):
        store.put_many("s", dict.fromkeys(keys[start : start + 500], 1))
    assert list(store.iter_keys("s")) == keys
    doomed, stays, begun = keys[::2], set(keys[1::2]), threading.Event()

    def delete():
        begun.wait(30)
        with holdall.open_store(s3_prefix) as other:
            other.delete_many("s", doomed)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        deleting = pool.submit(delete)
        seen = []
        for key in store.iter_keys("s"):
            begun.set()
            seen.append(key)
        deleting.result()
    assert seen == sorted(set(seen))
    assert stays <= set(seen)
    assert list(store.iter_keys("s")) == sorted(stays)
    store.clear("s")
    assert list(store.iter_keys("s")) == []


def test_a_log_of_any_shape_is_whole_and_its_head_stays_small(store, client, s3_prefix):
    shapes = [[1], ["x" * 3_000] * 30, [0] * 1_000, ["x" * 200_000], [{"n": 1}] * 50] * 30
    expected = []
    for number, entries in enumerate(shapes):
        assert store.append("s", "log", entries, batch_id=f"b{number}").start == len(expected)
        expected += entries
    assert [entry.value for entry in store.iter_entries("s", "log")] == expected
    for number, entries in enumerate(shapes):
        again = store.append("s", "log", entries, batch_id=f"b{number}")
        assert again.count == len(entries)
    (head,) = [name for name in names_in(client, s3_prefix) if name.startswith("l/")]
    stored = client.head_object(Bucket=bucket_of(s3_prefix), Key=prefix_of(s3_prefix) + head)
    assert stored["ContentLength"] < 3 * FULL


def test_two_writers_that_fill_one_tail_lose_and_repeat_nothing(store, s3_prefix, names):
    def write(writer):
        with holdall.open_store(s3_prefix) as own:
            for number in range(40):
                own.append("s", "log", [[writer, number, "x" * 5_000]])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(write, range(2)))
    entries = [entry.value[:2] for entry in store.iter_entries("s", "log")]
    assert sorted(entries) == [[writer, number] for writer in range(2) for number in range(40)]
    for writer in range(2):
        assert [number for who, number in entries if who == writer] == list(range(40))
    ends = [name.rpartition("/")[2].partition("-")[0] for name in names() if name.startswith("s/")]
    assert len(ends) == len(set(ends)), "whoever lost the race for a segment left one behind"


class Died(BaseException):
    """As if the process ended."""


@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_writer_that_dies_between_two_requests_loses_and_repeats_nothing(s3_prefix, store, monkeypatch, at, long_ago):
    entries = ["x" * 30_000, "y" * 30_000, "z" * 30_000]
    for number, entry in enumerate(entries):
        store.append("s", "log", [entry], batch_id=f"b{number}")
    with holdall.open_store(s3_prefix) as dying:
        dying.head("s", "log")
        bucket, sent = dying._operations._driver.bucket, []
        call = bucket.call

        async def die(name, **named):
            if named["writing"] or name == "put_object":
                sent.append(name)
                if len(sent) == at + 1:
                    raise Died
            return await call(name, **named)

        monkeypatch.setattr(bucket, "call", die)
        with pytest.raises(Died):
            dying.append("s", "log", ["w" * 100_000], batch_id="b3")
        monkeypatch.undo()
    assert [entry.value for entry in store.read("s", "log")] == entries
    assert store.append("s", "log", ["w" * 100_000], batch_id="b3").start == 3
    assert store.append("s", "log", ["w" * 100_000], batch_id="b3").start == 3
    assert len(store.read("s", "log")) == 4
    assert store.append("s", "log", [entries[0]], batch_id="b0").start == 0


def test_orphans_are_swept_and_what_is_named_stays(s3_prefix, store, names, client, long_ago):
    for number in range(12):
        store.append("s", "log", ["x" * 20_000], batch_id=f"b{number}")
    named = set(names())
    segment = next(name for name in named if name.startswith("s/"))
    bucket, prefix = bucket_of(s3_prefix), prefix_of(s3_prefix)
    body = client.get_object(Bucket=bucket, Key=prefix + segment)["Body"].read()
    orphan = f"{segment.rpartition('-')[0]}-{uuid.uuid4().hex[:16]}"
    client.put_object(Bucket=bucket, Key=prefix + orphan, Body=body)
    assert store.sweep() == 1
    assert set(names()) == named
    store.append("s", "log", ["y"])
    assert len(store.read("s", "log")) == 13
    assert store.append("s", "log", ["x" * 20_000], batch_id="b0").start == 0


def test_what_a_dropped_or_truncated_log_left_is_removed(store, names, long_ago):
    for number in range(100):
        store.append("s", "log", ["x" * 20_000], batch_id=f"b{number}")
    store.append("s", "other", ["x" * 200_000])
    store.truncate("s", "log", 95)
    store.drop("s", "log")
    store.drop("s", "other")
    assert {name.partition("/")[0] for name in names()} <= {"holdall.json", "l"}
    store.sweep()
    assert names() == ["holdall.json"]


def test_graves_and_expired_records_are_swept_but_marks_and_leases_stay(s3_prefix, store, names, long_ago):
    store.put("s", "plain", 1)
    store.put("s", "marked", 1, fence=5)
    store.put("s", "timed", 1, ttl=60)
    for key in ("plain", "marked"):
        store.delete("s", key)
    with holdall.open_lock(s3_prefix) as lock:
        lock.release(lock.try_acquire("k"))
        store.sweep()
        assert lock.try_acquire("k").token == 2
    assert len([name for name in names() if name.startswith("r/")]) == 2
    assert store.get("s", "timed").value == 1
    with pytest.raises(holdall.Fenced):
        store.put("s", "marked", 1, fence=4)


def test_a_damaged_object_is_named_and_a_sweep_goes_on(s3_prefix, store, client, names, long_ago):
    store.put("s", "k", 1)
    store.put("s", "timed", 1, ttl=60)
    store.append("s", "log", ["x" * 100_000])
    bucket, prefix = bucket_of(s3_prefix), prefix_of(s3_prefix)
    for name in names():
        if name.partition("/")[0] in {"r", "s"}:
            client.put_object(Bucket=bucket, Key=prefix + name, Body=b"damaged")
    with holdall.open_store(s3_prefix) as other:
        for read in (lambda: other.get("s", "k"), lambda: other.read("s", "log"), lambda: other.scan("s")):
            with pytest.raises(Corrupt, match="restore it from a backup"):
                read()
        before = names()
        other.sweep()
        assert names() == before
        other.put("s", "other", 1)
        assert other.get("s", "other").value == 1


def test_a_segment_that_somebody_deleted_is_corrupt_and_no_short_log(s3_prefix, store, client, names):
    store.append("s", "log", ["x" * 100_000])
    store.append("s", "log", ["y"])
    for name in names():
        if name.startswith("s/"):
            client.delete_object(Bucket=bucket_of(s3_prefix), Key=prefix_of(s3_prefix) + name)
    with holdall.open_store(s3_prefix) as other:
        with pytest.raises(Corrupt, match="entries of the log are missing"):
            other.read("s", "log")
        assert other.head("s", "log").length == 2


def test_a_bucket_with_versions_behaves_the_same(given):
    with given(moto_s3) as url:
        client = bare_client(url)
        client.put_bucket_versioning(Bucket=bucket_of(url), VersioningConfiguration={"Status": "Enabled"})
        with holdall.open_store(url) as store, holdall.open_lock(url) as lock:
            version = store.put("s", "k", 1)
            store.put("s", "k", 2, expect=version)
            with pytest.raises(holdall.Conflict):
                store.put("s", "k", 3, expect=version)
            store.delete("s", "k")
            store.put("s", "k", 4, expect=holdall.ABSENT)
            for number in range(8):
                store.append("s", "log", ["x" * 20_000], batch_id=f"b{number}")
            store.truncate("s", "log", 5)
            assert [entry.position for entry in store.read("s", "log", 5)] == [5, 6, 7]
            assert store.drop("s", "log")
            assert store.append("s", "log", [1]).start == 0
            lease = lock.try_acquire("k")
            assert lock.release(lease)
            assert lock.try_acquire("k").token == 2
            store.sweep()
            assert [record.value for record in store.iter_records("s")] == [4]
        client.close()
