"""`holdall adapters`."""

import json
import subprocess
import sys
from dataclasses import fields

from holdall import Capabilities

KEYS = ["scheme", "distribution", "module", "extra", "driver_installed", "missing", "install"]
KEYS += ["summary", "capabilities", "error"]


def rows(result):
    assert result.returncode == 0
    return {row["scheme"]: row for row in json.loads(result.stdout)["adapters"]}


def test_the_tables_fit_and_name_every_capability(call):
    result = call("adapters")
    assert result.exit_code == 0
    assert max(map(len, result.output.splitlines())) <= 100
    assert all(field.name in result.output for field in fields(Capabilities))
    assert all(text in result.output for text in ("memory", "sqlite", "none needed", "16 MiB"))


def test_json_has_stable_keys(run):
    result = run("adapters", "--json")
    assert result.stderr == ""
    assert list(json.loads(result.stdout)) == ["holdall", "adapters"]
    found = rows(result)
    assert list(found["sqlite"]) == KEYS
    assert list(found["sqlite"]["capabilities"]) == [field.name for field in fields(Capabilities)]
    assert found["sqlite"]["driver_installed"] is True
    assert found["sqlite"]["error"] is None


def test_a_broken_adapter_is_named_in_its_row(run, distribution):
    distribution("sick", "2.1", adapters={"sick": "sick_module"}, source="import nothing_of_that_name")
    found = rows(run("adapters", "--json"))
    assert "nothing_of_that_name" in found["sick"]["error"]
    assert found["sick"]["distribution"] == "sick 2.1"
    assert found["sick"]["capabilities"] is None
    assert found["sqlite"]["error"] is None
    table = run("adapters")
    assert table.returncode == 0
    assert "broken: the plugin of sick://" in table.stdout
    assert max(map(len, table.stdout.splitlines())) <= 100


def test_an_adapter_that_ends_the_program_does_not_end_this_one(run, distribution):
    distribution("rude", adapters={"rude": "rude_module"}, source="import sys; sys.exit('bye')")
    found = rows(run("adapters", "--json"))
    assert "bye" in found["rude"]["error"]
    assert found["memory"]["error"] is None


def test_two_claims_on_a_scheme_are_both_named(run, distribution, works):
    for name in ("one", "two"):
        distribution(name, adapters={"twice": f"{name}_module"}, source=works("twice"))
    result = json.loads(run("adapters", "--json").stdout)
    errors = [row["error"] for row in result["adapters"] if row["scheme"] == "twice"]
    assert len(errors) == 2
    assert all("several distributions claim twice://" in error for error in errors)


def test_a_missing_driver_names_the_extra(run, distribution, works):
    requires = ['absent-driver>=1; extra == "deep"']
    distribution("holder", requires=requires, adapters={"deep": "holder_module [deep]"}, source=works("deep"))
    row = rows(run("adapters", "--json"))["deep"]
    assert row["install"] == "pip install 'holder[deep]'"
    assert (row["driver_installed"], row["missing"], row["error"]) == (False, ["absent-driver"], None)
    assert row["summary"] == "made up"
    assert "pip install 'holder[deep]'" in run("adapters").stdout


def test_a_plugin_that_needs_its_driver_at_once_is_not_called_broken(run, distribution):
    source = "from holdall.plugins import import_driver\nimport_driver('absent_driver', 'deep', 'deep')\n"
    requires = ['absent-driver>=1; extra == "deep"']
    distribution("holder", requires=requires, adapters={"deep": "holder_module [deep]"}, source=source)
    row = rows(run("adapters", "--json"))["deep"]
    assert (row["error"], row["capabilities"]) == (None, None)
    table = run("adapters").stdout
    assert "broken" not in table


def test_many_adapters_still_fit(run, distribution, works):
    for number in range(12):
        name = f"adapter{number}"
        distribution(name, adapters={name: f"{name}_module"}, source=works(name))
    table = run("adapters").stdout
    assert max(map(len, table.splitlines())) <= 100
    assert table.count("CAPABILITY") >= 2


def test_output_in_a_plain_terminal():
    command = [sys.executable, "-m", "holdall.cli", "adapters"]
    result = subprocess.run(command, capture_output=True, env={"PYTHONIOENCODING": "ascii"}, check=False)
    assert result.returncode == 0
