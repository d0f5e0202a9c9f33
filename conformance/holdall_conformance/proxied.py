"""A backend behind a proxy, for scenarios that lose replies."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator

from holdall import HoldallError, StoreTimeout, Unavailable
from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness
from holdall_conformance.proxy import Proxy
from holdall_conformance.sources import UrlSource

__all__ = ["through_proxy"]

_PATIENCE = 20.0
_PAUSE = 0.2


@contextlib.contextmanager
def through_proxy(harness: Harness) -> Generator[tuple[Proxy, Harness]]:
    """Put a proxy before the server of a backend.

    Args:
        harness: the backend, straight.

    Yields:
        The proxy, which passes everything at first, and a harness whose handles go through it.

    Raises:
        Absent: no URL names a server, or it cannot be reached through a proxy.

    """
    url = harness.url
    proxy = _proxy_before(url)
    if url is None or proxy is None:
        message = "replies are lost on the way to a server, and no URL names one"
        raise Absent(message)
    with proxy, _behind(harness, proxy.url(url)) as through:
        _check_way(proxy, through)
        try:
            yield proxy, through
        finally:
            proxy.heal()
            proxy.disconnect()


def _proxy_before(url: str | None) -> Proxy | None:
    try:
        return None if url is None else Proxy.before(url)
    except OSError as error:
        message = f"the server that the URL names cannot be reached by TCP: {error}"
        raise Absent(message) from error


def _behind(harness: Harness, url: str) -> Harness:
    return Harness(
        UrlSource(url),
        asynchronous=harness.asynchronous,
        level=harness.level,
        effort=harness.effort,
        seed=harness.seed,
        patience=harness.patience,
        absent=harness.absent,
        run=harness.run,
    )


def _check_way(proxy: Proxy, through: Harness) -> None:
    """Check that operations take the way through the proxy: some drivers ask a server where else to go."""
    try:
        look = _looked(through)
        before = proxy.requests
        look()
    except HoldallError as error:
        message = f"the server cannot be reached through a proxy on loopback: {error}"
        raise Absent(message) from error
    if proxy.requests == before:
        message = "the driver goes past a proxy on loopback"
        raise Absent(message)


def _looked(through: Harness) -> Callable[[], object]:
    """Do a plain read until it succeeds, since a busy server may have no connection left, and return it."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            look = _look(through)
            look()
        except (Unavailable, StoreTimeout):
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE)
        else:
            return look


def _look(through: Harness) -> Callable[[], object]:
    """Return a plain read, by a store or by the lock where there is no store."""
    try:
        store = through.open_store()
    except Absent:
        lock = through.open_lock()
        return lambda: lock.held(through.new_key())
    return lambda: store.get(through.new_scope(), "k")
