"""Leases: ownership, tokens, expiry."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from holdall import InvalidArgument, InvalidKey, Lease, LeaseLost, LockTimeout, TooLarge
from holdall.clock import boot_time
from holdall_conformance.harness import Harness
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import lease_of


@scenario("leases.plain-data")
def plain_data(harness: Harness) -> None:
    """A lease is plain data that can be pickled and used after it, with key, owner, ttl and a deadline."""
    lock, key = harness.lock, harness.new_key()
    before = boot_time()
    lease = lease_of(lock, key, ttl=600, owner="me")
    assert (type(lease), lease.key, lease.owner, lease.ttl) == (Lease, key, "me", 600)
    assert type(lease.token) is int
    assert lease.token >= 1
    assert lease.nonce
    assert before + 500 < lease.deadline <= boot_time() + 600
    again = pickle.loads(pickle.dumps(lease))  # noqa: S301 - made in the line itself
    assert again == lease == copy.deepcopy(lease)
    renewed = harness.open_lock().renew(again)
    assert (renewed.token, renewed.nonce) == (lease.token, lease.nonce)
    assert lock.release(again) is True


@scenario("leases.excludes-others")
def excludes_others(harness: Harness) -> None:
    """While a key is held nobody gets it: not another handle, nor the same one again, whatever label it gives."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key, owner="me")
    for other in (lock, harness.open_lock(), harness.share_lock(harness.store)):
        assert other.try_acquire(key, owner="me") is None
        assert other.try_acquire(key) is None
        assert other.held(key) is True
    assert lock.renew(lease).token == lease.token
    assert lock.release(lease) is True
    assert lease_of(harness.open_lock(), key).token > lease.token


@scenario("leases.tokens-rise")
def tokens_rise(harness: Harness) -> None:
    """Tokens of a key begin at 1 or more and rise with every acquisition, by whichever handle, over release."""
    lock, other, key = harness.lock, harness.open_lock(), harness.new_key()
    tokens = []
    for number in range(40):
        holder = other if number % 2 else lock
        lease = lease_of(holder, key)
        tokens.append(lease.token)
        assert holder.release(lease) is True
    assert tokens[0] >= 1
    assert tokens == sorted(set(tokens))


@scenario("leases.refused-try-takes-no-token", waits=True)
def refused_try_takes_no_token(harness: Harness) -> None:
    """Refused tries do not disturb the holder: neither its token nor its deadline."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key, ttl=600)
    for _ in range(5):
        assert harness.lock.try_acquire(key, ttl=harness.short_ttl) is None
    harness.outlast(harness.short_ttl)
    holder = lock.holder(key)
    assert holder is not None
    assert holder.token == lease.token
    assert holder.expires_in > 500


@scenario("leases.tokens-rise-over-reopening", "durable_tokens")
def tokens_rise_over_reopening(harness: Harness) -> None:
    """After every handle was closed and the storage opened again, the next token is larger."""
    key, tokens = harness.new_key(), []
    for _ in range(4):
        with harness.open_lock() as lock:
            lease = lease_of(lock, key)
            tokens.append(lease.token)
            lock.release(lease)
    assert tokens == sorted(set(tokens))


@scenario("leases.release-once")
def release_once(harness: Harness) -> None:
    """A release returns True once and False afterwards, and the key is free at once."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key)
    assert lock.release(lease) is True
    assert lock.held(key) is False
    assert lock.release(lease) is False
    lease_of(lock, key)
    assert lock.release(lease) is False
    assert lock.held(key) is True


@scenario("leases.released-lease-is-lost")
def released_lease_is_lost(harness: Harness) -> None:
    """A released lease cannot be renewed, and renewing it does not take the key."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key)
    lock.release(lease)
    with pytest.raises(LeaseLost):
        lock.renew(lease)
    assert lock.held(key) is False


@scenario("leases.old-lease-of-same-owner")
def old_lease_of_same_owner(harness: Harness) -> None:
    """An old lease does nothing to the new one, though process, label and key are the same."""
    lock, key = harness.lock, harness.new_key()
    old = lease_of(lock, key, owner="me")
    lock.release(old)
    new = lease_of(lock, key, owner="me")
    assert new.nonce != old.nonce
    assert lock.release(old) is False
    with pytest.raises(LeaseLost):
        lock.renew(old)
    assert lock.renew(new).token == new.token


@scenario("leases.nonce-and-token-both-count")
def nonce_and_token_both_count(harness: Harness) -> None:
    """A lease with the right token and another nonce, or the right nonce and another token, is nobody's."""
    lock, key = harness.lock, harness.new_key()
    lease = lease_of(lock, key)
    forged = [dataclasses.replace(lease, nonce="0" * 32), dataclasses.replace(lease, token=lease.token + 1)]
    forged += [dataclasses.replace(lease, key=harness.new_key())]
    for fake in forged:
        assert lock.release(fake) is False
        with pytest.raises(LeaseLost):
            lock.renew(fake)
    assert lock.held(key) is True
    assert lock.release(lease) is True


