"""One damaged thing stops nothing else: it is named, and what can be read is listed, copied and exported."""

import contextlib
import json
import sqlite3

import pytest

import holdall
from holdall.cli.damage import Damaged
from holdall.cli.log_writer import LogWriter
from holdall.cli.outcome import Outcome
from holdall.cli.reading import Chunk, Log, Selection
from holdall.cli.record_writer import RecordWriter
from holdall.clock import boot_time
from holdall.values import Record

A, B = "sqlite:///a.db", "sqlite:///b.db?durability=relaxed"


def tear(statement, *values, database="a.db"):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        assert connection.execute(statement, values).rowcount == 1
        connection.commit()


def tear_record(key, database="a.db"):
    tear("UPDATE holdall_records SET payload = '{torn' WHERE key = ?", key, database=database)


def tear_batch(number, database="a.db"):
    """Tear the batch of that number, of all logs."""
    tear(
        "UPDATE holdall_batches SET payload = '[torn' WHERE id = (SELECT id FROM holdall_batches ORDER BY id LIMIT 1 "
        "OFFSET ?)",
        number,
        database=database,
    )


@pytest.fixture
def torn():
    """Records around a damaged one, and a log whose third batch is damaged among others."""
    with holdall.open_store(A) as store:
        for scope in ("a", "b", "c"):
            store.put_many(scope, {f"{scope}{number}": number for number in range(20)})
        store.put("b", "b-expires", 1, ttl=1000)
        for batch in ([0, 1], [2, 3, 4], [5], [6]):
            store.append("b", "cut", batch)
        store.append("b", "sound", [1, 2, 3])
        store.append("d", "sound", ["d"])
    tear_record("b7")
    tear_batch(2)


def report(result):
    return json.loads(result.stdout)


def problems(result):
    return {(one["kind"], one["scope"], one["key"]): one["why"] for one in report(result)["problems"]}


def without(found, *names):
    return {name: value for name, value in found.items() if name not in names}


BAD = [("record", "b", "b7"), ("log", "b", "cut")]


def test_copy_names_it_and_copies_the_rest(quick, torn, contents):
    result = quick("copy", A, B, "--json")
    assert (result.returncode, result.stderr) == (1, "")
    found, said = report(result), problems(result)
    assert (found["ok"], found["failures"], list(said)) == (False, 2, BAD)
    assert (found["records"]["damaged"], found["logs"]["damaged"]) == (1, 1)
    assert (found["records"]["copied"], found["logs"]["copied"]) == (60, 2)
    assert said[BAD[0]].startswith("is damaged in SRC: ")
    assert said[BAD[1]].startswith("is damaged in SRC: from position 5 on: ")
    assert said[BAD[1]].endswith("; under its name DST holds positions 0 to 5, without the last")
    assert found["verification"]["equal"] is True
    with holdall.open_store(B) as store:
        assert [entry.value for entry in store.read("b", "cut")] == [0, 1, 2, 3, 4]
        assert store.get("b", "b7") is None
        assert 900 < store.get("b", "b-expires").expires_in <= 1000
        assert [entry.value for entry in store.read("d", "sound")] == ["d"]
    text = quick("copy", A, B)
    assert text.returncode == 1
    assert "not copied: record b7 in scope b: is damaged in SRC: " in text.stdout
    assert "2 not copied, everything else is" in text.stdout


def test_a_copy_of_what_was_mended_goes_on(quick, torn, contents):
    assert quick("copy", A, B).returncode == 1
    tear("UPDATE holdall_records SET payload = '7' WHERE key = 'b7'")
    tear("UPDATE holdall_batches SET payload = '[5]' WHERE payload = '[torn'")
    result = quick("copy", A, B, "--json")
    found = report(result)
    assert (result.returncode, found["records"]["copied"], found["logs"]["entries_written"]) == (0, 1, 2)
    assert contents(B) == contents(A)


def test_a_log_damaged_from_its_first_entry_on_is_not_begun(quick):
    with holdall.open_store(A) as store:
        store.append("s", "log", [1])
    tear_batch(0)
    assert problems(quick("copy", A, B, "--json"))["log", "s", "log"].endswith("; nothing of it is in DST")
    assert quick("export", A, "all.jsonl").returncode == 1
    assert quick("import", B, "all.jsonl").returncode == 1
    with holdall.open_store(B) as store:
        assert store.head("s", "log") is None


def test_a_damaged_log_replaces_nothing(quick, torn):
    with holdall.open_store(B) as store:
        store.append("b", "cut", [0, "other"])
    assert quick("export", A, "all.jsonl").returncode == 1
    for command in (("copy", A, B), ("import", B, "all.jsonl")):
        assert quick(*command, "--on-conflict", "overwrite").returncode == 1
        with holdall.open_store(B) as store:
            assert [entry.value for entry in store.read("b", "cut")] == [0, "other"]


