"""`holdall export` and `holdall import`: the file, what it says exactly, and what is refused."""

import fcntl
import json
import os
import signal
import stat

import pytest

import holdall
from holdall.cli.new_file import new_file
from tests.cli.everything import fill

A, B = "sqlite:///a.db", "sqlite:///b.db?durability=relaxed"


@pytest.fixture
def filled():
    fill(A)


@pytest.fixture
def few():
    with holdall.open_store(A) as store:
        store.put_many("s", {f"k{number}": number for number in range(5)})
        store.append("s", "log", list(range(1200)))
        store.put("t", "k", 2**70)


def test_there_and_back(quick, filled, contents, own_folder):
    result = quick("export", A, "all.jsonl", "--json")
    assert (result.returncode, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert list(found) == ["file", "ok", "records", "logs", "entries", "sha256", "failures", "problems", "not_copied"]
    assert quick("import", B, "all.jsonl").returncode == 0
    assert contents(B) == contents(A)
    again = json.loads(quick("import", B, "all.jsonl", "--json").stdout)
    assert (again["records"]["copied"], again["records"]["present"]) == (0, found["records"])
    assert (again["logs"]["copied"], again["logs"]["present"]) == (0, found["logs"])
    with holdall.open_store(B) as store:
        assert 3500 < store.get("expiring", "soon").expires_in <= 3600


def test_the_lines(quick, few):
    lines = quick("export", A).stdout.splitlines()
    header, trailer = json.loads(lines[0]), json.loads(lines[-1])
    assert list(header) == ["format", "version", "holdall", "not_copied"]
    assert (header["format"], header["version"]) == ("holdall-export", 1)
    assert lines[1] == '{"scope":"s","key":"k0","expires_in":null,"value":0}'
    assert json.loads(lines[6]) == {"scope": "s", "log": "log", "first": 0, "length": 1200}
    entries = [json.loads(line) for line in lines[7:10]]
    assert [line["at"] for line in entries] == [0, 500, 1000]
    assert [value for line in entries for value in line["entries"]] == list(range(1200))
    assert lines[10] == ' {"scope":"t","key":"k","expires_in":null,"value":1180591620717411303424}'
    assert list(trailer) == ["end", "records", "logs", "entries", "damaged", "sha256"]
    assert (trailer["records"], trailer["logs"], trailer["entries"]) == (6, 1, 1200)


def test_no_secret_is_in_it(quick, few):
    assert "hunter2" not in quick("export", f"{A}?durability=full").stdout
    assert "sqlite" not in quick("export", A).stdout


def test_the_file_is_private_and_whole(quick, few, own_folder):
    assert quick("export", A, "all.jsonl").returncode == 0
    assert stat.S_IMODE((own_folder / "all.jsonl").stat().st_mode) == 0o600
    before = (own_folder / "all.jsonl").read_bytes()
    result = quick("export", A, "all.jsonl")
    assert (result.returncode, result.stdout) == (2, "")
    assert "all.jsonl: is there already; --force replaces it" in result.stderr
    assert quick("export", A, "all.jsonl", "--force", "--scope", "t").returncode == 0
    assert (own_folder / "all.jsonl").read_bytes() != before
    assert {path.name for path in own_folder.iterdir()} == {"a.db", "all.jsonl"}


def test_what_is_no_file_is_not_replaced(quick, few, own_folder):
    (own_folder / "folder").mkdir()
    os.mkfifo(own_folder / "pipe")
    for place in ("folder", "pipe"):
        result = quick("export", A, place, "--force")
        assert (result.returncode, result.stdout) == (2, "")
        assert "is no regular file" in result.stderr


@pytest.mark.parametrize(
    "place, why", [("no/such/folder", "No such file or directory"), ("x" * 300, "File name too long")]
)
def test_a_place_that_cannot_be_is_named_as_it_was_given(quick, few, place, why):
    result = quick("export", A, place)
    assert (result.returncode, result.stderr) == (2, f"holdall: {place}: {why}\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_export_leaves_nothing(start, own_folder, number):
    with holdall.open_store(f"{A}?durability=relaxed") as store:
        for _ in range(40):
            store.append("s", "log", ["x" * 1000] * 5000)
    process = start("export", A, "all.jsonl")
    while not list(own_folder.glob(".all.jsonl.*.part")) and process.poll() is None:
        pass
    process.send_signal(number)
    process.communicate()
    assert process.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert list(own_folder.glob("*.part")) + list(own_folder.glob(".all*")) + list(own_folder.glob("all*")) == []


def test_json_needs_a_file(quick, few):
    result = quick("export", A, "--json")
    assert (result.returncode, result.stdout) == (2, "")


def test_filters(quick, few, contents):
    everything = contents(A)
    assert quick("export", A, "s.jsonl", "--scope", "s", "--logs").returncode == 0
    assert quick("import", B, "s.jsonl").returncode == 0
    assert contents(B) == {("log", "s", "log"): everything["log", "s", "log"]}
    assert quick("export", A, "all.jsonl").returncode == 0
    assert quick("import", "sqlite:///c.db", "all.jsonl", "--scope", "t").returncode == 0
    assert contents("sqlite:///c.db") == {("record", "t", "k"): everything["record", "t", "k"]}
    result = quick("import", "sqlite:///c.db", "all.jsonl", "--scope", "u")
    assert result.returncode == 1
    assert "not in the export: scope 'u'" in result.stdout


@pytest.mark.parametrize("policy, status", [("error", 1), ("skip", 0), ("overwrite", 0)])
def test_conflicts(quick, few, contents, policy, status):
    with holdall.open_store(B) as store:
        store.put("s", "k1", "other")
        store.append("s", "log", [0, 1, "other"])
    before, wanted = contents(B), contents(A)
    assert quick("export", A, "all.jsonl").returncode == 0
    result = quick("import", B, "all.jsonl", "--on-conflict", policy, "--json")
    found = json.loads(result.stdout)
    assert (result.returncode, found["ok"]) == (status, status == 0)
    assert contents(B) == (wanted if policy == "overwrite" else {**wanted, **before})


# -------------------------------------------------------------------------------------------------------------- damage


def damaged(lines, what):
    """Return the lines of an export with one fault, and the line that is named."""
    if what == "cut":
        return [*lines[:8], lines[8][:-20]], 9
    if what == "no trailer":
        return lines[:-1], len(lines)
    if what == "a line less":
        return [*lines[:3], *lines[4:]], len(lines) - 1
    if what == "entries less":
        return [*lines[:8], *lines[9:]], 9
    if what == "no json":
        return [*lines[:3], b"garbage\n", *lines[4:]], 4
    if what == "no object":
        return [*lines[:3], b"[]\n", *lines[4:]], 4
    if what == "unknown":
        return [*lines[:3], b'{"scope":"s"}\n', *lines[4:]], 4
    if what == "another value":
        return [*lines[:3], lines[3].replace(b'"value":2', b'"value":3'), *lines[4:]], len(lines)
    if what == "a key twice":
        return [*lines[:3], lines[2], *lines[4:]], 4
    if what == "a wide int without its mark":
        return [line.lstrip() for line in lines], len(lines)
    if what == "no utf-8":
        return [*lines[:3], lines[3].replace(b'"k2"', b'"\xff"'), *lines[4:]], 4
    if what == "more behind":
        return [*lines, b"\n"], len(lines) + 1
    raise AssertionError(what)


FAULTS = ["cut", "no trailer", "a line less", "entries less", "no json", "no object", "unknown", "another value"]
FAULTS += ["a key twice", "a wide int without its mark", "no utf-8", "more behind"]


@pytest.mark.parametrize("what", FAULTS)
def test_a_damaged_export_is_refused_with_the_line(quick, few, own_folder, contents, what):
    assert quick("export", A, "all.jsonl").returncode == 0
    lines, number = damaged((own_folder / "all.jsonl").read_bytes().splitlines(keepends=True), what)
    (own_folder / "bad.jsonl").write_bytes(b"".join(lines))
    result = quick("import", B, "bad.jsonl")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr.startswith(f"holdall: line {number} ")
    assert "imported and stay; running it again with a whole export is safe" in result.stderr
    assert "--on-conflict overwrite" in result.stderr
    assert result.stderr.count("\n") == 1
    assert quick("import", B, "all.jsonl", "--on-conflict", "overwrite").returncode == 0
    assert contents(B) == contents(A)


@pytest.mark.parametrize(
    "content, said",
    [
        (b"", "line 1 is missing"),
        (b"\x00" * 5000, "line 1 is cut off"),
        (b"\n", "line 1 is damaged"),
        (b'{"a":1}\n', "line 1 has another format"),
        (b'{"format":"holdall-export","version":2}\n', "has version 2, this holdall reads 1"),
        (b'{"format":"holdall-export","version":true}\n', "has version True"),
    ],
)
def test_what_is_no_export_is_refused_before_anything_is_done(quick, own_folder, content, said):
    (own_folder / "bad.jsonl").write_bytes(content)
    result = quick("import", B, "bad.jsonl")
    assert (result.returncode, result.stdout) == (2, "")
    assert said in result.stderr
    assert {path.name for path in own_folder.iterdir()} == {"bad.jsonl"}


def test_a_file_that_is_not_there(quick):
    result = quick("import", B, "nothing.jsonl")
    assert (result.returncode, result.stderr) == (2, "holdall: nothing.jsonl: No such file or directory\n")
    result = quick("import", B, ".")
    assert (result.returncode, result.stderr) == (2, "holdall: .: Is a directory\n")


def leftovers(folder):
    return sorted(path.name for path in folder.glob(".*.part"))


def test_the_next_export_removes_what_a_killed_one_left(start, quick, own_folder):
    with holdall.open_store(f"{A}?durability=relaxed") as store:
        for _ in range(40):
            store.append("s", "log", ["x" * 1000] * 5000)
    with start("export", A, "all.jsonl") as process:
        while not leftovers(own_folder) and process.poll() is None:
            pass
        process.kill()
        process.wait()
    assert len(leftovers(own_folder)) == 1
    strangers = [".all.jsonl.part", ".all.jsonl.0123456789abcdef.part", ".other.jsonl.0123456789ab.part"]
    for name in strangers:
        (own_folder / name).touch()
    assert quick("export", A, "all.jsonl", "--scope", "s").returncode == 0
    assert leftovers(own_folder) == sorted(strangers)


def test_an_export_under_way_is_no_leftover(own_folder):
    with new_file(own_folder / "all.jsonl", force=False) as first:
        first.write(b"first")
        with new_file(own_folder / "all.jsonl", force=False) as second:
            second.write(b"second")
        assert len(leftovers(own_folder)) == 1
        (own_folder / "all.jsonl").unlink()
    assert (own_folder / "all.jsonl").read_bytes() == b"first"
    assert leftovers(own_folder) == []


def test_an_export_taken_for_a_leftover_before_it_was_locked_begins_anew(own_folder, monkeypatch):
    real, calls = fcntl.flock, []

    def flock(number, how):
        calls.append(number)
        if len(calls) == 1:
            for name in leftovers(own_folder):
                (own_folder / name).unlink()
        return real(number, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    with new_file(own_folder / "all.jsonl", force=False) as made:
        made.write(b"whole")
    assert len(calls) == 2
    assert (own_folder / "all.jsonl").read_bytes() == b"whole"
