"""The example, as somebody has it who installed both wheels: listed, opened, used, uninstalled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

USE = """
    import asyncio, sys
    import holdall

    url = sys.argv[1]
    with holdall.open_store(url) as store, holdall.open_lock(url) as lock, lock.hold("key", ttl=30) as hold:
        assert store.adapter == lock.adapter == "lmdb"
        store.seal("s", "log", hold.lease, log=True)
        store.append("s", "log", [1, "zwei"], fence=hold.lease)
        version = store.put("s", "record", {"a": [1.5, None]}, expect=holdall.ABSENT)
        try:
            store.put("s", "record", 1, expect=holdall.ABSENT)
        except holdall.Conflict as conflict:
            assert conflict.current == version
        else:
            raise AssertionError

    async def main():
        async with holdall.open_async_store(url) as store, holdall.open_async_lock(store) as lock:
            async with lock.hold("key", ttl=30) as hold:
                assert hold.lease.token == 2
                await store.append("s", "log", [3], fence=hold.lease)
                assert [entry.value async for entry in store.iter_entries("s", "log")] == [1, "zwei", 3]
            assert (await store.get("s", "record")).value == {"a": [1.5, None]}
            await store.delete("s", "record")

    asyncio.run(main())
"""


def test_what_is_tested_is_what_was_installed(python):
    for module in ("holdall", "holdall_adapters", "holdall_conformance", "holdall_lmdb"):
        assert Path(python(f"import {module}; print({module}.__file__)")).is_relative_to(sys.prefix)


def test_store_and_lock_work_by_url(python):
    python(USE, "lmdb:///state")
    assert Path("state/data.mdb").exists()


def test_store_and_lock_work_by_the_name_of_the_configuration(python, clean):
    (clean / "holdall.toml").write_text('[stores.mine]\nurl = "lmdb:///here"\ndurability = "relaxed"\n')
    python(USE, "mine")
    assert Path("here/data.mdb").exists()


def test_another_process_finds_what_one_wrote(python):
    code = "import sys, holdall; s = holdall.open_store('lmdb:///x'); s.update('s', 'k', lambda n: (n or 0) + 1)"
    python(code)
    python(code)
    assert python("import holdall; print(holdall.open_store('lmdb:///x').get('s', 'k').value)") == "2"


def test_it_is_listed(command):
    listed = command("adapters")
    assert listed.returncode == 0, listed.stderr
    (row,) = [line for line in listed.stdout.splitlines() if line.startswith("lmdb")]
    assert "holdall-lmdb 0.1.0" in row
    assert "LMDB database" in row
    found = json.loads(command("adapters", "--json").stdout)["adapters"]
    (entry,) = [each for each in found if each["scheme"] == "lmdb"]
    assert (entry["distribution"], entry["module"], entry["error"]) == ("holdall-lmdb 0.1.0", "holdall_lmdb", None)
    assert entry["capabilities"]["cross_process"] is True


def test_the_doctor_finds_it_well(command):
    done = command("doctor", "lmdb:///state", "--json")
    assert done.returncode == 0, done.stdout
    assert json.loads(done.stdout)["ok"] is True


def test_neither_listing_nor_opening_another_imports_it(python):
    code = """
        import sys, holdall
        from holdall.plugins import installed_adapters
        assert "lmdb" in [adapter.scheme for adapter in installed_adapters()]
        holdall.open_store("memory://x").close()
        holdall.open_store("sqlite:///x.db").close()
        print(sorted(name for name in sys.modules if "lmdb" in name))
    """
    assert python(code) == "[]"


def test_an_option_that_it_does_not_have_is_named(python):
    code = """
        import holdall
        try:
            holdall.open_store("lmdb:///x?mapsize=5")
        except holdall.ConfigError as error:
            print(error)
    """
    assert "did you mean 'map_size'" in python(code)


def test_it_is_gone_after_uninstalling(python, command, without_the_example):
    assert "lmdb" not in command("adapters").stdout
    code = """
        import holdall
        try:
            holdall.open_store("lmdb:///state")
        except holdall.AdapterNotFound as error:
            print(error)
    """
    told = python(code)
    assert told.startswith("no installed adapter serves lmdb://: installed are ")
    assert "memory" in told
    assert "sqlite" in told
    done = command("doctor", "lmdb:///state")
    assert done.returncode == 2
    assert "lmdb" in done.stderr + done.stdout


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "example,levels",
    [
        ("custom_adapter", {"sync": "full", "async": "base"}),
        ("redis_adapter", {"sync": "base", "async": "base"}),
    ],
)
def test_the_kit_and_its_own_tests_pass(example, levels, tmp_path):
    """Both sides at once, each in an interpreter of its own: most of the time clauses wait."""
    running = {}
    for side, others in (("sync", "async"), ("async", "sync")):
        command = [sys.executable, "-m", "pytest", "-q", str(EXAMPLES / example / "tests"), "-k", f"not [{others}-"]
        command += [f"--holdall-level={levels[side]}", "--holdall-effort=0.5"]
        command += ["-p", "no:cacheprovider", "--basetemp", str(tmp_path / side)]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        running[side] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
    told = {side: process.communicate(timeout=850)[0] for side, process in running.items()}
    for side, process in running.items():
        assert process.returncode == 0, told[side][-5000:]
        print(side, told[side].splitlines()[-1])
