"""What stands in the table: sizes, marks, and the attribute by which the table cleans up."""

from __future__ import annotations

import random
import uuid

import pytest

import holdall
from holdall import Append, Put, TooLarge
from holdall_adapters.aws.times import KEPT
from holdall_adapters.dynamodb import names
from tests.adapters.aws_tools import bare_client
from tests.adapters.dynamodb_tools import other_table, table_of

LARGEST = 4 * 2**20


@pytest.fixture(scope="module")
def url(dynamodb_url):
    return other_table(dynamodb_url)


@pytest.fixture(scope="module")
def store(url):
    with holdall.open_store(url) as store:
        yield store


@pytest.fixture(scope="module")
def client(url):
    client = bare_client(url)
    yield client
    client.close()


@pytest.fixture
def scope():
    return uuid.uuid4().hex


@pytest.fixture
def everything(client, url):
    """Return a function that returns all items of the table."""

    def scan():
        pages = client.get_paginator("scan").paginate(TableName=table_of(url), ConsistentRead=True)
        return [item for page in pages for item in page["Items"]]

    return scan


@pytest.fixture
def item(client, url):
    """Return a function that returns an item."""

    def get(key):
        return client.get_item(TableName=table_of(url), Key=key, ConsistentRead=True).get("Item")

    return get


def size(value):
    """Return about how many bytes DynamoDB counts for an item or a value of one."""
    if isinstance(value, dict):
        return sum(len(name) + size(inner) + 1 for name, inner in value.items())
    if isinstance(value, list):
        return sum(map(size, value)) + 3
    return len(value)


@pytest.mark.parametrize("length", [299_998, 299_999, 300_000, 379_998, 380_001, 760_000, 3_000_000, LARGEST - 2])
def test_values_around_what_an_item_holds_come_back(store, scope, length):
    store.put(scope, "k", "x" * length)
    assert store.get(scope, "k").value == "x" * length
    assert [len(record.value) for record in store.scan(scope).items] == [length]


def test_a_value_above_the_limit_is_refused_and_writes_nothing(store, scope, everything):
    before = len(everything())
    with pytest.raises(TooLarge):
        store.put(scope, "k", "x" * (LARGEST - 1))
    assert len(everything()) == before


def test_parts_of_what_was_replaced_dropped_or_refused_are_removed(dynamodb_url, scope):
    url = other_table(dynamodb_url)
    with holdall.open_store(url) as store:
        _leave_parts_behind(store, scope)
    client = bare_client(url)
    items = client.scan(TableName=table_of(url), ConsistentRead=True)["Items"]
    client.close()
    assert not {item["pk"]["B"][:1] for item in items} & {b"p", b"q", b"c", b"b"}


def _leave_parts_behind(store, scope):
    version = store.put(scope, "k", "x" * 1_000_000)
    store.put(scope, "k", "y" * 900_000)
    store.put(scope, "k", 1)
    store.put(scope, "k", "x" * 1_000_000)
    with pytest.raises(holdall.Conflict):
        store.put(scope, "k", "z" * 1_000_000, expect=version)
    store.delete(scope, "k")
    store.append(scope, "log", ["x" * 500_000])
    with pytest.raises(holdall.Conflict):
        store.append(scope, "log", ["x" * 500_000], expect=7)
    store.drop(scope, "log")


def test_a_log_of_any_shape_keeps_every_item_small(store, scope, everything):
    chance = random.Random(3)
    for number in range(300):
        count = chance.choice([1, 1, 1, 5, 50, 1_000])
        store.append(scope, "log", ["x" * chance.choice([1, 100, 3_000])] * count, batch_id=f"b{number}")
    assert max(size(item) for item in everything()) < 400_000
    head = next(item for item in everything() if item["pk"]["B"][:1] == b"l" and item["sk"]["B"] == b"log")
    assert size(head) < 128_000


