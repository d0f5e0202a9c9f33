"""How many requests and capacity units each operation takes: the table in docs/adapters/dynamodb.md."""

from __future__ import annotations

import uuid

import pytest

import holdall
from holdall import ABSENT, Append, Check, Conflict, Delete, Fenced, Put
from holdall_conformance.proxy import Proxy
from tests.adapters.aws_tools import Counting, watched
from tests.adapters.handles import KINDS, opened

GET, UPDATE = {"GetItem": 1}, {"UpdateItem": 1}
VALUE = {"text": "x" * 500}


@pytest.fixture(scope="module")
def counting():
    return Counting()


@pytest.fixture(scope="module")
def handles(dynamodb_url, counting):
    with watched(dynamodb_url, counting.watch) as handles:
        yield handles


@pytest.fixture
def counted(handles, counting):
    """Return a function that tells what a call takes: requests by their names, and capacity units."""

    def count(call, refused=None):
        counting.take()
        if refused is None:
            call()
        else:
            with pytest.raises(refused):
                call()
        return counting.take()

    return count


@pytest.fixture
def scope(handles):
    """A scope that the handle has written in, so that it is in both catalogues."""
    scope = uuid.uuid4().hex
    handles.store.put(scope, "first", 1)
    handles.store.append(scope, "first", [1])
    return scope


def test_the_first_write_in_a_scope_enters_it_into_the_catalogue(handles, counted):
    scope = uuid.uuid4().hex
    requests, units = counted(lambda: handles.store.put(scope, "k", 1))
    assert requests == {"PutItem": 1, "UpdateItem": 1}
    assert units == 2
    assert counted(lambda: handles.store.put(scope, "k", 2)) == (UPDATE, 1)


def test_writes_of_records(handles, counted, scope):
    store = handles.store
    assert counted(lambda: store.put(scope, "k", VALUE)) == (UPDATE, 1)
    version = store.put(scope, "k", VALUE)
    assert counted(lambda: store.put(scope, "k", VALUE, expect=version)) == (UPDATE, 1)
    assert counted(lambda: store.put(scope, "k", VALUE, ttl=60, fence=3)) == (UPDATE, 1)
    assert counted(lambda: store.put(scope, "new", VALUE, expect=ABSENT)) == (UPDATE, 1)
    assert counted(lambda: store.put(scope, "k", "x" * 4_000)) == (UPDATE, 5)
    assert counted(lambda: store.touch(scope, "new", 60)) == (UPDATE, 1)
    assert counted(lambda: store.seal(scope, "k", 4)) == (UPDATE, 5)
    assert counted(lambda: store.delete(scope, "new")) == (UPDATE, 1)
    assert counted(lambda: store.update(scope, "k", lambda _: 1))[0] == {"GetItem": 1, "UpdateItem": 1}


def test_writes_that_are_refused_tell_why_with_at_most_one_more(handles, counted, scope):
    store = handles.store
    version = store.put(scope, "k", VALUE)
    store.put(scope, "k", VALUE, fence=9)
    for call, kind in (
        (lambda: store.put(scope, "k", 1, expect=version), Conflict),
        (lambda: store.put(scope, "k", 1, expect=ABSENT), Conflict),
        (lambda: store.put(scope, "k", 1, fence=8), Fenced),
        (lambda: store.delete(scope, "k", expect=version), Conflict),
    ):
        assert counted(call, kind)[0] in ({"GetItem": 1, "UpdateItem": 1}, UPDATE)


def test_an_unfenced_write_with_a_ttl_on_a_record_with_a_mark_takes_one_more_try(handles, counted, scope):
    handles.store.put(scope, "k", 1, fence=2)
    requests, _ = counted(lambda: handles.store.put(scope, "k", 1, ttl=60))
    assert requests["UpdateItem"] == 2


def test_reads_of_records(handles, counted, scope):
    store = handles.store
    store.put(scope, "k", VALUE)
    assert counted(lambda: store.get(scope, "k")) == (GET, 1)
    assert counted(lambda: store.get(scope, "absent")) == (GET, 1)
    store.put_many(scope, {f"k{number}": number for number in range(50)})
    requests, units = counted(lambda: store.get_many(scope, [f"k{number}" for number in range(50)]))
    assert (requests, units) == ({"BatchGetItem": 1}, 50)
    assert counted(lambda: store.scan(scope))[0] == {"Query": 4}
    assert counted(lambda: store.keys(scope))[0] == {"Query": 4}


def test_many_writes_are_one_request_each(handles, counted, scope):
    values = {f"k{number}": number for number in range(40)}
    assert counted(lambda: handles.store.put_many(scope, values)) == ({"UpdateItem": 40}, 40)
    assert counted(lambda: handles.store.delete_many(scope, values)) == ({"UpdateItem": 40}, 40)


def test_a_large_value(handles, counted, scope):
    requests, units = counted(lambda: handles.store.put(scope, "k", "x" * 1_000_000))
    assert requests == {"GetItem": 1, "PutItem": 1, "BatchWriteItem": 1, "UpdateItem": 1}
    assert units < 1_000
    assert counted(lambda: handles.store.get(scope, "k"))[0] == {"GetItem": 1, "BatchGetItem": 1}


