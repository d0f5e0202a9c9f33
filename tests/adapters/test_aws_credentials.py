"""Credentials that expire: those of a process or file are fetched anew, once, and what cannot be renewed is told."""

from __future__ import annotations

import asyncio
import sys
import threading

import pytest

import holdall
from holdall import ConfigError
from holdall_adapters.aws.connections.making import Making
from tests.adapters.aws_tools import Broken, service_of, watched
from tests.adapters.handles import KINDS, opened

MANY = 12
EXPIRED = {"dynamodb": (400, "ExpiredTokenException"), "s3": (400, "ExpiredToken")}
SCRIPT = """
import datetime, json, sys
with open(sys.argv[1], "a+") as calls:
    calls.write("x")
    calls.flush()
    calls.seek(0)
    seconds = 2 if len(calls.read()) == 1 else 3600
until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
keys = {"Version": 1, "AccessKeyId": "any", "SecretAccessKey": "any"}
print(json.dumps(keys | {"Expiration": until.isoformat()}))
"""


@pytest.fixture(params=["dynamodb_table", "s3_prefix"], ids=["dynamodb", "s3"])
def url(request):
    """The URL of a storage, without credentials."""
    found = request.getfixturevalue(request.param)
    place, _, options = found.partition("?")
    kept = [each for each in options.split("&") if not each.startswith(("access_key_id", "secret_access_key"))]
    return f"{place}?{'&'.join(kept)}"


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Return a function that writes the files of AWS's tools, where alone credentials are."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("config", "credentials"):
        place = tmp_path / name
        place.write_text("")
        monkeypatch.setenv("AWS_CONFIG_FILE" if name == "config" else "AWS_SHARED_CREDENTIALS_FILE", str(place))
    return lambda name, text: (tmp_path / name).write_text(text)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_about_to_expire_is_fetched_anew_once(kind, url, config, tmp_path):
    script, calls = tmp_path / "fetch.py", tmp_path / "calls"
    script.write_text(SCRIPT)
    config("config", f"[default]\ncredential_process = {sys.executable} {script} {calls}\n")
    with opened(kind, url) as handles:
        if handles.is_async:

            async def put_all():
                await asyncio.gather(*(handles.store.put("s", f"k{number}", number) for number in range(MANY)))

            handles.run(put_all())
        else:
            threads = [threading.Thread(target=handles.store.put, args=("s", f"k{n}", n)) for n in range(MANY)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert len(handles.run(handles.store.keys("s")).items) == MANY
    assert calls.read_text() == "xx"


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_service_calls_expired_is_read_anew(kind, url, config):
    """As where a tool writes temporary credentials into the file again and again."""
    config("credentials", "[default]\naws_access_key_id = first\naws_secret_access_key = any\n")
    with opened(kind, url) as handles:
        client = handles.store._operations._driver.service.client
        broken, before = Broken(), client._made[client._making.timeout].client
        broken.watch(before.meta.events)
        config("credentials", "[default]\naws_access_key_id = second\naws_secret_access_key = any\n")
        if handles.is_async:  # its requests are sent by another library, so the refusal is made before
            refuse_once(before, EXPIRED[service_of(url)][1])
        else:
            broken.errors = [EXPIRED[service_of(url)]]
        handles.run(handles.store.put("s", "k", 1))
        assert handles.run(handles.store.get("s", "k")).value == 1
        after = client._made[client._making.timeout].client
        assert after is not before
        found = after._request_signer._credentials
        assert found.access_key == "second"


def refuse_once(client, code):
    """Let the next request of an asynchronous client be refused, before it is sent."""
    real, answers = client._make_api_call, [code]

    async def refuse(name, arguments):
        if answers:
            error = {"Error": {"Code": answers.pop(), "Message": "made up"}, "ResponseMetadata": {}}
            raise client.exceptions.ClientError(error, name)
        return await real(name, arguments)

    client._make_api_call = refuse


def test_what_stays_expired_is_a_config_error(url, config, monkeypatch):
    config("credentials", "[default]\naws_access_key_id = any\naws_secret_access_key = any\n")
    with holdall.open_store(url) as store:
        store.put("s", "k", 1)
        client, broken = store._operations._driver.service.client, Broken()
        make = Making.make

        def make_broken(self, timeout):
            found = make(self, timeout)
            broken.watch(found.client.meta.events)
            return found

        monkeypatch.setattr(Making, "make", make_broken)
        broken.watch(client._made[client._making.timeout].client.meta.events)
        broken.errors = [EXPIRED[service_of(url)]] * 100
        with pytest.raises(ConfigError, match="expired: renew them"):
            store.put("s", "k", 2)
        assert len(broken.errors) == 98, "it was asked again more than once"
        broken.errors = []
        assert store.get("s", "k").value == 1


def test_the_error_of_a_client_of_the_caller_is_told_as_it_is(url):
    broken = Broken()
    whole = f"{url}&access_key_id=any&secret_access_key=any"
    with watched(whole, broken.watch, retries={"total_max_attempts": 1}) as handles:
        broken.errors = [EXPIRED[service_of(url)]]
        with pytest.raises(ConfigError, match="expired: renew them"):
            handles.store.get("s", "k")
        assert broken.errors == []
