"""Opening prefixes that are there, are not, or lie in another; servers without conditions; the caller's clients."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import holdall
from holdall import ConfigError
from holdall_adapters.s3 import OPTIONS
from holdall_adapters.s3.connections import probed
from tests.adapters.aws_tools import Broken, bare_client, watched
from tests.adapters.handles import KINDS, opened
from tests.adapters.openers import open_at_once
from tests.adapters.s3_tools import bucket_of, names_in, other_prefix, prefix_of
from tests.servers import moto_s3


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


def test_eight_processes_begin_a_storage_at_once(s3_prefix):
    open_at_once(s3_prefix)


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


def test_a_bucket_in_another_region_is_told(s3_prefix):
    broken = Broken()
    with watched(s3_prefix, broken.watch) as handles:
        broken.errors = [(301, "PermanentRedirect")] * 3
        with pytest.raises(ConfigError, match="region="):
            handles.store.get("s", "k")


def test_every_option_is_on_the_page():
    page = (Path(__file__).parents[2] / "docs" / "adapters" / "s3.md").read_text()
    assert [option.name for option in OPTIONS if f"`{option.name}`" not in page] == []
