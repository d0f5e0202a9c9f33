"""`holdall ls`, `get`, `put` and `log`: for a person at a terminal."""

import contextlib
import json
import re
import shlex
import signal
import subprocess
import sys
import time

import pytest

import holdall
from tests.cli.everything import DEEP, NAMES, VALUES, fill

A = "sqlite:///a.db"


@pytest.fixture
def filled():
    fill(A)


def test_scopes(quick, filled):
    lines = quick("ls", A).stdout.splitlines()
    assert "records       expiring" in lines
    assert "logs          logs" in lines
    assert "records, logs plain" in lines
    assert quick("ls", A, "--logs").stdout.splitlines()[-1].startswith("logs  ")
    found = json.loads(quick("ls", A, "--json").stdout)
    assert list(found) == ["scopes", "next", "faults"]
    assert [scope["name"] for scope in found["scopes"]] == sorted({*NAMES, "values", "expiring", "logs", "many"})
    assert found["scopes"][1].keys() == {"name", "records", "logs", "damaged"}


def test_names_in_a_scope(quick, filled):
    assert quick("ls", A, "logs").stdout.splitlines() == [
        "log         cut",
        "log         nothing ever",
        "log         nothing left",
    ]
    assert quick("ls", A, "logs", "nothing l").stdout.splitlines() == ["log         nothing left"]
    assert quick("ls", A, "plain").stdout == "record, log plain\n"
    assert quick("ls", A, "plain", "--records").stdout == "record      plain\n"
    assert json.loads(quick("ls", A, "plain", "--json").stdout) == {
        "scope": "plain",
        "names": [{"name": "plain", "record": True, "log": True, "damaged": None}],
        "next": None,
        "faults": {},
    }
    assert quick("ls", A, "no such scope").stdout == ""


def test_pages(quick, filled):
    result = quick("ls", A, "many", "--limit", "3")
    assert result.stdout == "record      k00000\nrecord      k00001\nrecord      k00002\n"
    assert result.stderr == "there are more: --after k00002\n"
    assert quick("ls", A, "many", "--after", "k02498").stdout == "record      k02499\n"
    found, after = [], []
    while after is not None:
        page = json.loads(quick("ls", A, "--json", "--limit", "5", *after).stdout)
        found += [scope["name"] for scope in page["scopes"]]
        after = page["next"] and ["--after", page["next"]]
        if after and "\x00" in after[1]:
            break  # an argument cannot hold it
    assert found == sorted(found)
    assert len(quick("ls", A, "many").stdout.splitlines()) == 1000


def test_strange_names_are_harmless_on_a_terminal(quick, filled):
    shown = quick("ls", A).stdout
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200d]", shown) is None
    assert len(shown.splitlines()) == len(NAMES) + 4
    for name in ("with\x00nul", "new\nline", "\u202eright to left", " spaces ", '"quoted"'):
        assert f" {json.dumps(name)}\n" in shown
    assert " é\n" in shown


def test_get(quick, filled):
    assert quick("get", A, "plain", "plain").stdout == '{\n  "name": "plain"\n}\n'
    found = json.loads(quick("get", A, "expiring", "soon", "--json").stdout)
    assert list(found) == ["scope", "key", "value", "version", "expires_in"]
    assert 3500 < found["expires_in"] <= 3600
    for number, value in enumerate(VALUES):
        for arguments in ((), ("--json",)):
            shown = json.loads(quick("get", A, "values", f"v{number:02}", *arguments).stdout)
            assert repr(shown["value"] if arguments else shown) == repr(value)


def test_get_of_nothing(quick, filled):
    result = quick("get", A, "plain", "absent")
    assert (result.returncode, result.stdout) == (1, "")
    assert "there is no such record" in result.stderr
    assert "key 'absent'" in result.stderr


