"""Backends that are given to the kit by functions and classes, as strangers give them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

import holdall
from holdall import Unsupported
from holdall.spi import ABSENT, ANY, BackendItem, Mismatch
from holdall_adapters.memory import CAPABILITIES


def store_in(folder: Path):
    return holdall.open_store(f"sqlite:///{folder / 'given.db'}")


def lock_in(folder: Path):
    return holdall.open_lock(f"sqlite:///{folder / 'given.db'}")


def async_store_in(folder: Path):
    return holdall.open_async_store(f"sqlite:///{folder / 'given.db'}")


def url_in(folder: Path):
    return f"sqlite:///{folder / 'given.db'}"


class RecordsOnly:
    """A store of a stranger's: no logs at all, some operations only raise, and it is no handle of holdall's."""

    def __init__(self, folder: Path, timeout: float | None = None):
        self.inner = holdall.open_store(f"sqlite:///{folder / 'given.db'}", timeout=timeout)
        self.capabilities = self.inner.capabilities
        for name in ("get", "get_many", "put", "delete", "keys", "scan", "scopes", "clear", "close"):
            setattr(self, name, getattr(self.inner, name))

    def touch(self, scope, key, ttl, *, fence=None):
        raise Unsupported("no touch here")

    def update(self, *arguments, **named):
        raise NotImplementedError

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.inner.close()


class ListBackend:
    """Five primitives over a list that all handles share."""

    capabilities = CAPABILITIES
    io = "none"
    items: ClassVar[list[BackendItem]] = []

    async def get(self, key):
        return next((item for item in self.items if item.key == key), None)

    async def put(self, key, payload, expect):
        found = await self.get(key)
        if expect is not ANY and (None if expect is ABSENT else expect) != (found and found.tag):
            raise Mismatch
        tag = os.urandom(8)
        self.items[:] = sorted([*(item for item in self.items if item.key != key), BackendItem(key, payload, tag)])
        return tag

    async def delete(self, key, expect):
        found = await self.get(key)
        if expect is not ANY and expect != (found and found.tag):
            raise Mismatch
        self.items[:] = [item for item in self.items if item.key != key]

    async def scan(self, prefix, after, limit):
        return [i for i in self.items if i.key.startswith(prefix) and (after is None or i.key > after)][:limit]

    async def close(self):
        pass


def no_store():
    return None


NOT_CALLABLE = 7


def exits_at_once(folder: Path):
    raise SystemExit(0)


def fails_at_once(folder: Path):
    raise ZeroDivisionError("no database today")


async def is_a_coroutine(folder: Path):
    return None


class _Dies:
    """A store that ends its process when a method is asked for a third time."""

    def __init__(self, folder: Path, method: str):
        self.inner = holdall.open_store(f"sqlite:///{folder / 'given.db'}")
        self.method = method
        self.calls = 0

    def __getattr__(self, name):
        if name == self.method:
            self.calls += 1
            if self.calls > 2:
                os._exit(0)
        return getattr(self.inner, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.inner.close()


def dies_in_put(folder: Path):
    return _Dies(folder, "put")


def dies_in_truncate(folder: Path):
    return _Dies(folder, "truncate")


def without_options(folder: Path):
    """A store whose put knows neither ttl nor fence."""
    store = RecordsOnly(folder)
    put = store.put
    store.put = lambda scope, key, value, *, expect=ANY: put(scope, key, value, expect=expect)
    return store
