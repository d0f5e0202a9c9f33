"""How many requests each operation takes: the table in docs/adapters/s3.md."""

from __future__ import annotations

import uuid

import pytest

from holdall import ABSENT, Conflict, Fenced
from holdall_conformance.proxy import Proxy
from tests.adapters.aws_tools import Counting, watched
from tests.adapters.handles import KINDS, opened
from tests.adapters.s3_tools import other_prefix

GET, PUT, LIST = {"GetObject": 1}, {"PutObject": 1}, {"ListObjectsV2": 1}
BOTH = GET | PUT
VALUE = {"text": "x" * 500}
FULL = 64 * 1024


@pytest.fixture(scope="module")
def counting():
    return Counting()


@pytest.fixture(scope="module")
def url(s3_url):
    return other_prefix(s3_url)


@pytest.fixture(scope="module")
def handles(url, counting):
    with watched(url, counting.watch) as handles:
        yield handles


@pytest.fixture
def cold(url):
    """A handle that knows nothing of what is there, and what it counts."""
    counting = Counting()
    with watched(url, counting.watch) as handles:
        counting.take()
        yield handles, counting


@pytest.fixture
def counted(handles, counting):
    """Return a function that tells what requests a call takes, by their names."""

    def count(call, refused=None):
        counting.take()
        if refused is None:
            call()
        else:
            with pytest.raises(refused):
                call()
        return counting.take()[0]

    return count


@pytest.fixture
def scope():
    return uuid.uuid4().hex


def test_a_record_that_the_handle_knows_is_written_by_one_request(handles, counted, scope):
    store = handles.store
    assert counted(lambda: store.put(scope, "k", VALUE)) == BOTH
    assert counted(lambda: store.put(scope, "k", VALUE)) == PUT
    version = store.put(scope, "k", VALUE)
    assert counted(lambda: store.put(scope, "k", VALUE, expect=version)) == PUT
    assert counted(lambda: store.put(scope, "k", VALUE, ttl=60, fence=3)) == PUT
    assert counted(lambda: store.touch(scope, "k", 60)) == BOTH
    assert counted(lambda: store.seal(scope, "k", 4)) == BOTH
    assert counted(lambda: store.update(scope, "k", lambda _: 1)) == BOTH
    assert counted(lambda: store.delete(scope, "k")) == PUT
    assert counted(lambda: store.put(scope, "k", VALUE, expect=ABSENT, fence=4)) == PUT
    assert counted(lambda: store.put(scope, "new", VALUE, expect=ABSENT)) == PUT
    assert counted(lambda: store.put_many(scope, {f"m{number}": number for number in range(20)})) == {"PutObject": 20}


def test_a_handle_that_does_not_know_it_reads_first(handles, cold, scope):
    version = handles.store.put(scope, "k", VALUE)
    other, counting = cold
    other.store.put(scope, "k", VALUE, expect=version)
    assert counting.take()[0] == BOTH
    other.store.get(scope, "k")
    assert counting.take()[0] == GET
    other.store.delete(scope, "k")
    assert counting.take()[0] == PUT


def test_what_is_there_though_it_was_taken_for_new_takes_three(handles, cold, scope):
    handles.store.put(scope, "k", VALUE)
    other, counting = cold
    other.store.put_many(scope, {"k": 2})
    assert counting.take()[0] == {"PutObject": 2, "GetObject": 1}
    with pytest.raises(Conflict):
        other.store.put(scope, "k", 3, expect=ABSENT)
    assert handles.store.get(scope, "k").value == 2


def test_refusals_take_one_look(handles, counted, scope):
    store = handles.store
    version = store.put(scope, "k", VALUE)
    store.put(scope, "k", VALUE, fence=9)
    for call, kind in (
        (lambda: store.put(scope, "k", 1, expect=version), Conflict),
        (lambda: store.put(scope, "k", 1, expect=ABSENT), Conflict),
        (lambda: store.put(scope, "k", 1, fence=8), Fenced),
        (lambda: store.delete(scope, "k", expect=version), Conflict),
    ):
        assert counted(call, kind) == GET


def test_what_another_has_written_meanwhile_takes_two_more(handles, cold, counted, scope):
    handles.store.put(scope, "k", 1)
    cold[0].store.put(scope, "k", 2)
    assert counted(lambda: handles.store.put(scope, "k", 3)) == {"PutObject": 2, "GetObject": 1}


def test_reads_of_records(handles, counted, scope):
    store = handles.store
    store.put_many(scope, {f"k{number}": number for number in range(40)})
    store.put(scope, "timed", 1, ttl=600)
    assert counted(lambda: store.get(scope, "k1")) == GET
    assert counted(lambda: store.get(scope, "absent")) == GET
    assert counted(lambda: store.get_many(scope, [f"k{number}" for number in range(40)])) == {"GetObject": 40}
    assert counted(lambda: store.scan(scope)) == {"GetObject": 41} | LIST
    assert counted(lambda: store.keys(scope)) == GET | LIST
    assert counted(lambda: store.put_many(scope, {f"k{number}": 1 for number in range(40)})) == {"PutObject": 40}
    assert counted(lambda: store.delete_many(scope, [f"k{number}" for number in range(40)])) == {"PutObject": 40}


