"""`holdall doctor`."""

import json
import re
import socket

import pytest

import holdall

NAMES = ["config", "adapter", "drivers", "store", "latency", "records", "clock", "lock", "lease"]


def findings(result):
    return {finding["check"]: finding for finding in json.loads(result.stdout)["checks"]}


def test_a_sound_storage(call, own_folder):
    result = call("doctor", "sqlite:///app.db")
    assert result.exit_code == 0
    assert all(name in result.output for name in NAMES)
    assert "SQLite" in result.output
    assert result.output.endswith("sqlite:///app.db: can be used from here.\n")
    assert max(map(len, result.output.splitlines())) <= 100


def test_it_leaves_nothing_behind(call):
    assert call("doctor", "sqlite:///app.db").exit_code == 0
    assert call("doctor", "sqlite:///app.db").exit_code == 0
    with holdall.open_store("sqlite:///app.db") as store, holdall.open_lock("sqlite:///app.db") as lock:
        assert list(store.scopes().items) == []
        assert list(store.log_scopes().items) == []
        assert store.describe()["storage"].startswith("SQLite")
        assert not lock.held(f"holdall-doctor-{socket.gethostname()}")


def test_json_has_stable_keys(run):
    result = run("doctor", "memory://", "--json")
    report = json.loads(result.stdout)
    assert result.returncode == 0
    assert result.stderr == ""
    assert list(report) == ["target", "ok", "checks", "versions", "store", "latency", "capabilities"]
    assert report["ok"] is True
    assert [finding["check"] for finding in report["checks"]] == NAMES
    assert all(list(finding) == ["check", "state", "detail", "mend"] for finding in report["checks"])
    assert list(report["latency"]) == ["pings", "min_seconds", "median_seconds"]
    assert {"holdall", "python", "sqlite"} <= report["versions"].keys()


def test_a_name_of_the_configuration(call, own_folder):
    (own_folder / "holdall.toml").write_text('[stores.main]\nurl = "memory://"\n[locks.main]\nurl = "sqlite:///l.db"\n')
    result = call("doctor", "main", "--json")
    assert result.exit_code == 0
    detail = findings(result)["config"]["detail"]
    assert detail == "memory:// and sqlite:///l.db ([stores.main], [locks.main])"


def test_a_name_that_is_only_a_store(call, own_folder):
    (own_folder / "holdall.toml").write_text('[stores.main]\nurl = "memory://"\n')
    result = call("doctor", "main", "--json")
    assert result.exit_code == 0
    found = findings(result)
    assert found["store"]["state"] == "ok"
    assert found["lock"]["state"] == "ok"


def test_a_name_of_the_environment(call, monkeypatch):
    monkeypatch.setenv("HOLDALL_LOCKS_MAIN_URL", "memory://")
    result = call("doctor", "main", "--json")
    assert result.exit_code == 0
    assert findings(result)["store"]["state"] == "not there"
    assert findings(result)["lease"]["state"] == "ok"