def test_put(quick):
    version = quick("put", A, "s", "k", '{"b": 1, "a": [1.0, -0.0, 123456789012345678901234567890]}').stdout.strip()
    with holdall.open_store(A) as store:
        record = store.get("s", "k")
        assert record.version == version
        assert repr(record.value) == "{'b': 1, 'a': [1.0, -0.0, 123456789012345678901234567890]}"
        found = json.loads(quick("put", A, "s", "k", "--json", "--", "-1").stdout)
        assert found == {"scope": "s", "key": "k", "version": store.get("s", "k").version}
        assert store.get("s", "k").value == -1
        quick("put", A, "s", "k", "{no json", "--text", "--ttl", "100")
        assert store.get("s", "k").value == "{no json"
        assert 90 < store.get("s", "k").expires_in <= 100


def test_put_from_standard_input(quick):
    assert quick("put", A, "s", "a", stdin=" [1,\n 2] \n").returncode == 0
    assert quick("put", A, "s", "b", "-", "--text", stdin="two\nlines\n").returncode == 0
    with holdall.open_store(A) as store:
        assert [store.get("s", key).value for key in "ab"] == [[1, 2], "two\nlines\n"]


def test_put_on_a_condition(quick):
    first = quick("put", A, "s", "k", "1", "--expect", "absent").stdout.strip()
    result = quick("put", A, "s", "k", "2", "--expect", "absent")
    assert (result.returncode, result.stdout) == (1, "")
    assert first in result.stderr
    assert quick("put", A, "s", "k", "3", "--expect", first).returncode == 0
    assert quick("put", A, "s", "k", "4", "--expect", first).returncode == 1


@pytest.mark.parametrize(
    "text", ["", "{", "NaN", "1e999", "[1] 2", '{"a":1,"a":2}', "[" * 100_000, "9" * 5000, '"\\ud800"']
)
def test_what_is_no_value_is_refused(quick, own_folder, text):
    result = quick("put", A, "s", "k", stdin=text)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert "internal" not in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("put", A, "s", "k", "1", "--ttl", "0"),
        ("put", A, "s", "k", "1", "--ttl", "nan"),
        ("put", A, "", "k", "1"),
        ("put", A, "s", "", "1"),
        ("put", A, "s", "\udcff", "1"),
        ("put", A, "s", "k" * 100_000, "1"),
        ("put", A, "s", "k", "1", "--expect", ""),
        ("get", A, "", "k"),
        ("log", A, "s", ""),
        ("ls", A, ""),
        ("ls", A, "--timeout", "nan"),
        ("copy", A, "sqlite:///b.db", "--scope", ""),
        ("export", A, "--scope", ""),
    ],
)
def test_wrong_arguments_have_the_status_of_wrong_usage(quick, arguments):
    holdall.open_store(A).close()
    result = quick(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", [("ls",), ("get", "s", "k"), ("put", "s", "k", "1"), ("export",)])
def test_what_is_no_database_is_wrong_input(quick, own_folder, command):
    (own_folder / "a.db").write_text("no database " * 1000)
    name, *arguments = command
    result = quick(name, A, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "is no SQLite database" in result.stderr


@pytest.mark.parametrize("command", ["put sqlite:///a.db s k <&-", "import sqlite:///a.db <&-", "adapters >&-"])
def test_closed_streams_are_one_line(command):
    result = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m holdall.cli {command}"], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert re.fullmatch(r"holdall: standard (in|out)put is closed.*\n", result.stderr)


HARD = ["$(echo hi)", "a b", "a\nb", "-lead", "--after", "it's", "it's\n\\x", "\x1b[31m9"]
HARD += ["é\u202e7", "`id`", "*", "~", " e "]


@pytest.mark.parametrize("name", HARD)
def test_how_to_go_on_can_be_pasted(quick, name):
    with holdall.open_store(A) as store:
        for each in (name, name + "x"):
            store.put("s", each, 1)
            store.put(each, "k", 1)
    for arguments in (("ls", A, "s"), ("ls", A)):
        result = quick(*arguments, "--limit", "1")
        hint = result.stderr.removeprefix("there are more: ").removesuffix("\n")
        command = f"{shlex.join([sys.executable, '-m', 'holdall.cli', *arguments])} --json {hint}"
        pasted = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
        first = json.loads(quick(*arguments, "--limit", "1", "--json").stdout)["next"]
        rest = [entry["name"] for entry in list(json.loads(pasted.stdout).values())[-3]]
        with holdall.open_store(A) as store:
            listed = store.keys("s").items if "s" in arguments else store.scopes().items
        assert rest == [each for each in listed if each > first]


def test_a_name_that_no_argument_can_hold(quick):
    with holdall.open_store(A) as store:
        store.put_many("s", {"a\x00b": 1, "b": 2})
    assert "no argument can hold the name" in quick("ls", A, "s", "--limit", "1").stderr


def test_deep_values(quick):
    assert quick("put", A, "s", "k", json.dumps(DEEP)).returncode == 0
    assert json.loads(quick("get", A, "s", "k").stdout) == DEEP


def test_log(quick, filled):
    assert quick("log", A, "plain", "plain").stdout == f'0  "plain"\n1  null\n2  {2**80}\n'
    assert quick("log", A, "logs", "cut", "--limit", "2").stdout == "700  700\n701  701\n"
    assert quick("log", A, "logs", "cut", "--tail", "2").stdout == "1198  1198\n1199  1199\n"
    assert quick("log", A, "logs", "cut", "--start", "1199").stdout == "1199  1199\n"
    assert quick("log", A, "logs", "nothing left").stdout == ""
    lines = [json.loads(line) for line in quick("log", A, "values", "all", "--json").stdout.splitlines()]
    assert repr([line["value"] for line in lines]) == repr(VALUES)
    assert [line["position"] for line in lines] == list(range(len(VALUES)))
    shown = quick("log", A, "values", "all").stdout
    assert len(shown.splitlines()) == len(VALUES)
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown) is None


def test_a_log_that_is_not_there_or_forgotten(quick, filled):
    result = quick("log", A, "plain", "absent")
    assert (result.returncode, result.stdout) == (1, "")
    assert "there is no such log" in result.stderr
    result = quick("log", A, "logs", "cut", "--start", "3")
    assert (result.returncode, result.stdout) == (1, "")
    assert "begins at 700" in result.stderr
    for arguments in (("--start", "1", "--tail", "1"), ("--for", "1")):
        assert quick("log", A, "logs", "cut", *arguments).returncode == 2


def test_follow_for_a_while(quick, filled):
    result = quick("log", A, "logs", "cut", "--tail", "1", "--follow", "--for", "0.3")
    assert (result.returncode, result.stdout) == (0, "1199  1199\n")
    assert quick("log", A, "logs", "absent", "--follow", "--for", "0").returncode == 0


def test_follow_shows_what_comes(start, filled):
    process = start("log", A, "logs", "later", "--follow", "--json")
    with holdall.open_store(A) as store:
        for number in range(3):
            store.append("logs", "later", [number])
            assert json.loads(process.stdout.readline()) == {"position": number, "value": number}
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=30)
    assert (process.returncode, output, complaint) == (130, "", "holdall: interrupted\n")


