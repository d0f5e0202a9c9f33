"""`holdall copy`: what arrives, what is refused, and what happens where something is there already."""

import json

import pytest

import holdall
from tests.cli.everything import fill

A, B = "sqlite:///a.db", "sqlite:///b.db?durability=relaxed"


def report(result):
    return json.loads(result.stdout)


@pytest.fixture
def filled():
    fill(A)


def test_everything_arrives_and_is_verified(quick, filled, contents):
    result = quick("copy", A, B, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    found = report(result)
    assert list(found) == [
        *("source", "destination", "ok", "records", "logs", "failures", "problems", "verification", "not_copied")
    ]
    assert (found["source"], found["ok"], found["failures"], found["problems"]) == (A, True, 0, [])
    assert contents(B) == contents(A)
    kinds = [kind for kind, *_ in contents(A)]
    assert found["records"]["copied"] == kinds.count("record")
    assert found["logs"]["copied"] == kinds.count("log")
    sides = found["verification"]
    assert sides["source"] == sides["destination"]
    assert sides["source"]["records"] == kinds.count("record")
    assert sides["source"]["entries"] == found["logs"]["entries_written"]
    with holdall.open_store(B) as store:
        assert 3500 < store.get("expiring", "soon").expires_in <= 3600


def test_into_files_and_back(quick, filled, contents, own_folder):
    files, back = f"file://{own_folder}/files?durability=relaxed", "sqlite:///c.db?durability=relaxed"
    for source, destination in ((A, files), (files, back)):
        result = quick("copy", source, destination, "--json")
        assert (result.returncode, result.stderr) == (0, "")
        assert report(result)["verification"]["equal"] is True
    assert contents(files) == contents(A) == contents(back)


def test_again_nothing_is_written(quick, filled):
    assert quick("copy", A, B).returncode == 0
    with holdall.open_store(B) as store:
        before = [record.version for record in store.iter_records("many")], store.head("logs", "cut")
    result = quick("copy", A, B, "--json")
    found = report(result)
    assert result.returncode == 0
    assert (found["records"]["copied"], found["logs"]["copied"], found["logs"]["entries_written"]) == (0, 0, 0)
    assert found["records"]["present"] == found["verification"]["source"]["records"]
    with holdall.open_store(B) as store:
        assert before == ([record.version for record in store.iter_records("many")], store.head("logs", "cut"))


def test_the_summary_says_what_stays_behind(quick, filled):
    result = quick("copy", A, B)
    assert result.returncode == 0
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("Not copied: ")]
    for text in ("leases", "flags", "tokens", "marks", "batch ids", "versions", "docs/guide/moving-data.md"):
        assert text in line
    assert result.stdout.endswith(f"{A} -> {B}: copied and verified.\n")
    said = "".join(report(quick("copy", A, B, "--json"))["not_copied"].values())
    assert all(text in said for text in ("raise_floor", "store.seal"))
    assert max(map(len, result.stdout.splitlines())) <= 120


def test_quiet(quick, filled):
    result = quick("copy", A, B, "--quiet")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_an_empty_storage(quick, contents):
    holdall.open_store(A).close()
    assert quick("copy", A, B).returncode == 0
    assert contents(B) == {}


def test_only_some(quick, filled, contents):
    assert quick("copy", A, B, "--scope", "logs", "--scope", "values", "--logs").returncode == 0
    everything = contents(A)
    assert contents(B) == {
        name: everything[name] for name in everything if name[0] == "log" and name[1] in {"logs", "values"}
    }
    assert quick("copy", A, B, "--scope", "many", "--records").returncode == 0
    assert ("record", "many", "k00000") in contents(B)


def test_a_scope_that_is_not_there(quick, filled, own_folder):
    result = quick("copy", A, B, "--scope", "valeus")
    assert (result.returncode, result.stdout) == (2, "")
    assert "there is nothing in a scope 'valeus'" in result.stderr
    assert not (own_folder / "b.db").exists()


@pytest.mark.parametrize("alias", [A, "sqlite:///./a.db", "sqlite:///a.db?durability=relaxed", "link"])
def test_the_same_storage_twice_is_wrong_usage(call, own_folder, alias):
    holdall.open_store(A).close()
    if alias == "link":
        (own_folder / "link.db").symlink_to("a.db")
        alias = "sqlite:///link.db"
    result = call("copy", A, alias)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "are the same storage" in result.stderr


def test_a_source_that_is_not_there_is_not_made(call, own_folder):
    result = call("copy", A, B)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "does not exist" in result.stderr
    assert list(own_folder.iterdir()) == []


def test_names_of_the_configuration(quick, filled, own_folder, contents):
    (own_folder / "holdall.toml").write_text(f'[stores.from]\nurl = "{A}"\n[stores.to]\nurl = "{B}"\n')
    assert quick("copy", "from", "to").returncode == 0
    assert contents(B) == contents(A)
    assert quick("copy", "from", A).returncode == 2


# ---------------------------------------------------------------------------------------------------------- conflicts


