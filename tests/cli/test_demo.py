"""`holdall demo`: on the sample and on other files, when something does not hold, and when it is ended from outside."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import holdall
from holdall.cli import demo_setting, demo_story
from holdall.cli.conversation import Survey
from holdall.cli.demo_checks import checked_values
from holdall.cli.demo_protocol import Event
from holdall.cli.demo_race import DoesNotHold
from holdall.codec import digest

STEPS = ["read", "config", "append", "kill", "take over", "late write", "retry", "finish"]
STEPS += ["verify", "swap", "copy", "verify copy", "same rules"]


def processes():
    """The ids of all demo processes that work for the demo of this test's environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            arguments, environment = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"holdall.cli.demo_worker" in arguments and f"TMPDIR={os.environ['TMPDIR']}".encode() in environment:
            found.append(int(folder.name))
    return found


@pytest.fixture(autouse=True)
def nothing_left(own_folder, temporary):
    yield
    assert processes() == []
    assert list(temporary.iterdir()) == []


def steps_of(result):
    return {step["step"]: step for step in json.loads(result.stdout)["steps"]}


def test_the_sample(run, own_folder):
    started = time.monotonic()
    result = run("demo")
    assert (result.returncode, result.stderr) == (0, "")
    assert time.monotonic() - started < 30
    assert all(step in result.stdout for step in STEPS)
    assert "FAILED" not in result.stdout
    lines = result.stdout.splitlines()
    assert max(map(len, lines[:-1])) <= 100
    assert lines[-1].startswith("1,200 of 1,200 entries are there, once and in order")
    assert list(own_folder.iterdir()) == []


def test_own_file_and_own_stores_as_json(run, own_folder):
    values = [{"number": number, "text": "é\u2028😀" * 20, "wide": 2**70, "zero": -0.0} for number in range(300)]
    (own_folder / "talk.jsonl").write_text("\n\n".join(json.dumps(value) for value in values), "utf-8")
    with holdall.open_store("sqlite:///there.db") as store:
        store.put("mine", "key", "value")
        result = run("demo", "talk.jsonl", "--store", "sqlite:///there.db", "--to", "sqlite:///new.db", "--json")
        assert (result.returncode, result.stderr) == (0, "")
        assert list(store.log_scopes().items) == []
        assert list(store.scopes().items) == ["mine"]
    report = json.loads(result.stdout)
    assert list(report) == ["ok", "summary", "kept", "steps"]
    assert (report["ok"], report["kept"]) == (True, None)
    assert [step["step"] for step in report["steps"]] == STEPS
    assert all(list(step) == ["step", "what", "figures", "ok", "error"] for step in report["steps"])
    found = {name: step["figures"] for name, step in steps_of(result).items()}
    assert found["read"]["digest"] == found["verify"]["digest"] == found["verify copy"]["digest"] == digest(values)[:12]
    assert found["take over"]["token"] > found["kill"]["token"] == found["late write"]["token"]
    assert found["late write"]["mark"] == found["take over"]["token"]
    assert 0.3 < found["take over"]["takeover_seconds"] < 15
    assert found["verify"]["acknowledged"] + found["take over"]["in_flight"] == 300
    assert found["swap"]["lines_changed"] == 2
    assert {path.name for path in own_folder.iterdir()} - {"there.db-wal", "there.db-shm"} == {"there.db", "talk.jsonl"}


def test_one_line(run, own_folder):
    (own_folder / "one.jsonl").write_text("[]")
    result = run("demo", "one.jsonl", "--json")
    assert result.returncode == 0
    assert list(steps_of(result)) == [step for step in STEPS if step != "retry"]
    assert json.loads(result.stdout)["summary"].startswith("1 of 1 entries")