def test_the_table_may_clean_up_only_what_has_no_mark(store, scope, item):
    key = names.record(scope, "k", 4)
    store.put(scope, "k", 1, ttl=60)
    found = item(key)
    assert float(found["ttl"]["N"]) == pytest.approx(float(found["exp"]["N"]) + KEPT, abs=1)
    store.put(scope, "k", 1, ttl=60, fence=3)
    assert "ttl" not in item(key)
    store.put(scope, "k", 1, ttl=60)
    assert "ttl" not in item(key)
    store.touch(scope, "k", 30)
    assert "ttl" not in item(key)
    store.delete(scope, "k")
    assert "ttl" not in item(key)
    assert item(key)["mark"]["N"] == "3"
    store.put(scope, "plain", 1, ttl=60)
    store.seal(scope, "plain", 5)
    assert "ttl" not in item(names.record(scope, "plain", 4))
    store.put(scope, "third", 1, ttl=60)
    store.commit([Put(scope, "third", 2, ttl=60, fence=2), Append(scope, "log", [1])])
    assert "ttl" not in item(names.record(scope, "third", 4))
    store.put(scope, "fourth", 1, ttl=60)
    store.put(scope, "fourth", 1)
    assert "ttl" not in item(names.record(scope, "fourth", 4))


def test_a_grave_without_a_mark_is_cleaned_up_by_the_table_later(store, scope, item):
    store.put(scope, "k", 1)
    store.delete(scope, "k")
    grave = item(names.record(scope, "k", 4))
    assert "val" not in grave
    assert float(grave["ttl"]["N"]) > float(grave["gone"]["N"]) + KEPT


def test_leases_never_carry_the_attribute_and_are_never_deleted(url, item):
    key = uuid.uuid4().hex
    with holdall.open_lock(url) as lock:
        for token in (1, 2, 3):
            lease = lock.try_acquire(key)
            assert lease.token == token
            assert "ttl" not in item(names.lease(key))
            lock.release(lock.renew(lease))
            assert "ttl" not in item(names.lease(key))


def test_a_sweep_removes_parts_that_a_crash_left_and_refuses_the_writer(store, scope, everything, client, url):
    """Parts are written as by a writer that died before it could refer to them, more than an hour ago."""
    store.put(scope, "k", "x" * 1_000_000)
    write_id, key = uuid.uuid4().hex, names.record(scope, "k", 4)
    index = {**names.orphan(write_id), "opk": key["pk"], "osk": key["sk"], "at": {"N": "1000000000"}}
    client.put_item(TableName=table_of(url), Item=index)
    for number in range(3):
        client.put_item(TableName=table_of(url), Item={**names.part(write_id, number), "val": {"B": b"x"}})
    before = len(everything())
    assert store.sweep() == 1
    assert before - len(everything()) == 4
    assert len(store.get(scope, "k").value) == 1_000_000
    found = client.get_item(TableName=table_of(url), Key=key, ConsistentRead=True)["Item"]
    assert found["epoch"]["N"] == "1"
    store.put(scope, "k", "y" * 1_000_000)
    assert store.get(scope, "k").value[:1] == "y"


@pytest.mark.parametrize("after", [1, 2, 3])
def test_a_spill_that_ends_early_is_done_by_the_next_writer(store, scope, monkeypatch, after):
    """The chunk may be there or not: what it holds is a function of the tail."""
    driver = store._operations._driver
    entries = [{"n": number, "text": "x" * 400} for number in range(120)]
    call, calls = driver.table.call, []

    async def dying(name, **named):
        if name == "put_item" and named["Item"]["pk"]["B"][:1] == b"c":
            calls.append(name)
            if len(calls) == after:
                await call(name, **named)
                raise holdall.Unavailable("made up")
        return await call(name, **named)

    monkeypatch.setattr(driver.table, "call", dying)
    for number, entry in enumerate(entries):
        assert store.append(scope, "log", [entry], batch_id=f"b{number}").start == number
    monkeypatch.undo()
    assert [entry.value for entry in store.read(scope, "log")] == entries
    for number, entry in enumerate(entries):
        assert store.append(scope, "log", [entry], batch_id=f"b{number}").start == number
    assert store.head(scope, "log").length == len(entries)