def test_what_is_damaged_in_the_destination_is_named_and_left(quick):
    with holdall.open_store(A) as a, holdall.open_store(B) as b:
        for store in (a, b):
            store.put_many("s", {f"k{number}": number for number in range(5)})
            store.append("s", "log", [1, 2])
        a.put("s", "new", 1)
        a.append("t", "log", [1])
    tear_record("k2", "b.db")
    tear_batch(0, "b.db")
    result = quick("copy", A, B, "--json")
    found, said = report(result), problems(result)
    assert result.returncode == 1
    assert list(said) == [("record", "s", "k2"), ("log", "s", "log")]
    assert all(why.startswith("is damaged in DST: ") for why in said.values())
    assert (found["records"]["copied"], found["records"]["present"], found["logs"]["copied"]) == (1, 4, 1)
    assert found["verification"]["equal"] is True


def test_export_names_it_and_import_knows_where_a_log_was_cut(quick, torn, contents):
    result = quick("export", A, "all.jsonl", "--json")
    assert (result.returncode, result.stderr) == (1, "")
    found = report(result)
    assert (found["ok"], found["failures"], found["records"], list(problems(result))) == (False, 2, 60, BAD)
    assert '{"at":5,"damaged":' in quick("export", A).stdout
    result = quick("import", B, "all.jsonl", "--json")
    assert (result.returncode, result.stderr) == (1, "")
    assert list(problems(result)) == [BAD[1]]
    assert report(result)["damaged"] == 2
    assert "from position 5 on: " in problems(result)[BAD[1]]
    tear("UPDATE holdall_records SET payload = '7' WHERE key = 'b7'")
    tear("UPDATE holdall_batches SET payload = '[5]' WHERE payload = '[torn'")
    found, whole = contents(B), contents(A)
    assert found["log", "b", "cut"][:2] == (0, 5)
    assert without(found, *BAD) == without(whole, *BAD)
    assert quick("export", A, "whole.jsonl").returncode == 0
    assert quick("import", B, "whole.jsonl").returncode == 0
    assert contents(B) == contents(A)


def test_export_to_a_pipe_names_it_on_stderr(quick, torn):
    result = quick("export", A)
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert [line.startswith("holdall: not exported: ") for line in lines] == [True, True]
    assert "record b7 in scope b: is damaged in SRC: " in lines[0]
    assert '"end":true' in result.stdout


@pytest.mark.parametrize("options", [("--scope", "a"), ("--logs",), ("--scope", "b")])
def test_a_cut_log_is_passed_over_by_who_does_not_want_it(quick, torn, options):
    assert quick("export", A, "all.jsonl").returncode == 1
    result = quick("import", B, "all.jsonl", *options)
    assert result.returncode == 1  # nobody knows which scopes the export lacks something of
    assert "2 not in the export, or not whole: damaged where it was made" in result.stdout
    assert ("log cut in scope b" in result.stdout) is (options != ("--scope", "a"))


def test_ls_shows_all_names_and_marks_it(quick, torn):
    result = quick("ls", A, "b")
    assert (result.returncode, result.stderr) == (1, "")
    lines = result.stdout.splitlines()
    assert len(lines) == 23
    assert "damaged record b7" in lines
    assert "record      b8" in lines
    found = report(quick("ls", A, "b", "--json"))["names"]
    assert {entry["name"] for entry in found if entry["damaged"]} == {"b7"}
    assert list(next(entry["damaged"] for entry in found if entry["name"] == "b7")) == ["record"]
    assert quick("ls", A, "a").returncode == 0
    assert quick("ls", A).returncode == 0


def test_a_damaged_record_of_a_file_store(quick, own_folder):
    source = f"file://{own_folder}/files"
    with holdall.open_store(source) as store:
        store.put_many("b", {f"k{number}": number for number in range(5)})
        store.put("c", "k", 1)
    (own_folder / "files" / "records" / "b" / "k2").write_text("x")
    result = quick("copy", source, B, "--json")
    assert (result.returncode, list(problems(result))) == (1, [("record", "b", "k2")])
    with holdall.open_store(B) as store:
        assert list(store.keys("b").items) == ["k0", "k1", "k3", "k4"]
        assert store.get("c", "k").value == 1
    listed = quick("ls", source, "b")
    assert (listed.returncode, len(listed.stdout.splitlines())) == (1, 5)
    assert "damaged record k2" in listed.stdout
    assert "c" in quick("ls", source).stdout
    assert quick("export", source, "all.jsonl").returncode == 1
    assert quick("copy", source, "sqlite:///c.db", "--scope", "b").returncode == 1


# ------------------------------------------------------------------------------------ listings that cannot be listed


def corrupt(operation, scope=None, key=None):
    error = holdall.Corrupt("torn")
    error.operation, error.scope, error.key = operation, scope, key
    return error


