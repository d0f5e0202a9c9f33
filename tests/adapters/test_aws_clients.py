"""Clients and sessions that the caller brings, and a service that is not there, the same for DynamoDB and S3."""

from __future__ import annotations

import asyncio
import time
import uuid

import boto3
import pytest

import holdall
from holdall import ConfigError, Unavailable
from tests.adapters.aws_tools import arguments_of, bare_client, service_of
from tests.adapters.handles import KINDS, opened
from tests.server_kinds.common import free_port

AioSession = pytest.importorskip("aiobotocore.session").AioSession

OTHER = {"dynamodb": "s3", "s3": "dynamodb"}
STILL_OPEN = {"dynamodb": "list_tables", "s3": "list_buckets"}
LARGE = "x" * 1_500_000


@pytest.fixture(params=["dynamodb_table", "s3_prefix"], ids=["dynamodb", "s3"])
def url(request):
    """The URL of a storage of the test's own."""
    return request.getfixturevalue(request.param)


def test_a_client_or_session_is_used_and_stays_open(url):
    client, arguments = bare_client(url), arguments_of(url)
    names = {"region_name", "aws_access_key_id", "aws_secret_access_key"}
    session = boto3.session.Session(**{name: value for name, value in arguments.items() if name in names})
    for given in (client, session):
        with holdall.open_store(url, client=given) as store:
            store.put("client", "k", 1)
            with holdall.open_lock(store) as lock, lock.hold(uuid.uuid4().hex, ttl=5, heartbeat=0.2) as hold:
                time.sleep(0.7)
                assert not hold.lost
    assert getattr(client, STILL_OPEN[service_of(url)])()
    client.close()


def test_an_asynchronous_client_or_session_is_used_and_stays_open(url):
    async def use(given, value):
        async with holdall.open_async_store(url, client=given) as store:
            await store.put("client", "k", value)
            key = uuid.uuid4().hex
            async with holdall.open_async_lock(store) as lock, lock.hold(key, ttl=5, heartbeat=0.2) as hold:
                await asyncio.sleep(0.7)
                assert not hold.lost

    async def both():
        session = AioSession()
        async with session.create_client(service_of(url), **arguments_of(url)) as client:
            await use(client, 1)
            await use(session, LARGE)
            assert await getattr(client, STILL_OPEN[service_of(url)])()

    asyncio.run(both())


@pytest.mark.parametrize("thing", [object(), "client"])
def test_what_is_no_client_is_refused(url, thing):
    with pytest.raises(ConfigError, match="boto3"):
        holdall.open_store(url, client=thing)


def test_clients_of_the_other_side_or_service_are_refused(url):
    arguments, service = arguments_of(url), service_of(url)
    blocking, other = bare_client(url), boto3.session.Session().client(OTHER[service], **arguments)

    async def cross():
        async with AioSession().create_client(service, **arguments) as client:
            with pytest.raises(ConfigError, match="boto3"):
                holdall.open_store(url, client=client)
        with pytest.raises(ConfigError, match="aiobotocore"):
            await holdall.open_async_store(url, client=blocking).ping()

    asyncio.run(cross())
    with pytest.raises(ConfigError, match=service):
        holdall.open_store(url, client=other)
    blocking.close()
    other.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["dynamodb://Table", "s3://bucket/prefix"])
def test_a_server_that_is_not_there_is_unavailable_in_time_and_the_secret_is_not_shown(kind, place):
    url = f"{place}?endpoint_url=http://127.0.0.1:{free_port()}&region=x-1&access_key_id=a"
    began = time.monotonic()
    with pytest.raises(Unavailable) as caught, opened(kind, f"{url}&secret_access_key=hush-hush", timeout=2):
        pass
    assert time.monotonic() - began < 5
    assert "hush" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
