"""A run: which clauses, what the report holds, and that nothing is left behind."""

from __future__ import annotations

import pytest

import holdall
from holdall import ConfigError
from holdall_conformance.results import Report
from holdall_conformance.runner import Plan, chosen, run
from holdall_conformance.scenario import all_scenarios
from holdall_conformance.sources import FactorySource, UrlSource

GIVEN = "tests.unit.kit.given"
BRIEF = ("versions", "logs.drop*", "flags.last-ttl-counts", "capabilities.undeclared-is-not-shared")


def brief(source, **settings):
    return run(Plan(source=source, **settings))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return brief(UrlSource(f"sqlite:///{folder / 'run.db'}"), only=BRIEF, seed=11), folder


def test_both_sides_ran_every_chosen_clause_once(report):
    found, _ = report
    ids = {scenario.id for scenario in chosen("base", BRIEF)}
    assert len(ids) > 15
    assert sorted((each.id, each.side) for each in found.results) == sorted(
        (name, side) for name in ids for side in ("async", "sync")
    )
    assert found.failures == []
    assert found.count["absent"] == 2
    assert found.seed == 11


def test_a_run_of_some_clauses_gives_no_verdict(report):
    found, _ = report
    assert found.holds
    assert not found.conforms
    assert found.verdict.startswith("no verdict: the ")


def test_the_report_names_what_was_there(report):
    found, folder = report
    assert found.subject == f"sqlite:///{folder / 'run.db'}"
    assert (found.adapter, found.capabilities["persistent"]) == ("sqlite", True)
    assert found.versions["holdall"]
    assert found.environment["processors"].isdigit()
    assert Report.from_dict(found.to_dict()) == found


def test_nothing_that_reads_can_see_is_left(report):
    found, folder = report
    with holdall.open_store(f"sqlite:///{folder / 'run.db'}") as store:
        assert list(store.scopes().items) == list(store.log_scopes().items) == []
    assert any("nothing is left" in remark for remark in found.remarks)


def test_what_was_there_before_stays(tmp_path):
    url = f"sqlite:///{tmp_path / 'mine.db'}"
    with holdall.open_store(url) as store:
        store.put("mine", "k", 1)
        store.append("kit-mine", "log", [1])
        brief(UrlSource(url), only=["records", "logs.drop-*"], sides=("sync",))
        assert store.get("mine", "k").value == 1
        assert len(store.read("kit-mine", "log")) == 1
        assert list(store.scopes().items) == ["mine"]


def test_records_only_is_named_and_does_not_fail(tmp_path):
    found = brief(FactorySource(f"{GIVEN}:RecordsOnly", None, str(tmp_path)), level="base", only=["records", "logs"])
    assert found.failures == []
    assert {"append", "lock", "touch"} <= set(found.absent_operations)
    assert found.count["passed"] >= 5
    assert all(result.outcome == "absent" for result in found.results if result.group == "logs")
    assert any("async side was not tried" in remark for remark in found.remarks)


def test_a_lock_alone(tmp_path):
    found = brief(FactorySource(None, f"{GIVEN}:lock_in", str(tmp_path)), only=["leases", "records"], sides=("sync",))
    assert found.failures == []
    assert "store" in found.absent_operations
    by_group = found.by_group()
    assert by_group["leases"].passed > 15
    assert by_group["records"].passed == 0


def test_a_backend_of_five_primitives_conforms_where_it_is_tried(tmp_path):
    source = FactorySource(f"{GIVEN}:ListBackend", None, str(tmp_path))
    found = brief(source, only=["records", "versions", "logs.drop*", "leases.release-*"])
    assert found.failures == []
    assert {result.side for result in found.results} == {"sync", "async"}


def test_what_gives_no_handle_at_all_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="gives no handle to try"):
        brief(FactorySource(f"{GIVEN}:async_store_in", None, str(tmp_path)), sides=("sync",), only=["records"])


def test_patterns_that_fit_nothing_are_refused():
    with pytest.raises(ConfigError, match="'nothing' fits no clause: the groups are "):
        chosen("base", ["records", "nothing"])


def test_levels_hold_each_other():
    base, full = ({scenario.id for scenario in chosen(level)} for level in ("base", "full"))
    assert base < full == {scenario.id for scenario in all_scenarios()}


def test_base_has_races_of_two_processes_on_records_logs_and_leases():
    racing = {each.id for each in chosen("base") if each.group == "processes" and "cross_process" in each.needs}
    assert {"processes.one-winner-per-expectation", "processes.one-winner-per-lease"} <= racing


def test_ids_are_stable_words_and_sentences_prove_something():
    for scenario in all_scenarios():
        assert scenario.id == scenario.id.lower()
        assert scenario.id.count(".") == 1
        assert scenario.proves.endswith("."), scenario.id
        assert len(scenario.proves) <= 120, scenario.id


@pytest.mark.parametrize(
    "function,told",
    [
        ("exits_at_once", "raised SystemExit: 0"),
        ("fails_at_once", "raised ZeroDivisionError: no database today"),
        ("is_a_coroutine", "give a plain function"),
        ("no_store", "returned NoneType: give a plain function"),
    ],
)
def test_a_function_that_gives_nothing_is_refused_by_name(function, told, tmp_path):
    with pytest.raises(ConfigError) as caught:
        brief(FactorySource(f"{GIVEN}:{function}", None, str(tmp_path)), only=["versions"])
    assert told in str(caught.value)
    assert f"{GIVEN}:{function}" in str(caught.value)


def test_a_backend_that_ends_its_process_when_it_is_looked_at_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="ended with status 0 at once"):
        brief(FactorySource(f"{GIVEN}:dies_in_put", None, str(tmp_path)), only=["versions"], sides=("sync",))


def test_a_backend_that_ends_its_process_later_fails_every_clause_that_did_not_run(tmp_path):
    source = FactorySource(f"{GIVEN}:dies_in_truncate", None, str(tmp_path))
    found = brief(source, only=["versions", "logs"], sides=("sync",))
    assert not found.holds
    assert "the process that tried the sync side ended early, with status 0" in found.remarks
    assert {result.id for result in found.results} == {scenario.id for scenario in chosen("base", ["versions", "logs"])}
    assert all(
        "ended before it, with status 0" in result.reason for result in found.failures if result.group == "versions"
    )
    assert [result for result in found.failures if result.group == "versions"]


def test_options_that_no_write_takes_are_absent(tmp_path):
    found = brief(
        FactorySource(f"{GIVEN}:without_options", None, str(tmp_path)), only=["versions", "fencing", "values"]
    )
    assert found.failures == []
    assert {"ttl", "fence"} <= set(found.absent_operations)
    assert found.by_group()["values"].passed > 10


def test_a_function_that_opens_a_lock_is_a_target_too(tmp_path):
    found = brief(FactorySource(f"{GIVEN}:lock_in", None, str(tmp_path)), only=["leases.release-*", "flags"])
    assert found.failures == []
    assert found.by_group()["flags"].passed > 3
    assert "store" in found.absent_operations