@scenario("leases.owner-by-default")
def owner_by_default(harness: Harness) -> None:
    """Without a label the owner is a text that names somebody; any text is kept exactly."""
    lock = harness.lock
    assert lease_of(lock, harness.new_key()).owner
    for owner in ("é😀", "a b", "\x00", "o" * 200, "'"):
        key = harness.new_key()
        lease_of(lock, key, owner=owner)
        holder = lock.holder(key)
        assert holder is not None
        assert holder.owner == owner


@scenario("leases.keys-independent")
def keys_independent(harness: Harness) -> None:
    """Keys that differ in case, Unicode form, a slash, a space, a wildcard or a late byte have leases of their own."""
    lock, base = harness.lock, harness.new_key()
    endings = [
        "a",
        "A",
        "a ",
        "a/",
        "a//",
        "/a",
        "../a",
        "a\x00",
        "a\n",
        "\u00e9",
        "e\u0301",
        "%",
        "_",
        "*",
        "",
        ":",
        "😀" * 64,
    ]
    keys = [base + ending for ending in endings]
    long = harness.capabilities.max_key_bytes - len(base)
    keys += [base + "x" * (long - 1) + last for last in "ab"]
    leases = {key: lease_of(lock, key) for key in keys}
    assert all(lease.token >= 1 for lease in leases.values())
    for number, key in enumerate(keys):
        assert lock.held(key) is True
        assert lock.release(leases[key]) is True
        assert lock.held(key) is False
        assert all(lock.held(other) for other in keys[number + 1 :])


@scenario("leases.keys-refused")
def keys_refused(harness: Harness) -> None:
    """A key that is empty, too long or no text is refused by every method, before the store is touched."""
    lock = harness.lock
    wrong: list[Any] = ["", None, 1, b"k", "\ud800"]
    calls: list[Any] = [lock.try_acquire, lambda key: lock.acquire(key, timeout=0), lock.held, lock.holder, lock.hold]
    calls += [lock.set_flag, lock.flag, lock.clear_flag, lambda key: lock.raise_floor(key, 3)]
    for call in calls:
        for key in wrong:
            with pytest.raises(InvalidKey):
                call(key)
        with pytest.raises(TooLarge):
            call("x" * (harness.capabilities.max_key_bytes + 1))
    for key in wrong[2:]:
        with pytest.raises(InvalidKey):
            lock.hold(harness.new_key(), stop_flag=key)


@scenario("leases.arguments-refused")
def arguments_refused(harness: Harness) -> None:
    """Renew and release take a Lease and nothing else; an owner is a text."""
    lock, key = harness.lock, harness.new_key()
    wrong: list[Any] = [None, 1, key, (key, "me", 1), {"key": key}]
    for lease in wrong:
        with pytest.raises(InvalidArgument):
            lock.renew(lease)
        with pytest.raises(InvalidArgument):
            lock.release(lease)
    for owner in (1, "", b"me", "\ud800"):
        with pytest.raises((InvalidKey, InvalidArgument)):
            lock.try_acquire(key, owner=owner)  # type: ignore[arg-type]
    assert lock.held(key) is False


@scenario("leases.floor-raised")
def floor_raised(harness: Harness) -> None:
    """After raise_floor the next token is above it, whether the key is free, held or new; no token gets lower."""
    lock, key = harness.lock, harness.new_key()
    lock.raise_floor(key, 41)
    assert lock.held(key) is False
    lease = lease_of(lock, key)
    assert lease.token > 41
    lock.raise_floor(key, 99)
    assert lock.renew(lease).token == lease.token
    assert lock.release(lease) is True
    lock.raise_floor(key, 7)
    second = lease_of(harness.open_lock(), key)
    assert second.token > 99
    lock.release(second)
    harness.store.sweep()
    lock.raise_floor(key, second.token + 100)
    assert lease_of(lock, key).token > second.token + 100
    wrong: list[Any] = [0, -1, True, 1.0, "5", None, 2**63]
    for token in wrong:
        with pytest.raises(InvalidArgument):
            lock.raise_floor(key, token)


@scenario("leases.free-key-is-had-at-once")
def free_key_is_had_at_once(harness: Harness) -> None:
    """Acquire with timeout 0 tries once and can succeed; on a held key it raises LockTimeout that names the holder."""
    lock, key = harness.lock, harness.new_key()
    lease = lock.acquire(key, timeout=0, owner="first")
    with pytest.raises(LockTimeout) as caught:
        harness.open_lock().acquire(key, timeout=0)
    error = caught.value
    assert isinstance(error, TimeoutError)
    assert error.holder is not None
    assert error.holder[:2] == ("first", lease.token)
    assert "first" in str(error)
    assert lock.renew(lease).token == lease.token
