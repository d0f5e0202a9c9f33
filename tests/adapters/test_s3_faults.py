"""What the service answers beside success: 409 and 412, bursts of 503, failures, expired credentials, lost replies."""

from __future__ import annotations

import datetime as dt
import time

import botocore.auth
import pytest

import holdall
from holdall import ABSENT, ConfigError, Conflict, OutcomeUnknown, StoreTimeout, Unavailable
from holdall_conformance.proxy import Proxy
from holdall_conformance.proxy_faults import drop_reply
from tests.adapters.aws_tools import Broken, watched
from tests.adapters.handles import KINDS, opened

ONE_TRY = {"retries": {"total_max_attempts": 1}}
SLOW_DOWN = (503, "SlowDown")
CONFLICT, PRECONDITION = (409, "ConditionalRequestConflict"), (412, "PreconditionFailed")


@pytest.fixture
def broken():
    return Broken()


@pytest.fixture
def handles(s3_prefix, broken):
    with watched(s3_prefix, broken.watch, **ONE_TRY) as handles:
        yield handles


def test_bursts_of_503_are_waited_for_and_every_write_is_applied_once(handles, broken):
    store = handles.store
    broken.errors = [SLOW_DOWN] * 5
    version = store.put("s", "k", 1, expect=ABSENT)
    broken.errors = [SLOW_DOWN] * 5
    store.append("s", "log", [1])
    broken.errors = [SLOW_DOWN] * 3
    assert [entry.value for entry in store.read("s", "log")] == [1]
    broken.errors = [SLOW_DOWN] * 3
    assert store.get("s", "k").version == version
    assert broken.errors == []


def test_503_without_end_is_unavailable_and_nothing_was_applied(handles, broken):
    broken.errors = [SLOW_DOWN] * 10_000
    handles.store._operations._driver.bucket.timeout = 0.5
    with pytest.raises((Unavailable, StoreTimeout)):
        handles.store.put("s", "k", 1)
    broken.errors = []
    assert handles.store.get("s", "k") is None


@pytest.mark.parametrize("count", [1, 3])
def test_a_409_is_no_conflict_but_is_tried_again(handles, broken, count):
    """S3 answers so while another write of the object is under way, whatever comes of that."""
    store = handles.store
    version = store.put("s", "k", 1)
    broken.names, broken.errors = {"PutObject"}, [CONFLICT] * count
    assert store.put("s", "k", 2, expect=version) == store.get("s", "k").version
    broken.errors = [CONFLICT] * count
    store.put("s", "new", 1, expect=ABSENT)
    broken.errors = [CONFLICT] * count
    assert store.append("s", "log", [1]).start == 0
    assert len(store.read("s", "log")) == 1
    broken.errors = [CONFLICT] * count
    lease = handles.lock.try_acquire("key")
    assert lease is not None
    broken.errors = [CONFLICT] * count
    assert handles.lock.release(lease)


def test_a_412_is_judged_by_what_is_there(handles, broken):
    """As where a write is refused whose own first try, sent by the SDK, was applied: the object tells."""
    store = handles.store
    version = store.put("s", "k", 1)
    broken.names, broken.errors = {"PutObject"}, [PRECONDITION]
    version = store.put("s", "k", 2, expect=version)
    assert store.get("s", "k").version == version
    with pytest.raises(Conflict):
        store.put("s", "k", 3, expect=ABSENT)


@pytest.mark.parametrize("answer", [(500, "InternalError"), (503, "ServiceUnavailable"), (504, "GatewayTimeout")])
def test_a_failed_write_is_looked_for_and_never_a_false_success_or_conflict(handles, broken, answer):
    store = handles.store
    version = store.put("s", "k", 1)
    broken.names, broken.errors = {"PutObject"}, [answer]
    version = store.put("s", "k", 2, expect=version)
    assert store.get("s", "k").version == version
    broken.errors = [answer] * 3
    assert store.append("s", "log", [1]).start == 0
    assert len(store.read("s", "log")) == 1


def test_a_read_that_fails_is_unavailable_and_leaves_the_handle_usable(handles, broken):
    handles.store.put("s", "k", 1)
    for answer in ((500, "InternalError"), (503, "ServiceUnavailable")):
        broken.errors = [answer]
        with pytest.raises(Unavailable):
            handles.store.get("s", "k")
        assert handles.store.get("s", "k").value == 1


@pytest.mark.parametrize(
    "status, code, hint",
    [
        (403, "AccessDenied", "grant"),
        (400, "ExpiredToken", "expired"),
        (403, "InvalidAccessKeyId", "access key"),
        (403, "SignatureDoesNotMatch", "secret key"),
        (404, "NoSuchBucket", "no such bucket"),
    ],
)
def test_what_a_person_has_to_mend_is_a_config_error(handles, broken, status, code, hint):
    broken.errors = [(status, code)]
    with pytest.raises(ConfigError, match=hint):
        handles.store.put("s", "k", 1)
    assert handles.store.get("s", "k") is None


@pytest.mark.parametrize("retries", [1, 4])
def test_the_retries_of_the_sdk_never_turn_an_own_success_into_a_conflict(s3_prefix, retries):
    config = {"retries": {"total_max_attempts": retries}}
    with Proxy.before(s3_prefix) as proxy, watched(proxy.url(s3_prefix), lambda _: None, **config) as handles:
        store = handles.store
        version = store.put("s", "k", 0)
        store.append("s", "log", [0])
        for number in range(1, 6):
            proxy.strike(drop_reply())
            version = store.put("s", "k", number, expect=version)
            proxy.strike(drop_reply())
            store.append("s", "log", [number], expect=number)
        proxy.strike(drop_reply())
        store.append("s", "log", ["x" * 100_000])
        assert store.get("s", "k").version == version
        assert [entry.value for entry in store.read("s", "log", 0, 6)] == list(range(6))
        assert store.head("s", "log").length == 7
        with pytest.raises(Conflict):
            store.put("s", "k", 9, expect=ABSENT)


def test_a_reply_that_stays_away_for_good_is_outcome_unknown(handles, broken):
    """Nothing may be told of a write that failed, while the object cannot be looked at either."""
    handles.store.put("s", "k", 1)
    broken.errors = [(500, "InternalError")] * 2
    with pytest.raises(OutcomeUnknown):
        handles.store.put("s", "k", 2)
    assert handles.store.get("s", "k").value == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hours", [1, -1])
def test_a_clock_that_is_wrong_by_an_hour_harms_nobody(s3_prefix, monkeypatch, kind, hours):
    """The server refuses signatures that are a quarter of an hour off: after one refusal they are by its time."""
    shift = dt.timedelta(hours=hours)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: dt.datetime.now(dt.UTC) + shift)
    real = time.time
    monkeypatch.setattr(time, "time", lambda: real() + shift.total_seconds())
    with opened(kind, s3_prefix) as handles:
        version = handles.run(handles.store.put("s", "k", 1, ttl=60))
        assert handles.run(handles.store.get("s", "k")).version == version
        lease = handles.run(handles.lock.try_acquire("k", ttl=30))
        assert handles.run(handles.lock.release(lease))


def test_a_client_of_the_caller_with_a_wrong_clock_is_told(s3_prefix, monkeypatch):
    holdall.open_store(s3_prefix).close()
    shift = dt.timedelta(hours=1)
    monkeypatch.setattr(botocore.auth, "get_current_datetime", lambda: dt.datetime.now(dt.UTC) + shift)
    with pytest.raises(ConfigError, match="clock"), watched(s3_prefix, lambda _: None):
        pass