def test_keep(run, own_folder, temporary, monkeypatch):
    (own_folder / "two.jsonl").write_text("1\n2\n")
    monkeypatch.setenv("HOLDALL_STORES_DEFAULT_URL", "memory://not-for-the-demo")
    result = run("demo", "two.jsonl", "--keep", "--to", f"sqlite:///{own_folder}/kept copy.db", "--json")
    assert result.returncode == 0
    folder = Path(json.loads(result.stdout)["kept"])
    assert folder.parent == temporary.resolve()
    monkeypatch.delenv("HOLDALL_STORES_DEFAULT_URL")
    config = holdall.load_config(folder / "holdall.toml")
    with (
        holdall.open_store("default", config=config) as copy,
        holdall.open_store(f"sqlite:///{folder}/demo.db") as first,
    ):
        (log,) = first.logs("holdall-demo").items
        assert [entry.value for entry in copy.read("holdall-demo", log)] == [1, 2]
        assert [entry.value for entry in first.read("holdall-demo", log)] == [1, 2]
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def test_what_it_made_goes_and_what_was_there_stays(run, own_folder):
    (own_folder / "two.jsonl").write_text("1\n2\n")
    (own_folder / "empty").mkdir()
    with holdall.open_store(f"file://{own_folder}/there") as store:
        store.put("mine", "key", "value")
    for first, other in (("new", "empty"), ("there", "newer")):
        urls = ("--store", f"file://{own_folder}/{first}", "--to", f"file://{own_folder}/{other}")
        result = run("demo", "two.jsonl", *urls)
        assert (result.returncode, result.stderr) == (0, "")
        assert {path.name for path in own_folder.iterdir()} == {"two.jsonl", "empty", "there"}
        assert list((own_folder / "empty").iterdir()) == []
    with holdall.open_store(f"file://{own_folder}/there") as store:
        assert store.get("mine", "key").value == "value"
    result = run("demo", "two.jsonl", "--store", f"file://{own_folder}/new", "--keep", "--json")
    assert (own_folder / "new").is_dir()
    shutil.rmtree(json.loads(result.stdout)["kept"])


@pytest.mark.parametrize("url", ["file://{}/new", "sqlite:///{}/new.db"])
def test_what_somebody_else_put_there_meanwhile_stays(own_folder, url):
    url = url.format(own_folder)
    with demo_setting.setting(url, None, keep=False) as made:
        demo_setting.open_first(made, Survey(1, 1, 1, 1, ""), own_folder)
        with holdall.open_store(url) as store:
            store.append("holdall-demo", made.log, [1])
            store.put("mine", "key", "value")
    with holdall.open_store(f"{url}?create=false") as store:
        assert store.get("mine", "key").value == "value"
        assert store.head("holdall-demo", made.log) is None


@pytest.mark.parametrize(
    "content, said",
    [
        (None, "talk.jsonl: No such file or directory"),
        ("", "talk.jsonl: holds no entries"),
        ('{"a":1}\n{"a":NaN}\n', "talk.jsonl, line 2: float that is NaN or infinite"),
        ('{"a":1}\n{"a"', "talk.jsonl, line 2: is not JSON"),
        (
            json.dumps("x" * 17 * 2**20),
            "talk.jsonl, line 1: an entry of 17,825,794 bytes, the storage takes 16,777,216",
        ),
    ],
)
def test_a_bad_file_is_refused_before_anything_is_written(call, own_folder, content, said):
    if content is not None:
        (own_folder / "talk.jsonl").write_text(content)
    result = call("demo", "talk.jsonl", "--store", "sqlite:///new.db")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith(f"holdall: {said}")
    assert result.stderr.count("\n") == 1
    assert {path.name for path in own_folder.iterdir()} <= {"talk.jsonl"}


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(call, own_folder, make):
    make(own_folder / "talk.jsonl")
    result = call("demo", "talk.jsonl")
    assert result.exit_code == 2
    assert "talk.jsonl: is " in result.stderr