@pytest.fixture
def disputed():
    """A destination that holds other things under some names, and things of its own."""
    with holdall.open_store(A) as a, holdall.open_store(B) as b:
        for number in range(20):
            a.put("s", f"k{number:02}", {"a": 1, "b": number})
        a.put("s", "ttl", 1, ttl=1000)
        a.put("s", "timed", 1, ttl=1000)
        for store, values in ((a, [1, 2, 3]), (b, [1, 2, 4])):
            store.append("s", "other", values)
        for store, values in ((a, [1, 2]), (b, [1, 2, 3])):
            store.append("s", "longer", values)
        for store, values in ((a, list(range(5))), (b, list(range(3)))):
            store.append("s", "prefix", values)
        for store, cut in ((a, 1), (b, 2)):
            store.append("s", "cut", [1, 2, 3])
            store.truncate("s", "cut", cut)
        b.put("s", "k03", {"b": 3, "a": 1})  # the same but for the order of keys
        b.put("s", "k04", {"a": 1.0, "b": 4})
        b.put("s", "k05", {"a": 1, "b": 5})
        b.put("s", "ttl", 1)
        b.put("s", "timed", 1, ttl=10)
        b.put("s", "own", "mine")
        b.append("s", "own", ["mine"])


OTHERS = [("record", "s", key) for key in ("k03", "k04", "ttl")] + [
    ("log", "s", key) for key in ("cut", "longer", "other")
]


def test_error_changes_nothing_of_the_name_and_names_it(quick, disputed, contents):
    before = contents(B)
    result = quick("copy", A, B, "--json")
    found = report(result)
    assert result.returncode == 1
    assert (found["ok"], found["failures"]) == (False, len(OTHERS))
    assert (found["records"]["conflicts"], found["logs"]["conflicts"]) == (3, 3)
    assert [(one["kind"], one["scope"], one["key"]) for one in found["problems"]] == OTHERS
    assert found["verification"]["equal"] is True
    after = contents(B)
    assert all(after[name] == before[name] for name in (*OTHERS, ("record", "s", "own"), ("log", "s", "own")))
    assert all(after[name] == value for name, value in contents(A).items() if name not in OTHERS)
    said = quick("copy", A, B).stdout
    assert "log other in scope s: DST holds another entry at position 2" in said
    assert "log longer in scope s: DST holds 1 entry more" in said
    assert "log cut in scope s: DST holds it from position 2 on, not 1" in said
    assert "record ttl in scope s: DST holds it without expiry" in said
    assert said.endswith(
        "6 not copied, everything else is; under 6 names DST holds something else: "
        "--on-conflict skip leaves it, --on-conflict overwrite replaces it.\n"
    )
    assert "Not copied: " not in said  # nothing was there to do


def test_skip_leaves_it_and_is_well(quick, disputed, contents):
    before = contents(B)
    result = quick("copy", A, B, "--json", "--on-conflict", "skip")
    found = report(result)
    assert (result.returncode, found["ok"], found["failures"]) == (0, True, 0)
    assert (found["records"]["skipped"], found["logs"]["skipped"]) == (3, 3)
    assert all(contents(B)[name] == before[name] for name in OTHERS)
    assert (
        "; 3 records and 3 logs skipped and not compared: DST holds"
        in quick(*("copy", A, B, "--on-conflict", "skip")).stdout
    )


def test_one_is_said_as_one(quick):
    with holdall.open_store(A) as a, holdall.open_store(B) as b:
        a.put("s", "same", 1)
        a.append("s", "log", [1])
        a.put("s", "other", 1)
        b.put("s", "other", 2)
    said = quick("copy", A, B, "--on-conflict", "skip").stdout
    assert "both sides: 1 record, 1 log of 1 entry, digest" in said
    assert "1 entry of logs written" in said
    assert said.endswith("copied and verified; 1 record skipped and not compared: DST holds something else.\n")
    assert "under 1 name DST holds" in quick("copy", A, B).stdout
    assert ": 2 records, 1 log of 1 entry, digest" in quick("export", A, "all.jsonl").stdout


def test_overwrite_replaces_it_and_leaves_the_rest(quick, disputed, contents):
    result = quick("copy", A, B, "--json", "--on-conflict", "overwrite")
    found = report(result)
    assert (result.returncode, found["ok"]) == (0, True)
    assert (found["records"]["overwritten"], found["logs"]["overwritten"]) == (
        4,
        3,
    )  # with the one that expires earlier
    assert contents(B) == {**contents(B), **contents(A)}
    assert ("record", "s", "own") in contents(B)
    with holdall.open_store(B) as store:
        assert store.get("s", "timed").expires_in > 900


def test_many_conflicts_are_counted_and_some_named(run):
    with holdall.open_store(A) as a, holdall.open_store(B) as b:
        a.put_many("s", {f"k{number}": 1 for number in range(700)})
        b.put_many("s", {f"k{number}": 2 for number in range(700)})
    result = run("copy", A, B)
    assert result.returncode == 1
    assert result.stdout.count("not copied: record") == 10
    assert "and 690 more" in result.stdout


