"""Opening tables that are there, are not, or are of another layout; clients of the caller's."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import boto3
import pytest

import holdall
from holdall import ABSENT, ConfigError, Unavailable
from holdall_adapters.dynamodb import OPTIONS
from holdall_conformance.children import Children, soon, wait_until
from holdall_conformance.harness import Harness
from tests.adapters.aws_tools import arguments_of, bare_client
from tests.adapters.dynamodb_tools import other_table, table_of
from tests.adapters.handles import KINDS, opened
from tests.server_kinds.common import free_port

AioSession = pytest.importorskip("aiobotocore.session").AioSession
PROCESSES = 8


def open_and_write(parent, harness, url, name):
    """In a child process: open a table at the moment the parent names, and write to it at once."""
    parent.say("ready")
    wait_until(parent.hear())
    try:
        with holdall.open_store(url) as store, holdall.open_lock(url) as lock:
            store.put("s", name, name, expect=ABSENT)
            store.append("s", "log", [name])
            lock.release(lock.acquire(name, timeout=0))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent is told
        parent.say(repr(error))
    else:
        parent.say("")


def test_eight_processes_make_the_table_at_once(dynamodb_url):
    url = other_table(dynamodb_url)
    with Children(Harness(url)) as children:
        target = "tests.adapters.test_dynamodb_opening:open_and_write"
        openers = [children.start(target, url, f"process-{number}") for number in range(PROCESSES)]
        assert [opener.hear() for opener in openers] == ["ready"] * PROCESSES
        moment = soon()
        for opener in openers:
            opener.say(moment)
        assert [opener.hear() for opener in openers] == [""] * PROCESSES
        for opener in openers:
            opener.finish()
    with holdall.open_store(url) as store:
        assert len(list(store.iter_keys("s"))) == len(store.read("s", "log")) == PROCESSES


@pytest.mark.parametrize("kind", KINDS)
def test_create_false_makes_no_table(dynamodb_url, kind):
    url = other_table(dynamodb_url, create="false")
    with pytest.raises(ConfigError, match="no such table"), opened(kind, url):
        pass
    client = bare_client(url)
    assert table_of(url) not in client.list_tables()["TableNames"]
    client.close()


def test_the_table_is_as_the_page_says(dynamodb_url):
    url = other_table(dynamodb_url)
    holdall.open_store(url).close()
    client = bare_client(url)
    table = client.describe_table(TableName=table_of(url))["Table"]
    client.close()
    assert {key["AttributeName"]: key["KeyType"] for key in table["KeySchema"]} == {"pk": "HASH", "sk": "RANGE"}
    assert {each["AttributeType"] for each in table["AttributeDefinitions"]} == {"B"}


def test_another_number_of_shards_is_refused_and_names_the_right_one(dynamodb_url):
    url = other_table(dynamodb_url, shards="7")
    with holdall.open_store(url) as store:
        store.put_many("s", {f"k{number:03}": number for number in range(200)})
        assert list(store.iter_keys("s")) == [f"k{number:03}" for number in range(200)]
    with pytest.raises(ConfigError, match="shards=7"):
        holdall.open_store(url.replace("shards=7", "shards=8"))


@pytest.mark.parametrize(
    "url, hint",
    [
        ("dynamodb://x?region=us-east-1", "names no table"),
        ("dynamodb://Ta ble?region=us-east-1", "names no table"),
        ("dynamodb://Table/more?region=us-east-1", "path"),
        ("dynamodb://Table?region=us-east-1&shards=0", "1 to 64"),
        ("dynamodb://Table?region=us-east-1&shards=65", "1 to 64"),
        ("dynamodb://Table?regoin=us-east-1", "region"),
        ("dynamodb://Table?region=us-east-1&profile=nobody-has-this", "profile"),
        ("dynamodb://Table?region=us-east-1&endpoint_url=nowhere", "endpoint"),
    ],
)
def test_what_a_url_must_not_say_is_told(url, hint):
    with pytest.raises(ConfigError, match=hint):
        holdall.open_store(url)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_not_there_is_unavailable_in_time_and_the_secret_is_not_shown(kind):
    url = f"dynamodb://Table?endpoint_url=http://127.0.0.1:{free_port()}&region=x-1&access_key_id=a"
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught, opened(kind, f"{url}&secret_access_key=hush-hush", timeout=2):
        pass
    assert time.monotonic() - began < 5
    assert "hush" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"


def test_the_table_keeps_its_case(dynamodb_url):
    url = other_table(dynamodb_url).replace("test-", "Test-")
    with holdall.open_store(url) as store:
        assert store.describe()["table"] == table_of(url)


def test_a_client_or_session_of_the_caller_is_used_and_stays_open(dynamodb_url):
    client = bare_client(dynamodb_url)
    arguments = arguments_of(dynamodb_url)
    names = {"region_name", "aws_access_key_id", "aws_secret_access_key"}
    session = boto3.session.Session(**{name: value for name, value in arguments.items() if name in names})
    for given in (client, session):
        with holdall.open_store(dynamodb_url, client=given) as store:
            store.put("client", "k", 1)
            with holdall.open_lock(store) as lock, lock.hold("client-lock", ttl=5, heartbeat=0.2) as hold:
                time.sleep(0.7)
                assert not hold.lost
    assert client.list_tables()["TableNames"]
    client.close()


def test_an_asynchronous_client_or_session_of_the_caller_is_used_and_stays_open(dynamodb_url):
    async def use(given):
        async with holdall.open_async_store(dynamodb_url, client=given) as store:
            await store.put("client", "k", 1)
            async with holdall.open_async_lock(store) as lock, lock.hold("client-lock-2", ttl=5, heartbeat=0.2) as hold:
                await asyncio.sleep(0.7)
                assert not hold.lost

    async def both():
        session = AioSession()
        async with session.create_client("dynamodb", **arguments_of(dynamodb_url)) as client:
            await use(client)
            await use(session)
            assert (await client.list_tables())["TableNames"]

    asyncio.run(both())


@pytest.mark.parametrize("thing", [object(), "client"])
def test_what_is_no_client_is_refused(dynamodb_url, thing):
    with pytest.raises(ConfigError, match="boto3"):
        holdall.open_store(dynamodb_url, client=thing)


def test_clients_of_the_other_side_or_service_are_refused(dynamodb_url):
    arguments = {**arguments_of(dynamodb_url)}
    blocking, storage = bare_client(dynamodb_url), boto3.session.Session().client("s3", **arguments)

    async def cross():
        async with AioSession().create_client("dynamodb", **arguments) as client:
            with pytest.raises(ConfigError, match="boto3"):
                holdall.open_store(dynamodb_url, client=client)
        with pytest.raises(ConfigError, match="aiobotocore"):
            await holdall.open_async_store(dynamodb_url, client=blocking).ping()

    asyncio.run(cross())
    with pytest.raises(ConfigError, match="dynamodb"):
        holdall.open_store(dynamodb_url, client=storage)
    blocking.close()
    storage.close()


def test_every_option_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs" / "adapters" / "dynamodb.md").read_text()
    assert [option.name for option in OPTIONS if f"`{option.name}`" not in page] == []