class Torn:
    """A store of which some listings fail: at a name, and go on behind it, or for good."""

    def __init__(self, store, name, **failing):
        self._store = store
        self._name = name
        self._failing = failing

    def __getattr__(self, name):
        method, located = getattr(self._store, name), self._failing.get(name)
        if located is None:
            return method

        def listing(*arguments, after=None, **named):
            if after is None or after < self._name:
                raise corrupt(name, **located)
            return method(*arguments, after=after, **named)

        return listing

    def get(self, scope, key):
        return self._store.get(scope, key)


@pytest.fixture
def store():
    with holdall.open_store("memory://") as store:
        for scope in ("a", "b", "c"):
            store.put_many(scope, {"a": 1, "b": 2, "c": 3})
            store.append(scope, "a", [1])
            store.append(scope, "c", [1])
        yield store


def read(store):
    noted = []
    chosen = Selection(store, (), records=True, logs=True, damaged=noted.append)
    found = [
        (
            scope,
            [record.key for chunk in chosen.chunks(scope) for record in chunk.records],
            list(chosen.log_keys(scope)),
        )
        for scope in chosen.scopes()
    ]
    return found, [(one.kind, one.scope, one.key) for one in noted]


def test_a_listing_goes_on_behind_the_name_at_which_it_failed(store):
    keys = {"scan": {"scope": "a"}, "keys": {"scope": "a", "key": "b"}, "logs": {"scope": "a", "key": "b"}}
    found, noted = read(Torn(store, "b", **keys))
    assert found == [(scope, ["c"], ["c"]) for scope in ("a", "b", "c")]
    assert noted[:2] == [("record", "a", "b"), ("log", "a", "b")]
    found, noted = read(Torn(store, "b", scopes={"scope": "b"}, log_scopes={"scope": "b"}))
    assert [scope for scope, *_ in found] == ["c"]
    assert noted == [("record", "b", ""), ("log", "b", "")]


def test_a_listing_that_fails_for_good_ends_what_it_lists_and_nothing_else(store):
    found, noted = read(Torn(store, "z", scan={"scope": "a"}, keys={"scope": "a"}))
    assert found == [(scope, [], ["a", "c"]) for scope in ("a", "b", "c")]
    assert noted == [("record", scope, "") for scope in ("a", "b", "c")]
    found, noted = read(Torn(store, "z", scopes={}))
    assert found == [(scope, ["a", "b", "c"], ["a", "c"]) for scope in ("a", "b", "c")]  # as the logs say
    assert noted == [("record", "", "")]


def test_the_time_left_is_that_of_the_moment_of_reading(store):
    store.put("a", "b", 2, ttl=100)
    chosen = Selection(Torn(store, "", scan={"scope": "a"}), ("a",), records=True, logs=True, damaged=lambda _: None)
    ttls = [record.expires_in for chunk in chosen.chunks("a") for record in chunk.records if record.expires_in]
    assert len(ttls) == 1
    assert 99 < ttls[0] <= 100


def test_a_destination_that_cannot_write_one_record_writes_the_others(store):
    class Refusing:
        def __getattr__(self, name):
            return getattr(store, name)

        def commit(self, operations):
            raise corrupt("commit", "s", "k1")

        def put(self, scope, key, value, **named):
            if key == "k1":
                raise corrupt("put", scope, key)
            return store.put(scope, key, value, **named)

    outcome = Outcome()
    records = [Record("s", f"k{number}", number, "", None) for number in range(3)]
    RecordWriter(Refusing(), "error", outcome).write(Chunk("s", records, boot_time()))
    assert list(store.keys("s").items) == ["k0", "k2"]
    assert (outcome.records.copied, outcome.records.damaged) == (2, 1)
    assert outcome.problems[0].why == "is damaged in DST: torn"


def test_a_log_is_written_up_to_its_damage_also_within_a_batch(store):
    def values():
        yield from range(7)
        raise Damaged("torn", 7)

    for _ in range(2):
        outcome = Outcome()
        LogWriter(store, "error", outcome).write(Log("s", "log", 0, 9, values()))
        assert [entry.value for entry in store.read("s", "log")] == list(range(7))
        assert (outcome.logs.damaged, outcome.failures) == (1, 1)


def test_ls_lists_what_it_can_and_says_where_it_ended(quick, own_folder):
    source = f"file://{own_folder}/files"
    with holdall.open_store(source) as store:
        store.append("b", "log", [1])
    (own_folder / "files" / "records").rmdir()
    (own_folder / "files" / "records").write_text("x")
    result = quick("ls", source)
    assert (result.returncode, result.stdout) == (1, "logs          b\n")
    assert result.stderr.startswith("holdall: the records cannot be listed any further: ")
    assert list(report(quick("ls", source, "b", "--json"))["faults"]) == ["record"]
    assert quick("copy", source, B).returncode == 1
    with holdall.open_store(B) as store:
        assert store.head("b", "log").length == 1