@pytest.mark.parametrize(
    "arguments, said",
    [
        (("--store", "memory://x"), "--store must be a storage that two processes can share"),
        (("--store", "sqlite:///a.db", "--to", "sqlite:///a.db"), "are the same storage"),
        (("--store", "default"), "--store takes a URL"),
        (("--to", "copy.db"), "--to takes a URL"),
        (("--to", "sqlit:///a.db"), "did you mean 'sqlite'?"),
        (("--store", "sqlite:///a.db?durabilty=full"), "did you mean 'durability'?"),
        (("--store", "sqlite:///no/such/folder/a.db"), "holdall: "),
    ],
)
def test_bad_urls_are_refused_before_anything_is_written(call, own_folder, arguments, said):
    result = call("demo", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1
    assert list(own_folder.iterdir()) == []


class Careless:
    """A store that lets late writes in."""

    def __init__(self, store):
        self._store = store

    def __getattr__(self, name):
        return getattr(self._store, name)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._store.close()

    def append(self, *arguments, fence=None, **named):
        return self._store.append(*arguments, **named)


def test_what_does_not_hold_is_said(call, own_folder, monkeypatch):
    real = demo_story.open_store
    monkeypatch.setattr(demo_story, "open_store", lambda *arguments: Careless(real(*arguments)))
    (own_folder / "two.jsonl").write_text("1\n2\n")
    result = call("demo", "two.jsonl")
    assert result.exit_code == 1
    assert "FAILED" in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "It does not hold: late write: a write with the old token "
        f"{result.stdout.rpartition('token ')[2].split()[0]} was taken."
    )


def test_a_copy_that_differs_is_found_out(call, own_folder, monkeypatch):
    monkeypatch.setattr(demo_story, "copy_log", lambda _, other, log: other.append("holdall-demo", log, [1, 3]).count)
    (own_folder / "two.jsonl").write_text("1\n2\n")
    result = call("demo", "two.jsonl", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False
    assert steps_of(result)["verify copy"]["error"] == "the copy is not equal to the file"


def test_a_process_that_cannot_work_is_heard(call, own_folder, monkeypatch):
    (own_folder / "two.jsonl").write_text("1\n2\n")
    monkeypatch.setattr(sys, "executable", "/bin/false")
    result = call("demo", "two.jsonl")
    assert result.exit_code == 1
    assert "ended with status 1" in result.stdout


def test_a_batch_that_is_not_where_it_was_acknowledged_is_found_out():
    with holdall.open_store("memory://") as store:
        store.append("holdall-demo", "log", [1, 2, 3, 4])
        first, second = Event("acknowledged", 1, 0, 2, digest([1, 2])), Event("acknowledged", 1, 3, 1, digest([4]))
        assert list(checked_values(store, "log", [second, first])) == [1, 2, 3, 4]
        for wrong in (Event("acknowledged", 1, 1, 2, digest([2, 3])), Event("acknowledged", 1, 2, 1, digest([9]))):
            with pytest.raises(DoesNotHold):
                list(checked_values(store, "log", [first, wrong]))


@pytest.mark.parametrize(
    "number, status, said",
    [
        (signal.SIGTERM, 143, ""),
        (signal.SIGHUP, 143, ""),
        (signal.SIGINT, 130, "holdall: interrupted\n"),
        (signal.SIGKILL, -9, ""),
    ],
)
def test_ended_from_outside_it_leaves_no_process(own_folder, temporary, number, status, said):
    command = [sys.executable, "-m", "holdall.cli", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
        while "kill" not in demo.stdout.readline():
            assert demo.poll() is None
        assert processes()
        demo.send_signal(number)
        stderr = demo.stderr.read()
        assert demo.wait(20) == status
    assert stderr == said
    deadline = time.monotonic() + 5
    while processes() and time.monotonic() < deadline:
        time.sleep(0.02)
    if number == signal.SIGKILL:
        (folder,) = temporary.iterdir()
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


def test_a_reader_that_goes_away_ends_it(own_folder):
    command = [sys.executable, "-m", "holdall.cli", "demo"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as demo:
        demo.stdout.readline()
        demo.stdout.close()
        assert demo.stderr.read() == ""
        assert demo.wait(20) == 141
