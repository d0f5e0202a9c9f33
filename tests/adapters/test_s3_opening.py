"""Opening prefixes that are there, are not, or lie in another; servers without conditions; the caller's clients."""

from __future__ import annotations

import asyncio
import time
import uuid
from pathlib import Path

import boto3
import pytest

import holdall
from holdall import ABSENT, ConfigError, Unavailable
from holdall_adapters.s3 import OPTIONS
from holdall_adapters.s3.connections import probed
from holdall_conformance.children import Children, soon, wait_until
from holdall_conformance.harness import Harness
from tests.adapters.aws_tools import Broken, arguments_of, bare_client, watched
from tests.adapters.handles import KINDS, opened
from tests.adapters.s3_tools import bucket_of, names_in, other_prefix, prefix_of
from tests.servers import free_port, moto_s3

AioSession = pytest.importorskip("aiobotocore.session").AioSession
PROCESSES = 8


@pytest.fixture
def client(s3_url):
    client = bare_client(s3_url)
    yield client
    client.close()


@pytest.fixture(scope="module")
def moto_url(given):
    """Another server, which makes no bucket by itself."""
    with given(moto_s3) as url:
        yield url


@pytest.fixture
def untried(monkeypatch):
    """No server was tried yet in this process."""
    monkeypatch.setattr(probed, "_probed", set())


def open_and_write(parent, harness, url, name):
    """In a child process: open a prefix at the moment the parent names, and write to it at once."""
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


def test_eight_processes_begin_a_storage_at_once(s3_prefix):
    with Children(Harness(s3_prefix)) as children:
        target = "tests.adapters.test_s3_opening:open_and_write"
        openers = [children.start(target, s3_prefix, f"process-{number}") for number in range(PROCESSES)]
        assert [opener.hear() for opener in openers] == ["ready"] * PROCESSES
        moment = soon()
        for opener in openers:
            opener.say(moment)
        assert [opener.hear() for opener in openers] == [""] * PROCESSES
        for opener in openers:
            opener.finish()
    with holdall.open_store(s3_prefix) as store:
        assert len(list(store.iter_keys("s"))) == len(store.read("s", "log")) == PROCESSES


@pytest.mark.parametrize("kind", KINDS)
def test_create_false_begins_nothing(s3_url, client, kind):
    url = other_prefix(s3_url, create="false")
    with pytest.raises(ConfigError, match="create=false"), opened(kind, url):
        pass
    assert names_in(client, url) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_bucket_that_is_not_there_is_told(moto_url, kind):
    url = moto_url.replace(f"s3://{bucket_of(moto_url)}", "s3://no-such-bucket-here")
    with pytest.raises(ConfigError, match="no such bucket"), opened(kind, url):
        pass


def test_a_prefix_within_a_storage_is_refused(s3_url, s3_prefix):
    holdall.open_store(s3_prefix).close()
    inner = s3_prefix.replace("?", "/inner/more?")
    with pytest.raises(ConfigError, match="prefix outside"):
        holdall.open_store(inner)


def test_what_is_none_of_holdalls_is_refused(s3_prefix, client):
    client.put_object(Bucket=bucket_of(s3_prefix), Key=f"{prefix_of(s3_prefix)}holdall.json", Body=b"[1]")
    with pytest.raises(holdall.Corrupt, match=r"holdall\.json"):
        holdall.open_store(s3_prefix)


def test_a_newer_layout_is_refused(s3_prefix, client):
    client.put_object(Bucket=bucket_of(s3_prefix), Key=f"{prefix_of(s3_prefix)}holdall.json", Body=b'{"version": 9}')
    with pytest.raises(ConfigError, match="install a newer one"):
        holdall.open_store(s3_prefix)


def without(*conditions):
    """Return what takes conditions away from requests, as a server does that does not know them."""

    def forget(params, **_):
        return {name: value for name, value in params.items() if name not in conditions}

    return lambda events: events.register("provide-client-params.s3.*", forget)


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("condition", ["IfNoneMatch", "IfMatch"])
def test_a_server_that_ignores_conditions_is_refused_before_anything_is_written(s3_prefix, client, condition):
    with pytest.raises(ConfigError, match="writes would be lost"), watched(s3_prefix, without(condition)):
        pass
    assert names_in(client, s3_prefix) == []


@pytest.mark.usefixtures("untried")
def test_a_server_is_tried_once_in_a_process(s3_prefix):
    broken = Broken()
    with watched(s3_prefix, broken.watch):
        first = broken.count
    broken.count = 0
    with watched(s3_prefix, broken.watch):
        assert broken.count < first
    assert first > 5


@pytest.mark.usefixtures("untried")
def test_probe_false_does_not_try(s3_prefix):
    broken = Broken()
    with watched(s3_prefix.replace("?", "?probe=false&"), broken.watch):
        assert broken.count <= 5