def test_appends_on_a_log_that_the_handle_has_seen(handles, counted, scope):
    store = handles.store
    store.append(scope, "log", [1])
    assert counted(lambda: store.append(scope, "log", [VALUE]))[0] == UPDATE
    assert counted(lambda: store.append(scope, "log", [0] * 1_000))[0] == UPDATE
    length = store.head(scope, "log").length
    assert counted(lambda: store.append(scope, "log", [1], expect=length, fence=2))[0] == UPDATE
    assert counted(lambda: store.append(scope, "log", [1], batch_id="b"))[0] == UPDATE
    assert counted(lambda: store.append(scope, "log", [1], expect=1), Conflict)[0] == GET


def test_an_append_by_a_handle_that_has_not_seen_the_log(dynamodb_url, handles, scope):
    handles.store.append(scope, "log", [1])
    counting = Counting()
    with watched(dynamodb_url, counting.watch) as cold:
        cold.store.append(scope, "other", [1])
        counting.take()
        cold.store.append(scope, "log", [2])
        assert counting.take()[0] == {"GetItem": 1, "UpdateItem": 1}


def test_a_thousand_appends_take_few_requests_beside_their_own(handles, counting, scope):
    counting.take()
    for number in range(1_000):
        handles.store.append(scope, "log", [{"n": number, "text": "x" * 100}])
    requests, units = counting.take()
    assert sum(requests.values()) < 1_100
    assert units < 16 * 1_000


def test_a_batch_id_takes_one_look_once_batches_have_left_the_tail(handles, counted, scope):
    for number in range(60):
        handles.store.append(scope, "log", ["x" * 500], batch_id=f"old-{number}")
    requests, _ = counted(lambda: handles.store.append(scope, "log", [1], batch_id="new"))
    assert requests["GetItem"] == 1
    assert requests["UpdateItem"] <= 2


def test_a_cold_read_of_many_entries_takes_tens_of_requests(handles, counted, scope):
    for _ in range(20):
        handles.store.append(scope, "log", [{"n": number, "text": "x" * 50} for number in range(1_000)])
    requests, _ = counted(lambda: handles.store.read(scope, "log"))
    assert sum(requests.values()) <= 6
    requests, _ = counted(lambda: handles.store.tail(scope, "log", 3))
    assert sum(requests.values()) <= 3


def test_what_else_concerns_logs(handles, counted, scope):
    store = handles.store
    store.append(scope, "log", [1, 2, 3])
    assert counted(lambda: store.head(scope, "log"))[0] == GET
    assert counted(lambda: store.read(scope, "log"))[0] == GET
    assert counted(lambda: store.seal(scope, "log", 2, log=True))[0] == UPDATE
    assert counted(lambda: store.truncate(scope, "log", 1))[0] == {"GetItem": 1, "UpdateItem": 1, "Query": 1}
    assert counted(lambda: store.logs(scope))[0] == {"Query": 4}
    assert counted(lambda: store.drop(scope, "log"))[0] == {"GetItem": 1, "UpdateItem": 1, "Query": 2}


def test_a_commit_reads_and_writes_once(handles, counted, scope):
    store = handles.store
    version = store.put(scope, "k", 1)
    operations = [Put(scope, "a", 1), Append(scope, "log", [1]), Check(scope, "k", version), Delete(scope, "k2")]
    requests, units = counted(lambda: store.commit(operations))
    assert requests == {"BatchGetItem": 1, "TransactWriteItems": 1}
    assert units <= 4 + 2 * 4
    assert counted(lambda: store.commit([Put(scope, "a", 1)]))[0] == UPDATE


def test_leases_and_flags(handles, counted):
    lock, key = handles.lock, uuid.uuid4().hex
    assert counted(lambda: lock.try_acquire(key)) == (UPDATE, 1)
    lock.raise_floor(key, 7)
    assert counted(lambda: lock.held(key)) == (GET, 1)
    other = uuid.uuid4().hex
    lease = lock.try_acquire(other)
    assert counted(lambda: lock.renew(lease)) == (UPDATE, 1)
    requests, _ = counted(lambda: lock.try_acquire(other))
    assert requests in ({"GetItem": 1, "UpdateItem": 1}, UPDATE)
    assert counted(lambda: lock.release(lease)) == (UPDATE, 1)
    assert counted(lambda: lock.set_flag(key)) == (UPDATE, 1)
    assert counted(lambda: lock.flag(key)) == (GET, 1)
    assert counted(lambda: lock.clear_flag(key))[0] == {"DeleteItem": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_both_sides_send_the_same(kind, dynamodb_url):
    scope = uuid.uuid4().hex
    with Proxy.before(dynamodb_url) as proxy, opened(kind, proxy.url(dynamodb_url)) as handles:
        store, lock = handles.store, handles.lock
        for call, requests in (
            (lambda: store.put(scope, "k", 1), 2),
            (lambda: store.put(scope, "k", 1), 1),
            (lambda: store.get(scope, "k"), 1),
            (lambda: store.append(scope, "log", [1]), 3),
            (lambda: store.append(scope, "log", [1]), 1),
            (lambda: store.scan(scope), 4),
            (lambda: lock.try_acquire(scope), 1),
        ):
            before = proxy.requests
            handles.run(call())
            assert proxy.requests - before == requests


def test_the_mark_of_a_refusal_is_told(handles, scope):
    handles.store.put(scope, "k", 1, fence=9)
    with pytest.raises(holdall.Fenced) as refused:
        handles.store.put(scope, "k", 1, fence=8)
    assert refused.value.mark == 9
