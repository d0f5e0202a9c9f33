"""Disks that are full, files that are damaged, folders that are not there: clear errors, and what was written stays."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import holdall
from holdall import ConfigError, Corrupt, HoldallError
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from tests.processes.disks import small_disk
from tests.processes.work import fill, integrity


def opened_and_read(url: str, asynchronous: bool) -> object:
    """Open a store, read a record and a log, and return the record's value."""

    async def use() -> object:
        async with holdall.open_async_store(url) as store:
            record = await store.get("s", "k")
            await store.read("s", "log")
            return None if record is None else record.value

    if asynchronous:
        return asyncio.run(use())
    with holdall.open_store(url) as store:
        record = store.get("s", "k")
        store.read("s", "log")
        return None if record is None else record.value


both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A database of many pages, closed."""
    path = tmp_path / "x.db"
    with holdall.open_store(f"sqlite:///{path}") as store:
        store.put("s", "k", "old")
        store.put_many("s", {f"k{number:03}": "x" * 3_000 for number in range(200)})
        store.append("s", "log", ["y" * 3_000] * 100)
    return path


@pytest.mark.parametrize("kind", ["put", "append"])
def test_file_that_may_not_grow(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    with Children(Harness(f"sqlite:///{path}")) as children:
        child = children.start("tests.processes.work:outgrow_limit", kind, 300_000)
        error, acknowledged, value = child.hear()
        child.finish()
    assert error in {"Unavailable", "OutcomeUnknown"}
    assert value == "value"
    assert_written(path, kind, acknowledged)


def assert_written(path: Path, kind: str, acknowledged: int) -> None:
    integrity(path)
    with holdall.open_store(f"sqlite:///{path}") as store:
        if kind == "put":
            found = [record.key for record in store.iter_records("s", "k") if record.value == "x" * 20_000]
            assert found == [f"k{number:05}" for number in range(len(found))]
            assert len(found) in {acknowledged, acknowledged + 1}
        else:
            values = [entry.value for entry in store.read("s", "log")]
            assert values == ["x" * 10_000, "y" * 10_000] * (len(values) // 2)
            assert len(values) // 2 in {acknowledged, acknowledged + 1}


@pytest.mark.parametrize("kind", ["put", "append"])
def test_full_disk(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.db"
    with small_disk(tmp_path, "2m"):
        with holdall.open_store(f"sqlite:///{path}") as store:
            store.put("s", "fixed", "value")
            error, acknowledged = fill(store, kind)
            assert error in {"Unavailable", "OutcomeUnknown"}
            record = store.get("s", "fixed")
            assert record is not None
            assert record.value == "value"
        assert_written(path, kind, acknowledged)


@both_ways
def test_missing_folder(tmp_path: Path, asynchronous: bool) -> None:
    with pytest.raises(ConfigError, match="folder"):
        opened_and_read(f"sqlite:///{tmp_path / 'missing' / 'x.db'}", asynchronous)
    assert list(tmp_path.iterdir()) == []


@both_ways
def test_folder_instead_of_file(tmp_path: Path, asynchronous: bool) -> None:
    (tmp_path / "x.db").mkdir()
    with pytest.raises(ConfigError):
        opened_and_read(f"sqlite:///{tmp_path / 'x.db'}", asynchronous)
    assert list((tmp_path / "x.db").iterdir()) == []


@both_ways
def test_file_instead_of_folder(tmp_path: Path, asynchronous: bool) -> None:
    (tmp_path / "file").write_text("text")
    with pytest.raises(ConfigError):
        opened_and_read(f"sqlite:///{tmp_path / 'file' / 'x.db'}", asynchronous)


@both_ways
@pytest.mark.parametrize(
    "content", [b"not a database\n" * 1_000, b"x" * 20, b"\0" * 8_192, b"SQLite format 3\0" + b"\xff" * 4_096]
)
def test_file_that_is_no_database(tmp_path: Path, content: bytes, asynchronous: bool) -> None:
    path = tmp_path / "x.db"
    path.write_bytes(content)
    with pytest.raises(Corrupt):
        opened_and_read(f"sqlite:///{path}", asynchronous)
    assert path.read_bytes() == content


def test_database_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (value)")
    connection.execute("INSERT INTO theirs VALUES ('mine')")
    connection.commit()
    with holdall.open_store(f"sqlite:///{path}") as store:
        store.put("s", "k", "old")
    assert connection.execute("SELECT value FROM theirs").fetchall() == [("mine",)]
    connection.close()


def test_empty_file_that_must_be_a_store(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    path.touch()
    with pytest.raises(ConfigError):
        opened_and_read(f"sqlite:///{path}?create=false", asynchronous=False)


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def zeroed_middle(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 4 // 4096 * 4096)
        file.write(b"\0" * (size // 2))


def zeroed_but_first_page(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\0" * (size - 4096))


def zeroed(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


@both_ways
@pytest.mark.parametrize("damage", [truncated, zeroed_middle, zeroed_but_first_page, zeroed])
def test_damaged_file(written: Path, damage: Callable[[Path], None], asynchronous: bool) -> None:
    """Everything that is read is what was written, or an error says that the file is damaged."""
    damage(written)
    with Harness(f"sqlite:///{written}", asynchronous=asynchronous) as harness:
        errors = []
        for number in range(200):
            try:
                record = harness.store.get("s", f"k{number:03}")
                assert record is not None, "a record that was acknowledged is silently gone"
                assert record.value == "x" * 3_000
            except HoldallError as error:
                errors.append(error)
        assert errors
        assert {type(error) for error in errors} == {Corrupt}


@both_ways
def test_payload_overwritten_with_zeros(written: Path, asynchronous: bool) -> None:
    """What SQLite cannot notice, since no page is damaged: the text of a value."""
    content = written.read_bytes()
    at = content.index(b"x" * 2_000)
    with written.open("r+b") as file:
        file.seek(at)
        file.write(b"\0" * 100)
    with Harness(f"sqlite:///{written}", asynchronous=asynchronous) as harness:
        found = []
        for number in range(200):
            try:
                record = harness.store.get("s", f"k{number:03}")
                assert record is not None
                assert record.value == "x" * 3_000
            except Corrupt:
                found.append(number)
        assert len(found) == 1


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that nobody may enter and read, but not write; pytest's own folders are closed to nobody."""
    folder = Path(tempfile.mkdtemp(prefix="holdall-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@pytest.mark.parametrize("operation", ["put", "get"])
def test_folder_that_may_not_be_written(public_folder: Path, operation: str) -> None:
    path = public_folder / "x.db"
    with holdall.open_store(f"sqlite:///{path}") as store:
        store.put("s", "k", "old")
    path.chmod(0o444)
    public_folder.chmod(0o555)
    with Children(Harness(f"sqlite:///{path}")) as children:
        child = children.start("tests.processes.work:use_as_nobody", operation)
        outcome, message = child.hear()
        child.finish()
    assert (outcome, message) == ("read", "old") or (outcome == "ConfigError" and "written" in message)
    with holdall.open_store(f"sqlite:///{path}") as store:
        record = store.get("s", "k")
        assert record is not None
        assert record.value == "old"


def test_new_file_in_folder_that_may_not_be_written(public_folder: Path) -> None:
    public_folder.chmod(0o555)
    with Children(Harness(f"sqlite:///{public_folder / 'new.db'}")) as children:
        child = children.start("tests.processes.work:use_as_nobody", "put")
        outcome, _ = child.hear()
        child.finish()
    assert outcome == "ConfigError"
    assert list(public_folder.iterdir()) == []
