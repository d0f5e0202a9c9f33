"""Run by the nox session `bare` in an environment with the wheel and no extra: what must work there, works."""

import subprocess
import sys
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

import holdall
from holdall.plugins import installed_adapters

DRIVERS = ("boto3", "aiobotocore", "psycopg", "psycopg_pool", "pymongo", "pytest", "hypothesis")


def holdall_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("holdall")), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def works(url: str) -> None:
    with holdall.open_store(url) as store, holdall.open_lock(store) as lock, lock.hold("bare", ttl=5) as hold:
        store.seal("bare", "log", hold.lease, log=True)
        assert store.append("bare", "log", [1, "zwei"], fence=hold.lease).head.length == 2
        version = store.put("bare", "record", {"a": [1.5, None]}, expect=holdall.ABSENT)
        record = store.get("bare", "record")
        assert record is not None
        assert (record.value, record.version) == ({"a": [1.5, None]}, version)


NO_PATH = {"dynamodb": ""}


def main() -> None:
    assert not [name for name in DRIVERS if name in sys.modules], "import holdall imported a driver"
    works("memory://bare")
    with tempfile.TemporaryDirectory() as folder:
        works(f"sqlite:///{folder}/bare.db")
    listed = holdall_command("adapters")
    assert listed.returncode == 0, listed.stderr
    assert "sqlite" in listed.stdout
    names = {entry.name for entry in entry_points(group="holdall.adapters")}
    assert {"memory", "sqlite"} <= names
    for adapter in installed_adapters():
        if adapter.extra is not None:
            try:
                holdall.open_store(f"{adapter.scheme}://localhost{NO_PATH.get(adapter.scheme, '/none')}")
            except holdall.DriverMissing as error:
                named = f"holdall[{adapter.extra}]" in str(error)
            else:
                named = False
            assert named, f"{adapter.scheme}:// did not name its extra"
    missing = holdall_command("doctor", "postgresql://localhost/none")
    assert missing.returncode != 0
    assert "pip install 'holdall[postgres]'" in missing.stderr + missing.stdout, missing
    assert "Traceback" not in missing.stderr
    unproven = holdall_command("check", "memory://bare")
    assert unproven.returncode == 2, unproven
    assert "pip install 'holdall[conformance]'" in unproven.stderr
    assert not unproven.stdout
    print("bare: ok")


main()
