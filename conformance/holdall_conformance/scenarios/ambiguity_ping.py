"""What a handle says of its server when somebody only asks whether it is there."""

from __future__ import annotations

from functools import partial

from holdall import Store, StoreTimeout, Unavailable
from holdall_conformance.harness import Harness
from holdall_conformance.proxied import through_proxy
from holdall_conformance.proxy_faults import BLACK_HOLE, REFUSE
from holdall_conformance.scenario import scenario
from holdall_conformance.scenarios.support import eventually

_TIMEOUT, _RECOVERY = 0.5, 20.0


@scenario("ambiguity.ping-asks-the-server", level="full", waits=True)
def ping_asks_the_server(harness: Harness) -> None:
    """A ping succeeds while the server answers, raises while it is gone or silent, and succeeds again afterwards."""
    for outage in (REFUSE, BLACK_HOLE):
        with through_proxy(harness) as (proxy, behind):
            store = behind.open_store(timeout=_TIMEOUT)
            assert eventually(partial(_answers, store), _RECOVERY), "no ping while the server answers"
            proxy.always(outage)
            proxy.disconnect()
            for _ in range(2):
                assert not _answers(store), f"ping says that a server is there which cannot be reached: {outage}"
            proxy.heal()
            proxy.disconnect()
            assert eventually(partial(_answers, store), _RECOVERY), f"no ping after an outage: {outage}"


def _answers(store: Store) -> bool:
    try:
        return store.ping() >= 0
    except (Unavailable, StoreTimeout):
        return False