@pytest.mark.parametrize(
    "target, said",
    [
        ("nothing", "no url for 'nothing'"),
        ("memry://", "did you mean 'memory'?"),
        ("sqlite:app.db", "is neither a URL"),
        ("sqlite:///a.db?x", "has no value"),
    ],
)
def test_what_stands_for_nothing_is_wrong_usage(call, target, said):
    result = call("doctor", target, "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_config_that_is_wrong_is_not_taken_for_absent(call, own_folder):
    (own_folder / "holdall.toml").write_text('[stores.main]\nurl = "memory://"\n[locks.main]\nurl = "${NOT_SET}"\n')
    result = call("doctor", "main")
    assert result.exit_code == 2
    assert "NOT_SET" in result.stderr


@pytest.mark.parametrize("url", ["sqlite:///a.db?durabilty=full", "sqlite:///no/such/folder/a.db", "memory://a/b"])
def test_what_cannot_be_opened_fails_with_a_hint(call, url):
    result = call("doctor", url, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["ok"] is False
    assert findings(result)["store"]["state"] == "failed"
    assert findings(result)["store"]["mend"]
    assert "latency" not in findings(result)
    assert "checks failed" in call("doctor", url).output


def test_an_unreachable_storage_has_a_status_of_its_own(run, distribution, works):
    source = (
        works("far")
        + """
    from holdall.errors import Unavailable

    async def connect(target):
        raise Unavailable("no answer from far://me:hunter2@host")

    describe = holdall_adapter

    @hookimpl
    def holdall_adapter():
        return replace(describe(), connect=connect)
    """
    )
    distribution("far", adapters={"far": "far_module"}, source=source)
    result = run("doctor", "far://me:hunter2@host/x")
    assert result.returncode == 3
    assert "no answer" in result.stdout
    assert "far://me:***@host" in result.stdout
    assert "hunter2" not in result.stdout + result.stderr
    for url in ("far://me:hunter2@host", "far://me:x/hunter2@host", "far://host?password=hunter2&api_token=hunter2"):
        assert "hunter2" not in run("doctor", url, "--json").stdout


def test_a_missing_driver_and_a_broken_plugin_are_findings(run, distribution, works):
    requires = ['absent-driver>=1; extra == "deep"']
    distribution("holder", requires=requires, adapters={"deep": "holder_module [deep]"}, source=works("deep"))
    distribution("sick", adapters={"sick": "sick_module"}, source="import nothing_of_that_name")
    deep = run("doctor", "deep://", "--json")
    assert deep.returncode == 2
    assert findings(deep)["drivers"]["state"] == "failed"
    assert "pip install 'holder[deep]'" in findings(deep)["drivers"]["detail"]
    sick = run("doctor", "sick://", "--json")
    assert sick.returncode == 2
    assert "nothing_of_that_name" in findings(sick)["adapter"]["detail"]


def test_a_storage_that_lies_is_found_out(run, distribution, works):
    source = (
        works("liar")
        + """
    from holdall_adapters.memory import connect as honest

    async def connect(target):
        connection = await honest(target)

        class Store:
            def __getattr__(self, name):
                return getattr(connection.store, name)

            async def put(self, request):
                from holdall import ANY
                return await connection.store.put(request._replace(expect=ANY))

        return replace(connection, store=Store())

    describe = holdall_adapter

    @hookimpl
    def holdall_adapter():
        return replace(describe(), connect=connect)
    """
    )
    distribution("liar", adapters={"liar": "liar_module"}, source=source)
    result = run("doctor", "liar://", "--json")
    assert result.returncode == 1
    assert findings(result)["records"]["detail"] == "a compare-and-set with a stale version was not refused"


@pytest.mark.parametrize(
    "second, third, state",
    [
        ("botocore<1.45,>=1.44", "1.44.8", "ok"),
        ("botocore<1.44.0,>=1.43.5", "1.43.9", "failed"),
        ("botocore (<1.46,>=1.44)", "1.45.2", "failed"),
    ],
)
def test_driver_conflicts_come_from_metadata(run, distribution, works, second, third, state):
    distribution("boto3", "1.44.8", requires=["botocore<1.45.0,>=1.44.8", 'botocore[crt]<2; extra == "crt"'])
    distribution("aiobotocore", "3.0", requires=[second])
    distribution("botocore", third)
    requires = ['boto3>=1; extra == "cloud"']
    distribution("cloudy", requires=requires, adapters={"cloud": "cloudy_module [cloud]"}, source=works("cloud"))
    result = run("doctor", "cloud://", "--json")
    finding = findings(result)["driver conflicts"]
    assert finding["state"] == state, finding
    assert "boto3 1.44.8 needs botocore <1.45.0,>=1.44.8" in finding["detail"]
    assert result.returncode == (0 if state == "ok" else 1)
    assert ("holdall[aws-async]" in (finding["mend"] or "")) is (state == "failed")
    assert "driver conflicts" not in findings(run("doctor", "memory://", "--json"))  # it has no driver


def test_sizes_and_times_have_units(call, own_folder):
    for url in ("sqlite:///app.db", f"file://{own_folder}/store"):
        said = " ".join(call("doctor", url).output.split())
        assert re.search(r"(size|free) [\d.,]+ [KMGT]iB", said), said
        assert re.search(r"expiry_margin [\d.]+ s, min_ttl [\d.]+ s", said) or "min_ttl" not in said, said
        assert "bytes" not in said.partition("capabilities")[0]


def test_one_error_of_store_and_lock_stands_there_once(call):
    said = call("doctor", "sqlite:///no/such/folder/a.db").output
    assert said.count("cannot be opened") == 1
    assert "store, lock" in said


def test_what_is_no_database_has_the_status_of_what_is_wrong(call, own_folder):
    (own_folder / "a.db").write_text("no database " * 1000)
    result = call("doctor", "sqlite:///a.db", "--json")
    assert result.exit_code == 2
    assert findings(result)["store"]["mend"]