def test_follow_ends_in_time_though_entries_keep_coming(start, filled):
    process = start("log", A, "logs", "busy", "--follow", "--for", "1")
    with holdall.open_store(f"{A}?durability=relaxed") as store:
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            store.append("logs", "busy", [1])
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
    assert process.communicate()[1] == ""
    assert process.returncode == 0


READS = [("ls",), ("ls", "s"), ("get", "s", "k"), ("log", "s", "k"), ("export",)]


@pytest.mark.parametrize("command", READS, ids=lambda command: command[0])
def test_reading_makes_nothing(quick, own_folder, command):
    name, *arguments = command
    result = quick(name, A, *arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert "does not exist" in result.stderr
    assert "there is no store to read" in result.stderr
    assert "create=false" not in result.stderr
    assert list(own_folder.iterdir()) == []
    assert "create=false" in quick(name, f"{A}?create=false", *arguments).stderr
    quick(name, f"{A}?create=true", *arguments)
    assert (own_folder / "a.db").exists()


def test_reading_makes_nothing_by_name_either(quick, own_folder):
    (own_folder / "holdall.toml").write_text('[stores.main]\nurl = "sqlite:///b.db"\n')
    assert quick("ls", "main").returncode == 2
    (own_folder / "holdall.toml").write_text('[stores.main]\nurl = "sqlite:///b.db"\ncreate = true\n')
    assert quick("ls", "main").returncode == 0
