"""The clauses of ambiguity: they hold on a sound backend behind a server, and find backends that lie."""

from __future__ import annotations

import logging
import re

import pytest

from holdall import OutcomeUnknown, Unavailable
from holdall.derived.access import Access
from holdall_conformance.absence import Absent
from holdall_conformance.harness import Harness
from holdall_conformance.proxied import through_proxy
from holdall_conformance.proxy_faults import delay_reply, drop_reply, hang
from holdall_conformance.scenario import all_scenarios
from holdall_conformance.scenarios.ambiguity_trials import Trials
from holdall_conformance.scenarios.ambiguity_writes import COMMITS, FEW, LEASES, LOGS, RECORDS, PutOver, SetFlag, World
from tests.unit.kit.small_postgres import SmallServer, registered

CLAUSES = {each.id.partition(".")[2]: each for each in all_scenarios() if each.group == "ambiguity"}
BOUNDED = "timeouts-bound-every-operation"
SOUND = [name for name in CLAUSES if name != BOUNDED]
SIDES = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


@pytest.fixture(autouse=True)
def no_news_of_lost_connections():
    """The pool of the driver logs each connection that the proxy closed."""
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def small_url(postgres_url):
    """The same server, by an adapter that derives everything from five primitives."""
    with registered():
        yield "small" + postgres_url.replace("postgresql", "postgres", 1)


def failure_of(name, url):
    with Harness(url, level="base", effort=0.7) as harness, pytest.raises(AssertionError) as caught:
        CLAUSES[name].run(harness)
    return str(caught.value)


@SIDES
@pytest.mark.parametrize("name", SOUND)
def test_the_clauses_hold_on_postgres(name, asynchronous, postgres_url):
    with Harness(postgres_url, asynchronous=asynchronous, level="base", seed="1") as harness:
        CLAUSES[name].run(harness)


def test_a_silent_server_keeps_to_the_timeout_on_postgres(postgres_url):
    with Harness(postgres_url, level="base") as harness:
        CLAUSES[BOUNDED].run(harness)


@pytest.mark.parametrize("url", ["memory://ambiguity", "sqlite:///{}/x.db"])
@pytest.mark.parametrize("name", sorted(CLAUSES))
def test_without_a_server_the_clauses_are_absent_and_say_why(name, url, tmp_path):
    with Harness(url.format(tmp_path)) as harness, pytest.raises(Absent, match="no URL names one"):
        CLAUSES[name].run(harness)


def test_a_server_that_is_not_there_makes_them_absent_and_is_named():
    with Harness("postgresql://u@127.0.0.1:1/x") as harness, pytest.raises(Absent, match="cannot be reached by TCP"):
        through_proxy(harness).__enter__()


def test_every_write_is_struck_at_each_of_its_requests(small_url, monkeypatch):
    seen = []
    judged = Trials._judged

    def judge(self, write, outcome):
        seen.append(write.name)
        return judged(self, write, outcome)

    monkeypatch.setattr(Trials, "_judged", judge)
    kinds = (*RECORDS, *LOGS, *LEASES)
    with Harness(small_url) as harness:
        assert Trials((drop_reply(),), 10).problems(harness, kinds) == []
    reading_first = [kind.name for kind in kinds if kind is not SetFlag]  # a flag is put blindly, in one request
    assert {name for name in reading_first if seen.count(name) < 2} == set()
    assert SetFlag.name in seen


@pytest.mark.parametrize("url", ["memory://writes", "memory://derived?derived=true", "sqlite:///{}/x.db"])
def test_every_write_is_judged_as_applied_once_where_nothing_is_lost(url, tmp_path):
    with Harness(url.format(tmp_path)) as harness:
        world = World(harness, harness, 10.0)
        for kind in (*RECORDS, *LOGS, *LEASES, *(COMMITS if harness.capabilities.atomic_commit else ())):
            write = kind(world)
            write.prepare()
            result = write.act()
            assert write.applied(), kind.name
            write.confirm(result)
            write.repeat()


