"""holdall check: options, files, statuses, and what a person is told who gives it something wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import click
import pytest

from holdall_conformance.command import check

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
BROKEN = """
import holdall

def open_store(folder):
    store = holdall.open_store(f"sqlite:///{folder / 'x.db'}")
    real = store.put
    store.put = lambda *arguments, **named: (real(*arguments, **named), "always the same")[1]
    return store

def open_lock(folder):
    return holdall.open_lock(f"sqlite:///{folder / 'x.db'}")
"""


def section():
    return re.search(r"^## holdall check\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL)[1]


def test_every_option_has_help_and_stands_in_the_docs():
    options = {option for each in check.params if isinstance(each, click.Option) for option in each.opts}
    assert set(re.findall(r"^\| `(--[a-z-]+)`", section(), re.MULTILINE)) == options - {"-h"}
    assert all(each.help for each in check.params if isinstance(each, click.Option))
    assert "`TARGET`" in section()
    assert "TARGET" in check.help


def test_it_is_listed_among_the_commands(run):
    assert re.search(r"^  check ", run("--help").stdout, re.MULTILINE)


def test_all_files_are_written_and_the_status_is_good(run, own_folder):
    done = run(
        "check", "memory://kit", "--only", "versions", "--seed", "3",
        "--json", "r.json", "--junit", "r.xml", "--html", "r.html", "--badge", "r.svg",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no verdict" in done.stdout.splitlines()[-1]
    assert json.loads(Path("r.json").read_text())["seed"] == 3
    assert ET.parse("r.xml").getroot().tag == "testsuites"  # noqa: S314 - the file is our own
    assert "<html" in Path("r.html").read_text()
    assert "<svg" in Path("r.svg").read_text()
    assert sorted(path.name for path in own_folder.iterdir()) == ["r.html", "r.json", "r.svg", "r.xml"]


def test_a_broken_backend_has_status_1_and_the_command_that_runs_it_again(run):
    Path("broken.py").write_text(BROKEN)
    done = run("check", "broken:open_store", "--lock", "broken:open_lock", "--only", "versions", "--side", "sync")
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines()[-1].startswith("does not conform: ")
    again = re.search(r"holdall (check broken:open_store.* --only versions\.\S+ --seed \d+)", done.stdout)
    assert again, done.stdout
    assert "hint:" in done.stdout


def test_comparing_reports(run):
    Path("broken.py").write_text(BROKEN)
    arguments = ["--only", "versions", "--side", "sync", "--seed", "1", "--json"]
    assert run("check", "memory://kit", *arguments, "good.json").returncode == 0
    assert run("check", "broken:open_store", *arguments, "bad.json").returncode == 1
    assert run("check", "--compare", "good.json", "good.json").returncode == 0
    worse = run("check", "--compare", "good.json", "bad.json")
    assert worse.returncode == 1
    assert "versions." in worse.stdout
    assert run("check", "--compare", "bad.json", "good.json").returncode == 0


def test_listing(run):
    done = run("check", "--list", "--only", "records")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 10
    assert all(line.startswith("records.") for line in done.stdout.splitlines())


@pytest.mark.parametrize(
    "arguments,told",
    [
        ([], "name a backend"),
        (["memory://"], "memory://kit instead of memory://"),
        (["nowhere://x"], "no installed adapter serves nowhere://"),
        (["no_module:function"], "No module named 'no_module'"),
        (["memory://kit", "--only", "nothing"], "'nothing' fits no clause"),
        (["memory://kit", "--level", "huge"], "'huge' is not one of"),
        (["memory://kit", "--effort", "0"], "--effort is a number above 0"),
        (["memory://kit", "--effort", "nan"], "--effort is a number above 0"),
        (["memory://kit", "--json", "nowhere/r.json"], "there is no folder nowhere"),
        (["memory://kit", "--html", "."], "is a folder"),
        (["memory://kit", "--lock", "no_module:b"], "No module named 'no_module'"),
        (["--compare", "no.json", "no.json"], "no.json"),
        (["sqlite:///no/such/folder/x.db"], "no"),
    ],
)
def test_wrong_use_is_one_line_with_status_2(run, arguments, told):
    done = run("check", *arguments)
    assert done.returncode == 2, done.stdout
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_an_unreachable_server_has_status_3(run):
    done = run("check", "postgresql://nobody:secret@127.0.0.1:1/x", "--side", "sync")
    assert done.returncode == 3, done.stderr
    assert "secret" not in done.stderr