def test_appends(handles, counted, scope):
    store = handles.store
    assert counted(lambda: store.append(scope, "log", [1])) == BOTH
    assert counted(lambda: store.append(scope, "log", [VALUE])) == PUT
    assert counted(lambda: store.append(scope, "log", [0] * 1_000)) == PUT
    length = store.head(scope, "log").length
    assert counted(lambda: store.append(scope, "log", [1], expect=length, fence=2)) == PUT
    assert counted(lambda: store.append(scope, "log", [1], batch_id="b")) == PUT
    assert counted(lambda: store.append(scope, "log", [1], batch_id="b")) == GET
    assert counted(lambda: store.append(scope, "log", [1], expect=1), Conflict) == GET
    assert counted(lambda: store.append(scope, "log", ["x" * FULL], fence=2)) == {"PutObject": 3}  # a marker for "b"
    assert counted(lambda: store.append(scope, "log", [1], batch_id="c")) == BOTH
    assert counted(lambda: store.append(scope, "log", ["x" * 500_000])) == {"PutObject": 3}  # one for "c"
    assert counted(lambda: store.append(scope, "log", ["x" * 500_000])) == {"PutObject": 2}


def test_an_append_by_a_handle_that_has_not_seen_the_log(handles, cold, scope):
    handles.store.append(scope, "log", [1])
    other, counting = cold
    other.store.append(scope, "log", [2])
    assert counting.take()[0] == BOTH


def test_a_thousand_appends_take_few_requests_beside_their_own(handles, counting, scope):
    counting.take()
    for number in range(1_000):
        handles.store.append(scope, "log", [{"n": number, "text": "x" * 300}])
    assert sum(counting.take()[0].values()) < 1_020


def test_a_hundred_thousand_entries_are_read_by_tens_of_requests(handles, cold, scope):
    for number in range(100):
        handles.store.append(scope, "log", [{"n": number, "text": "x" * 50}] * 1_000)
    other, counting = cold
    count = sum(1 for _ in other.store.iter_entries(scope, "log"))
    requests = sum(counting.take()[0].values())
    assert count == 100_000
    assert requests < 100
    other.store.tail(scope, "log", 3)
    assert sum(counting.take()[0].values()) <= 2


def test_what_else_concerns_logs(handles, counted, scope):
    store = handles.store
    store.append(scope, "log", [1, 2, 3])
    assert counted(lambda: store.head(scope, "log")) == GET
    assert counted(lambda: store.read(scope, "log")) == GET
    assert counted(lambda: store.tail(scope, "log", 2)) == GET
    assert counted(lambda: store.truncate(scope, "log", 1)) == PUT
    assert counted(lambda: store.seal(scope, "log", 2, log=True)) in (PUT, BOTH)
    assert counted(lambda: store.logs(scope)) == LIST
    assert counted(lambda: store.drop(scope, "log")) == PUT


def test_leases_and_flags(handles, counted):
    lock, key, other = handles.lock, uuid.uuid4().hex, uuid.uuid4().hex
    assert counted(lambda: lock.try_acquire(key)) == BOTH
    assert counted(lambda: lock.raise_floor(key, 7)) == PUT
    assert counted(lambda: lock.held(key)) == GET
    lease = lock.try_acquire(other)
    assert counted(lambda: lock.renew(lease)) == PUT
    assert counted(lambda: lock.try_acquire(other)) == GET
    assert counted(lambda: lock.release(lease)) == PUT
    assert counted(lambda: lock.try_acquire(other)) == PUT
    assert counted(lambda: lock.set_flag(key)) == BOTH
    assert counted(lambda: lock.flag(key)) == GET
    assert counted(lambda: lock.clear_flag(key)) == BOTH


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_send_the_same(kind, s3_prefix):
    with Proxy.before(s3_prefix) as proxy, opened(kind, proxy.url(s3_prefix)) as handles:
        store, lock = handles.store, handles.lock
        for call, requests in (
            (lambda: store.put("s", "k", 1), 2),
            (lambda: store.put("s", "k", 1), 1),
            (lambda: store.get("s", "k"), 1),
            (lambda: store.append("s", "log", [1]), 2),
            (lambda: store.append("s", "log", [1]), 1),
            (lambda: store.append("s", "log", ["x" * FULL]), 2),
            (lambda: store.scan("s"), 2),
        ):
            before = proxy.requests
            handles.run(call())
            assert proxy.requests - before == requests
        before = proxy.requests
        handles.run(lock.try_acquire("k"))
        assert proxy.requests - before in (2, 3)  # one more until Dates have told the server's time closely