def without_date(events):
    """Take the Date away from replies, as a server does that sends none."""
    events.register("after-call.s3.*", lambda parsed, **_: parsed["ResponseMetadata"]["HTTPHeaders"].pop("date", None))


def test_without_a_date_leases_are_watched(s3_prefix):
    with watched(s3_prefix, without_date) as first, watched(s3_prefix, without_date) as second:
        assert first.lock.capabilities.expiry_clock == "client"
        lease = first.lock.try_acquire("k", ttl=1)
        assert second.lock.try_acquire("k") is None
        assert first.lock.renew(lease).token == 1
        assert second.lock.try_acquire("k") is None
        time.sleep(1.2)
        taken = second.lock.try_acquire("k", ttl=1)
        assert taken.token == 2
        assert not first.lock.release(lease)
        first.store.put("s", "k", 1, fence=taken)
        with pytest.raises(holdall.Fenced):
            first.store.put("s", "k", 2, fence=lease)


@pytest.mark.parametrize(
    "url, hint",
    [
        ("s3://?region=us-east-1", "names no bucket"),
        ("s3://buc ket?region=us-east-1", "bucket"),
        ("s3://bucket/a//b?region=us-east-1", "single slashes"),
        ("s3://bucket/a/./b?region=us-east-1", "prefix"),
        ("s3://bucket/pre~fix?region=us-east-1", "prefix"),
        ("s3://bucket?regoin=us-east-1", "region"),
        ("s3://bucket?region=us-east-1&profile=nobody-has-this", "profile"),
        ("s3://bucket?region=us-east-1&endpoint_url=nowhere", "endpoint"),
    ],
)
def test_what_a_url_must_not_say_is_told(url, hint):
    with pytest.raises(ConfigError, match=hint):
        holdall.open_store(url)


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_that_is_not_there_is_unavailable_in_time_and_the_secret_is_not_shown(kind):
    url = f"s3://bucket/prefix?endpoint_url=http://127.0.0.1:{free_port()}&region=x-1&access_key_id=a"
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught, opened(kind, f"{url}&secret_access_key=hush-hush", timeout=2):
        pass
    assert time.monotonic() - began < 5
    assert "hush" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"


def test_a_bucket_in_another_region_is_told(s3_prefix):
    broken = Broken()
    with watched(s3_prefix, broken.watch) as handles:
        broken.errors = [(301, "PermanentRedirect")] * 3
        with pytest.raises(ConfigError, match="region="):
            handles.store.get("s", "k")


def test_a_client_or_session_of_the_caller_is_used_and_stays_open(s3_prefix):
    client, arguments = bare_client(s3_prefix), arguments_of(s3_prefix)
    names = {"region_name", "aws_access_key_id", "aws_secret_access_key"}
    session = boto3.session.Session(**{name: value for name, value in arguments.items() if name in names})
    for given in (client, session):
        with holdall.open_store(s3_prefix, client=given) as store:
            store.put("client", "k", 1)
            with holdall.open_lock(store) as lock, lock.hold(uuid.uuid4().hex, ttl=5, heartbeat=0.2) as hold:
                time.sleep(0.7)
                assert not hold.lost
    assert client.list_buckets()["Buckets"]
    client.close()


def test_an_asynchronous_client_or_session_of_the_caller_is_used_and_stays_open(s3_prefix):
    async def use(given):
        async with holdall.open_async_store(s3_prefix, client=given) as store:
            await store.put("client", "k", "x" * 1_500_000)
            async with (
                holdall.open_async_lock(store) as lock,
                lock.hold(uuid.uuid4().hex, ttl=5, heartbeat=0.2) as hold,
            ):
                await asyncio.sleep(0.7)
                assert not hold.lost

    async def both():
        session = AioSession()
        async with session.create_client("s3", **arguments_of(s3_prefix)) as client:
            await use(client)
            await use(session)
            assert (await client.list_buckets())["Buckets"]

    asyncio.run(both())


def test_clients_of_the_other_side_or_service_are_refused(s3_prefix):
    arguments = arguments_of(s3_prefix)
    blocking, tables = bare_client(s3_prefix), boto3.session.Session().client("dynamodb", **arguments)

    async def cross():
        async with AioSession().create_client("s3", **arguments) as client:
            with pytest.raises(ConfigError, match="boto3"):
                holdall.open_store(s3_prefix, client=client)
        with pytest.raises(ConfigError, match="aiobotocore"):
            await holdall.open_async_store(s3_prefix, client=blocking).ping()

    asyncio.run(cross())
    for given in (tables, object()):
        with pytest.raises(ConfigError, match="s3"):
            holdall.open_store(s3_prefix, client=given)
    blocking.close()
    tables.close()


def test_every_option_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs" / "adapters" / "s3.md").read_text()
    assert [option.name for option in OPTIONS if f"`{option.name}`" not in page] == []