@pytest.mark.parametrize("kind", [*RECORDS, *LOGS, *LEASES, *COMMITS], ids=lambda kind: kind.__name__)
def test_a_write_that_was_not_done_is_judged_as_not_applied(kind):
    with Harness("memory://nothing") as harness:
        write = kind(World(harness, harness, 10.0))
        write.prepare()
        assert not write.applied()


def test_the_names_of_writes_tell_them_apart():
    names = [kind.name for kind in (*RECORDS, *LOGS, *LEASES, *COMMITS)]
    assert len(set(names)) == len(names)
    assert set(FEW) <= {*RECORDS, *LOGS, *LEASES}


@pytest.fixture
def lying(monkeypatch):
    """Let the adapter answer for a lost connection with something of its own."""

    def lie(answer):
        run = SmallServer.run

        def lying_run(self, statement, parameters, *, writing):
            try:
                return run(self, statement, parameters, writing=writing)
            except (OutcomeUnknown, Unavailable) as error:
                return answer(lambda: run(self, statement, parameters, writing=writing), error, writing)

        monkeypatch.setattr(SmallServer, "run", lying_run)

    return lie


def says_it_is_done(_, error, writing):
    if writing:
        return 1, []
    raise error


def says_nothing_was_applied(_, error, writing):
    raise Unavailable("lost") from error


def sends_again(run, error, writing):
    return run()


def says_absent(_, error, writing):
    if not writing:
        return 0, []
    raise error


@pytest.mark.parametrize(
    "answer, clause, told",
    [
        (
            says_it_is_done,
            "records-are-written-once",
            "put, cut request after 0 bytes at request 2: returned, and it was not",
        ),
        (says_it_is_done, "logs-are-written-once", "returned, and it was not applied"),
        (says_it_is_done, "leases-tell-the-truth", "returned, and it was not applied"),
        (says_nothing_was_applied, "records-are-written-once", "raised Conflict"),
        (says_nothing_was_applied, "logs-are-written-once", "raised Conflict"),
        (
            says_nothing_was_applied,
            "leases-tell-the-truth",
            ", drop reply at request 3: returned, but False",
        ),
        (says_nothing_was_applied, "outages-tell-the-truth", "raised Unavailable, and it was applied"),
        (sends_again, "records-are-written-once", ", drop reply at request 2: raised Conflict"),
        (sends_again, "logs-are-written-once", "raised"),
        (says_absent, "reads-are-true", "get, drop reply: returned None, and 'v' is there"),
        (says_absent, "log-reads-are-true", "head, drop reply: returned None"),
    ],
)
def test_lies_about_lost_replies_are_found(answer, clause, told, small_url, lying):
    lying(answer)
    assert told in failure_of(clause, small_url)


def test_a_write_that_is_done_again_after_a_lost_reply_is_found(small_url, monkeypatch):
    replace = Access.replace
    monkeypatch.setattr(
        Access, "replace", lambda self, key, decide, _, *more: replace(self, key, decide, lambda _: False, *more)
    )
    told = failure_of("logs-are-written-once", small_url)
    # Where the second try overtakes the first on the way to the server, even this backend writes once.
    assert re.search(r"^append.*, drop reply at request \d: returned, but the log holds", told, re.MULTILINE)
    assert re.search(
        r"^(update|put).*, drop reply at request \d", failure_of("records-are-written-once", small_url), re.MULTILINE
    )


def test_a_write_that_gives_up_on_a_late_reply_is_found(postgres_url):
    class Hasty(PutOver):
        name = "hasty put"

        def act(self):
            super().act()
            raise OutcomeUnknown("too late")

    with Harness(postgres_url) as harness:
        (problem,) = Trials((delay_reply(0.01),), 1, settled=True).problems(harness, [Hasty])
    assert problem == "hasty put, delay reply by 0.01 s at request 1: raised OutcomeUnknown: too late"


def test_a_write_that_hangs_is_found_and_let_go(postgres_url):
    with Harness(postgres_url) as harness:
        (problem,) = Trials((hang(),), 1, limit=0.5).problems(harness, [PutOver])
    assert problem.startswith("put, hang at request 1: did not end within 0.5 s, with a timeout of 10 s; it ended ")
