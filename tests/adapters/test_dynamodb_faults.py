"""What the service answers beside success: throttling, conflicts, failures, expired credentials, and lost replies."""

from __future__ import annotations

import uuid

import pytest

from holdall import ABSENT, ConfigError, Conflict, OutcomeUnknown, Put, StoreTimeout, Unavailable
from holdall_conformance.proxy import Proxy
from holdall_conformance.proxy_faults import drop_reply
from tests.adapters.aws_tools import Broken, watched

THROTTLED = (400, "ProvisionedThroughputExceededException")


@pytest.fixture(scope="module")
def broken():
    return Broken()


@pytest.fixture(scope="module")
def handles(dynamodb_url, broken):
    with watched(dynamodb_url, broken.watch, retries={"total_max_attempts": 1}) as handles:
        yield handles


@pytest.fixture
def scope(handles, broken):
    broken.errors, broken.names = [], None
    scope = uuid.uuid4().hex
    handles.store.put(scope, "first", 1)
    handles.store.append(scope, "first", [1])
    return scope


@pytest.mark.parametrize(
    "code",
    [
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "ThrottlingException",
        "TransactionConflictException",
    ],
)
def test_what_the_service_wants_later_is_sent_again_and_applied_once(handles, broken, scope, code):
    broken.errors = [(400, code)] * 5
    handles.store.append(scope, "log", [1])
    broken.errors = [(400, code)] * 5
    handles.store.put(scope, "k", 1, expect=ABSENT)
    broken.errors = [(400, code)] * 3
    assert [entry.value for entry in handles.store.read(scope, "log")] == [1]
    assert broken.errors == []


def test_throttling_without_end_is_unavailable(dynamodb_url, broken, scope):
    with watched(dynamodb_url, broken.watch, retries={"total_max_attempts": 1}) as handles:
        broken.errors = [THROTTLED] * 10_000
        store = handles.store
        store._operations._driver.table.timeout = 0.5
        with pytest.raises((Unavailable, StoreTimeout)):
            store.put(scope, "k", 1)
        broken.errors = []
        assert store.get(scope, "k") is None


@pytest.mark.parametrize("status, code", [(500, "InternalServerError"), (503, "ServiceUnavailable")])
def test_a_failed_write_that_may_have_been_applied_is_never_sent_blindly_again(handles, broken, scope, status, code):
    broken.names = {"UpdateItem"}
    broken.errors = [(status, code)]
    with pytest.raises(OutcomeUnknown):
        handles.store.put(scope, "k", 1)
    version = handles.store.put(scope, "k", 1)
    broken.errors = [(status, code)]
    handles.store.put(scope, "k", 2, expect=version)
    broken.errors = [(status, code)] * 3
    assert handles.store.append(scope, "log", [1]).start == 0
    assert len(handles.store.read(scope, "log")) == 1


def test_a_burst_of_failures_leaves_the_handle_usable(handles, broken, scope):
    for status, code in ((503, "ServiceUnavailable"), (500, "InternalServerError")):
        broken.errors = [(status, code)]
        with pytest.raises(Unavailable):
            handles.store.get(scope, "first")
        assert handles.store.get(scope, "first").value == 1


@pytest.mark.parametrize(
    "code, hint",
    [
        ("AccessDeniedException", "grant"),
        ("ExpiredTokenException", "expired"),
        ("UnrecognizedClientException", "access key"),
        ("InvalidSignatureException", "secret key"),
        ("ResourceNotFoundException", "no such table"),
    ],
)
def test_what_a_person_has_to_mend_is_a_config_error(handles, broken, scope, code, hint):
    broken.errors = [(400, code)]
    with pytest.raises(ConfigError, match=hint):
        handles.store.put(scope, "k", 1)


@pytest.mark.parametrize("retries", [1, 4])
def test_the_retries_of_the_sdk_never_turn_an_own_success_into_a_conflict(dynamodb_url, retries):
    scope = uuid.uuid4().hex
    with Proxy.before(dynamodb_url) as proxy:
        config = {"retries": {"total_max_attempts": retries}}
        with watched(proxy.url(dynamodb_url), lambda _: None, **config) as handles:
            store = handles.store
            version = store.put(scope, "k", 0)
            store.append(scope, "log", [0])
            for number in range(1, 6):
                proxy.strike(drop_reply())
                version = store.put(scope, "k", number, expect=version)
                proxy.strike(drop_reply())
                store.append(scope, "log", [number], expect=number)
            assert store.get(scope, "k").version == version
            assert [entry.value for entry in store.read(scope, "log")] == list(range(6))
            with pytest.raises(Conflict):
                store.put(scope, "k", 9, expect=ABSENT)


def test_a_commit_in_the_way_of_another_is_run_again(handles, broken, scope):
    broken.names = {"TransactWriteItems"}
    broken.errors = [(400, "TransactionInProgressException")] * 2
    handles.store.commit([Put(scope, "a", 1), Put(scope, "b", 2)])
    assert handles.store.get(scope, "b").value == 2