# -------------------------------------------------------------------------------------------------------------- limits

SMALL = """
    from dataclasses import replace
    from holdall.plugins import load_adapter
    from holdall.spi import hookimpl

    origin = load_adapter("sqlite")

    async def connect(target):
        connection = await origin.connect(target)
        limits = dict(LIMITS)
        return replace(connection, capabilities=replace(connection.capabilities, **limits))

    @hookimpl
    def holdall_adapter():
        return replace(origin, name="small", schemes=("small",), connect=connect)
"""


@pytest.fixture
def small(distribution):
    def small(**limits):
        distribution("small", adapters={"small": "small_module"}, source=SMALL.replace("LIMITS", repr(limits)))
        return "small:///b.db"

    return small


def test_what_is_too_large_is_named_before_it_is_written(run, small, contents):
    destination = small(max_value_bytes=1000, max_key_bytes=600, max_scope_bytes=130)
    with holdall.open_store(A) as a:
        a.put("s", "fits", "x" * 998)
        a.put("s", "large", "x" * 999)
        a.put("s", "k" * 601, 1)
        a.put("s" * 131, "k", 1)
        a.append("s", "log", ["x", "y" * 2000, "z"])
        a.append("s", "l" * 601, ["x"])
    result = run("copy", A, destination, "--json")
    found = report(result)
    assert result.returncode == 1
    assert (found["records"]["copied"], found["records"]["refused"], found["logs"]["refused"]) == (1, 3, 2)
    said = {one["key"]: one["why"] for one in found["problems"]}
    assert said["large"] == "its value has 1,001 bytes, DST takes 1,000"
    assert said["k" * 601] == "its key has 601 bytes, DST takes 600"
    assert said["k"] == "its scope has 131 bytes, DST takes 130"
    assert said["log"] == "the entry at position 1 has 2,002 bytes, DST takes 1,000"
    assert ("record", "s", "fits") in contents(B)


@pytest.mark.parametrize("atomic", [True, False])
def test_small_batches(run, small, contents, filled, atomic):
    limits = {"max_batch_entries": 7, "max_batch_bytes": 200_000, "max_commit_operations": 3, "min_ttl": 5000.0}
    destination = small(atomic_commit=atomic, **limits)
    assert run("copy", A, destination, "--json").returncode == 0
    assert contents(B) == contents(A)
    with holdall.open_store(B) as store:
        assert 4900 < store.get("expiring", "soon").expires_in <= 5000  # raised to the shortest


def test_an_overwritten_log_is_not_dropped_for_one_that_does_not_fit(run, small, contents):
    destination = small(max_value_bytes=1000)
    with holdall.open_store(A) as a, holdall.open_store(B) as b:
        a.append("s", "log", ["x", "y" * 2000])
        b.append("s", "log", ["mine"])
    before = contents(B)
    result = run("copy", A, destination, "--on-conflict", "overwrite")
    assert result.returncode == 1
    assert contents(B) == before


# ------------------------------------------------------------------------------------------------------- verification


def test_a_destination_that_loses_something_is_found_out(run, distribution):
    source = """
        from dataclasses import replace
        from holdall.plugins import load_adapter
        from holdall.spi import hookimpl

        origin = load_adapter("sqlite")

        class Store:
            def __init__(self, store):
                self._store = store

            def __getattr__(self, name):
                return getattr(self._store, name)

            async def commit(self, requests):
                changed = [replace_payload(request) for request in requests]
                return await self._store.commit(changed)

            async def put(self, request):
                return await self._store.put(replace_payload(request))

            async def append(self, request):
                return await self._store.append(request._replace(payloads=[b'"?"' for _ in request.payloads]))

        def replace_payload(request):
            return request._replace(payload=b'"?"') if request.key == "k1" else request

        async def connect(target):
            connection = await origin.connect(target)
            return replace(connection, store=Store(connection.store))

        @hookimpl
        def holdall_adapter():
            return replace(origin, name="lossy", schemes=("lossy",), connect=connect)
    """
    distribution("lossy", adapters={"lossy": "lossy_module"}, source=source)
    with holdall.open_store(A) as a:
        a.put_many("s", {"k0": 0, "k1": 1})
        a.append("s", "log", list(range(501)))
    result = run("copy", A, "lossy:///b.db", "--json")
    sides = report(result)["verification"]
    assert result.returncode == 1
    assert (sides["equal"], sides["differences"]) == (False, 2)
    assert sides["source"]["digest"] != sides["destination"]["digest"]
    assert [(one["kind"], one["key"]) for one in sides["named"]] == [("record", "k1"), ("log", "log")]
    assert sides["named"][1]["why"] == "the entries at position 500 differ"
    assert "differs: record k1 in scope s: the values differ" in run("copy", A, "lossy:///c.db").stdout
    assert report(run("copy", A, "lossy:///d.db", "--json", "--no-verify"))["verification"] is None
