"""What happens to a folder behind the back of its store: clear errors, nothing of others touched, the rest readable."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gc
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import holdall
from holdall import ConfigError, Corrupt, HoldallError, OutcomeUnknown, Unavailable
from holdall_adapters.file import files, filesystems, folders
from holdall_adapters.file.disk import Disk
from holdall_conformance.children import Children
from holdall_conformance.harness import Harness
from tests.processes.disks import small_disk
from tests.processes.work import fill, url_in

TREES = ["flags", "guard", "leases", "logs", "records", "tmp"]
both_ways = pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])


def opened(url: str, asynchronous: bool) -> None:
    """Open a store and read from it."""

    async def use() -> None:
        async with holdall.open_async_store(url) as store:
            await store.get("s", "k")

    if asynchronous:
        asyncio.run(use())
    else:
        with holdall.open_store(url) as store:
            store.get("s", "k")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A store with a few records and logs, closed."""
    path = tmp_path / "store"
    with holdall.open_store(f"file://{path}") as store, holdall.open_lock(store) as lock:
        for number in range(5):
            store.put("s", f"k{number}", f"value-{number}", ttl=600 if number % 2 else None)
            store.append("s", f"log{number}", [f"entry-{number}"], batch_id="b")
        store.put("s", "fenced", 1, fence=7)
        lock.acquire("lease", ttl=60, timeout=0)
        lock.set_flag("flag")
    return path


def assert_written(path: Path, kind: str, acknowledged: int) -> None:
    with holdall.open_store(f"file://{path}") as store:
        if kind == "put":
            found = [record.key for record in store.iter_records("s", "k") if record.value == "x" * 20_000]
            assert found == [f"k{number:05}" for number in range(acknowledged)]
        else:
            values = [entry.value for entry in store.read("s", "log")]
            assert values == ["x" * 10_000, "y" * 10_000] * acknowledged
        store.sweep()
    assert list((path / "tmp").iterdir()) == []


@pytest.mark.parametrize("kind", ["put", "append"])
def test_full_disk(tmp_path: Path, kind: str) -> None:
    with small_disk(tmp_path, "2m"):
        path = tmp_path / "store"
        with holdall.open_store(f"file://{path}") as store:
            store.put("s", "fixed", "value")
            error, acknowledged = fill(store, kind)
            assert (error, acknowledged > 0) == ("Unavailable", True)
            assert store.get("s", "fixed").value == "value"  # type: ignore[union-attr]
            assert store.delete("s", "fixed")
        assert_written(path, kind, acknowledged)


@pytest.mark.parametrize("kind", ["put", "append"])
def test_file_that_may_not_grow(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "store"
    with Children(Harness(f"file://{path}")) as children:
        child = children.start("tests.processes.work:outgrow_limit", kind, 10_000 if kind == "put" else 300_000)
        error, acknowledged, value = child.hear()
        child.finish()
    assert (error, value) == ("Unavailable", "value")
    assert_written(path, kind, acknowledged)


@pytest.mark.parametrize("operation", ["put", "append", "put_many", "touch", "delete", "acquire", "truncate", "seal"])
def test_a_disk_that_fails_leaves_the_outcome_open_or_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    """Each time that something waits for the disk, in turn: an error, and the old or the new state, both whole."""
    writes: dict[str, Callable[[Any, Any], Any]] = {
        "put": lambda store, lock: store.put("s", "k0", "new"),
        "append": lambda store, lock: store.append("s", "log0", ["new"]),
        "put_many": lambda store, lock: store.put_many("s", {"k0": "new", "k1": "new", "k9": "new"}),
        "touch": lambda store, lock: store.touch("s", "k0", 60),
        "delete": lambda store, lock: store.delete("s", "k0"),
        "acquire": lambda store, lock: lock.try_acquire("another"),
        "truncate": lambda store, lock: store.truncate("s", "log0", 1),
        "seal": lambda store, lock: store.seal("s", "log1", 9, log=True),
    }
    failed, fails_at = 0, 0
    while True:
        calls = iter(range(1_000))

        def failing(descriptor: int, calls: Iterator[int] = calls, at: int = fails_at) -> None:
            if next(calls) == at:
                raise OSError(errno.EIO, "input/output error")

        with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
            with monkeypatch.context() as patch:
                for module in (files, folders):
                    patch.setattr(module, "sync", failing)
                patch.setattr(files, "sync_data", failing)
                patch.setattr("holdall_adapters.file.disk.sync", failing)
                try:
                    writes[operation](store, lock)
                except (OutcomeUnknown, Unavailable):
                    failed += 1
                else:
                    break
            assert store.get("s", "k0") is None or store.get("s", "k0").value in {"value-0", "new"}  # type: ignore[union-attr]
            assert [entry.value for entry in store.read("s", "log0")] == ["entry-0"]
            assert store.append("s", "log1", ["more"], fence=9).count == 1
        fails_at += 1
    assert failed == fails_at >= 1


def damaged_files(folder: Path) -> list[Path]:
    return sorted(path for tree in ("records", "logs") for path in (folder / tree).rglob("*") if path.is_file())


def uses_of(store: Any, path: Path) -> list[Callable[[], Any]]:
    """Return what reads or writes the record or log of a file."""
    name = path.name
    if path.parent.parent.name == "logs":
        return [lambda: store.read("s", name), lambda: store.append("s", name, [1]), lambda: store.head("s", name)]
    return [lambda: store.get("s", name), lambda: store.put("s", name, 1), lambda: store.scan("s")]


@pytest.mark.parametrize("damage", ["emptied", "cut", "zeroed", "half zeroed", "flipped"])
@both_ways
def test_a_damaged_file_is_corrupt_and_the_others_are_readable(folder: Path, damage: str, asynchronous: bool) -> None:
    for path in damaged_files(folder):
        content = path.read_bytes()
        half = len(content) // 2
        path.write_bytes(
            {
                "emptied": b"",
                "cut": content[: half // 2],
                "zeroed": b"\0" * len(content),
                "half zeroed": b"\0" * half + content[half:],
                "flipped": content[: half // 2] + bytes([content[half // 2] ^ 1]) + content[half // 2 + 1 :],
            }[damage]
        )
        with Harness(f"file://{folder}", asynchronous=asynchronous) as harness:
            store = harness.store
            for use in uses_of(store, path):
                with pytest.raises(Corrupt) as caught:
                    use()
                assert (caught.value.scope, caught.value.key) == ("s", path.name)
            assert store.keys("s").items == ["fenced", *(f"k{number}" for number in range(5))]
            assert store.logs("s").items == [f"log{number}" for number in range(5)]
            assert store.scopes().items == store.log_scopes().items == ["s"]
            others = [other for other in damaged_files(folder) if other != path]
            for other in others:
                if other.parent.parent.name == "logs":
                    assert len(store.read("s", other.name)) == 1
                else:
                    assert store.get("s", other.name) is not None
        path.write_bytes(content)


@pytest.mark.parametrize("damage", [b"", b"\0" * 90, b"garbage\n", b'{"lease":"lease","token":0}\n'])
def test_a_damaged_lease_is_never_free(folder: Path, damage: bytes) -> None:
    (folder / "leases" / "lease").write_bytes(damage)
    with holdall.open_lock(f"file://{folder}") as lock:
        for use in (lambda: lock.try_acquire("lease"), lambda: lock.held("lease"), lambda: lock.holder("lease")):
            with pytest.raises(Corrupt):
                use()
        assert lock.try_acquire("another") is not None


def test_a_file_that_was_deleted_is_absent_and_may_be_made_again(folder: Path) -> None:
    with holdall.open_store(f"file://{folder}") as store:
        store.read("s", "log0")
        shutil.rmtree(folder / "records" / "s")
        (folder / "logs" / "s" / "log0").unlink()
        assert store.get("s", "k0") is None
        assert store.scopes().items == []
        store.put("s", "k0", "again")
        assert store.append("s", "log0", ["again"]).start == 0
        assert store.get("s", "k0").value == "again"  # type: ignore[union-attr]
    with holdall.open_store(f"file://{folder}") as store:
        assert store.keys("s").items == ["k0"]


@pytest.mark.parametrize("tree", TREES)
def test_a_folder_of_the_store_that_is_gone_is_corrupt(folder: Path, tree: str) -> None:
    with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
        store.put("s", "k0", 1)
        shutil.rmtree(folder / tree)
        uses: list[Callable[[], Any]] = [
            lambda: store.put("s", "new", 1),
            lambda: store.append("s", "new", [1], batch_id="b"),
            lambda: store.append("s", "new", [2], batch_id="c"),
            lambda: lock.set_flag("new"),
            lambda: lock.try_acquire("new"),
            lambda: store.get("s", "k0"),
        ]
        errors = []
        for use in uses:
            try:
                use()
            except HoldallError as error:
                errors.append(error)
        assert errors
        assert all(isinstance(error, Corrupt) for error in errors), errors


def test_the_folder_of_indexes_may_be_lost(folder: Path) -> None:
    with holdall.open_store(f"file://{folder}") as store:
        for _ in range(2):
            shutil.rmtree(folder / "index")
            assert store.append("s", "log0", ["entry-0"], batch_id="b").start == 0
            shutil.rmtree(folder / "index")
            assert store.drop("s", "log1") in {True, False}
            store.sweep()


@pytest.mark.parametrize("moved", ["records/s", "logs/s"])
def test_a_scope_that_was_moved_away_is_absent_and_takes_no_writes(folder: Path, tmp_path: Path, moved: str) -> None:
    with holdall.open_store(f"file://{folder}") as store, holdall.open_store(f"file://{folder}") as other:
        assert store.get("s", "k0") is not None
        assert len(store.read("s", "log0")) == 1
        (folder / moved).rename(tmp_path / "moved")
        before = {path: path.read_bytes() for path in (tmp_path / "moved").iterdir()}
        assert (store.get("s", "k0") is None) == (moved == "records/s")
        store.put("s", "k0", "new")
        store.append("s", "log0", ["new"])
        assert other.get("s", "k0").value == "new"  # type: ignore[union-attr]
        assert other.tail("s", "log0", 1)[0].value == "new"
        assert {path: path.read_bytes() for path in (tmp_path / "moved").iterdir()} == before


@pytest.mark.parametrize("tree", ["records", "logs", "leases", "flags"])
def test_a_file_that_was_copied_to_another_name_is_corrupt(folder: Path, tree: str) -> None:
    origin = {"records": "s/k0", "logs": "s/log0", "leases": "lease", "flags": "flag"}[tree]
    place = folder / tree / origin
    shutil.copy(place, place.parent / "copy")
    with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
        uses: dict[str, Callable[[], Any]] = {
            "records": lambda: store.get("s", "copy"),
            "logs": lambda: store.read("s", "copy"),
            "leases": lambda: lock.held("copy"),
            "flags": lambda: lock.flag("copy"),
        }
        with pytest.raises(Corrupt, match="something else"):
            uses[tree]()


def test_a_store_that_was_removed_or_replaced_is_corrupt_and_the_new_one_untouched(folder: Path) -> None:
    with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
        store.put("s", "k0", "old")
        folder.rename(folder.parent / "moved")
        with holdall.open_store(f"file://{folder}") as other:
            for use in (
                lambda: store.put("s", "k0", "new"),
                lambda: store.get("s", "k0"),
                lambda: store.append("s", "log0", [1]),
                lambda: store.keys("s"),
                lambda: lock.try_acquire("x"),
            ):
                with pytest.raises(Corrupt, match="removed or replaced"):
                    use()
            assert other.scopes().items == []
    with holdall.open_store(f"file://{folder.parent / 'moved'}") as store:
        assert store.get("s", "k0").value == "old"  # type: ignore[union-attr]


@pytest.mark.parametrize("place", ["records/s/k0", "records/s", "records", "logs/s/log0", "leases/lease", "flags/flag"])
def test_symbolic_links_lead_nowhere(folder: Path, tmp_path: Path, place: str) -> None:
    """A link in the place of a file or folder is neither read nor written through, nor removed."""
    outside, path = tmp_path / "outside", folder / place
    path.rename(outside)
    path.symlink_to(outside)
    before = {each: each.read_bytes() for each in [outside, *outside.rglob("*")] if each.is_file()}
    with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
        uses: list[Callable[[], Any]] = [
            lambda: store.get("s", "k0"),
            lambda: store.put("s", "k0", "new"),
            lambda: store.delete("s", "k0"),
            lambda: store.append("s", "log0", [1]),
            lambda: store.drop("s", "log0"),
            lambda: store.scan("s"),
            lambda: lock.try_acquire("lease"),
            lambda: lock.flag("flag"),
        ]
        errors = []
        for use in uses:
            try:
                use()
            except HoldallError as error:
                errors.append(error)
        assert errors
        assert all(isinstance(error, Corrupt) for error in errors), errors
    assert {each: each.read_bytes() for each in [outside, *outside.rglob("*")] if each.is_file()} == before
    assert path.is_symlink()


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_hangs_nobody(folder: Path, kind: str) -> None:
    for place in ("records/s/k0", "logs/s/log0", "leases/lease"):
        path = folder / place
        path.unlink()
        if kind == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()
    with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
        for use in (
            lambda: store.get("s", "k0"),
            lambda: store.put("s", "k0", 1),
            lambda: store.read("s", "log0"),
            lambda: store.append("s", "log0", [1]),
            lambda: lock.try_acquire("lease"),
        ):
            with pytest.raises(Corrupt):
                use()


def test_a_part_of_the_store_on_another_file_system_is_refused(folder: Path) -> None:
    shutil.rmtree(folder / "tmp")
    (folder / "tmp").mkdir(0o700)
    with small_disk(folder / "tmp", "1m"), holdall.open_store(f"file://{folder}") as store:
        with pytest.raises(ConfigError, match="another file system"):
            store.put("s", "k0", "new")
        assert store.get("s", "k0").value == "value-0"  # type: ignore[union-attr]
        assert store.append("s", "log0", ["new"]).start == 1


def test_the_temporary_folder_of_the_system_does_not_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "nowhere"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with holdall.open_store(f"file://{tmp_path}/store") as store:
        store.put("s", "k", 1)
        assert store.get("s", "k") is not None


@both_ways
@pytest.mark.parametrize(
    "url, said",
    [
        ("file://{}/missing/store", "create it first"),
        ("file://{}/file", "no folder"),
        ("file://{}/link", "symbolic link"),
        ("file://{}/public", "others may write"),
        ("file://{}/full", "empty folder"),
        ("file://{}/new?create=false", "create=false"),
        ("file://{}/empty?create=false", "create=false"),
        ("file://{}/../store", "'..'"),
        ("file://{}/%2e%2e/store", "'..'"),
        ("file://host{}", "names a host"),
        ("file:///", "no folder"),
        ("file://", "no folder"),
        ("file:////{}", "no folder"),
        ("file://{}/a%00b", "NUL"),
        ("file://{}/store?durability=none", "durability"),
    ],
)
def test_wrong_places_are_named_and_nothing_is_made(tmp_path: Path, url: str, said: str, asynchronous: bool) -> None:
    (tmp_path / "file").write_text("text")
    for name in ("public", "full", "empty", "real"):
        (tmp_path / name).mkdir()
    (tmp_path / "public").chmod(0o777)
    (tmp_path / "full" / "theirs.txt").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ConfigError, match=said):
        opened(url.format(tmp_path), asynchronous)
    assert sorted(tmp_path.rglob("*")) == before


MOUNTS = """22 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw
36 22 0:40 / {} rw,relatime shared:20 - {} server:/export rw
"""


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "fuse.sshfs", "9p", "ceph"])
def test_file_systems_that_hosts_share_are_refused_unless_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The system's table of mounts is one of ours: no such file system can be mounted here."""
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS.format(str(tmp_path / "sha red").replace(" ", r"\040"), kind))
    monkeypatch.setattr(filesystems, "_MOUNTS", mounts)
    (tmp_path / "sha red").mkdir()
    url = f"file://{tmp_path}/sha%20red/store"
    with pytest.raises(ConfigError, match=rf"{kind}.*force=true"):
        holdall.open_store(url)
    with holdall.open_store(f"{url}?force=true") as store:
        store.put("s", "k", 1)
        assert store.describe()["file_system"] == kind
    with holdall.open_store(f"file://{tmp_path}/local") as store:
        assert store.describe()["file_system"] == "ext4"


def test_only_the_owner_may_look_into_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with holdall.open_store(f"file://{tmp_path}/store") as store, holdall.open_lock(store) as lock:
            store.put("scope" * 40, "key" * 100, 1)
            store.append("s", "log", [1], batch_id="b")
            store.append("s", "log", [2], batch_id="c")
            lock.try_acquire("k")
            lock.set_flag("f")
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in [tmp_path / "store", *(tmp_path / "store").rglob("*")]}
    assert len(modes) > 20
    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())


@both_ways
def test_a_store_that_may_not_be_written_can_be_read_or_is_refused(folder: Path, asynchronous: bool) -> None:
    with Children(Harness(url_in("file", folder))) as children:
        child = children.start("tests.processes.work:use_as_nobody", "get")
        outcome, message = child.hear()
        child.finish()
    assert outcome == "ConfigError"
    assert "may not be used" in message or "Permission" in message


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("only Linux lists the descriptors of a process")
    gc.collect()  # others may have left some
    before = len(list(descriptors.iterdir()))
    for _ in range(3):
        with (
            holdall.open_store(f"file://{tmp_path}/store?durability=relaxed") as store,
            holdall.open_lock(store) as lock,
        ):
            for number in range(400):
                store.put(f"s{number}", "k", number, ttl=60)
                store.get(f"s{number}", "missing")
                store.append(f"s{number}", "log", [number], batch_id="b")
                with contextlib.suppress(HoldallError):
                    store.append(f"s{number}", "log", [number], expect=99)
                lease = lock.try_acquire(f"k{number}")
                if lease is not None:
                    lock.release(lease)
            store.put_many("s", {f"k{number}": number for number in range(500)})
            store.truncate("s0", "log", 1)
            store.sweep()
            assert len(list(descriptors.iterdir())) < before + 200
    assert len(list(descriptors.iterdir())) == before


def test_a_marker_of_a_newer_format_or_a_damaged_one(folder: Path) -> None:
    marker = folder / "holdall.json"
    content = marker.read_bytes()
    marker.write_bytes(content.replace(b'"format":1', b'"format":2'))
    with pytest.raises(Corrupt):
        holdall.open_store(f"file://{folder}")
    marker.unlink()
    with pytest.raises(Corrupt, match=r"holdall.json is gone"):
        holdall.open_store(f"file://{folder}")
    marker.write_bytes(content)
    with holdall.open_store(f"file://{folder}") as store:
        assert store.get("s", "k0") is not None


def test_a_file_in_the_place_of_a_scope_hides_no_other(folder: Path) -> None:
    for tree in ("records", "logs"):
        (folder / tree / "a").write_text("a file")
        (folder / tree / "t").symlink_to(folder)
    with holdall.open_store(f"file://{folder}") as store:
        assert store.scopes().items == store.log_scopes().items == ["a", "s", "t"]
        for scope in ("a", "t"):
            for use in (store.keys, store.logs, store.scan):
                with pytest.raises(Corrupt) as caught:
                    use(scope)
                assert caught.value.scope == scope


def test_what_is_done_is_not_called_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Giving room back and removing an index come after the truncate or drop: their trouble is not the caller's."""
    with holdall.open_store(f"file://{folder}") as store:
        for _ in range(100):
            store.append("s", "log", ["y" * 1_000], batch_id="b")
            store.append("s", "log", ["y" * 1_000])
        head, dropped = store.head("s", "log"), store.head("s", "log0")
        assert head is not None
        assert dropped is not None
        with monkeypatch.context() as patch:
            refuse = OSError(errno.ENOSPC, "full")
            patch.setattr(files.os, "pwrite", raising_for(files.os.pwrite, refuse, after=1))
            assert store.truncate("s", "log", head.length - 2, expect=head) == head.length - 2
        remove = Disk.remove

        def failing(disk: Disk, place: Any) -> Any:
            if place.way[0] == "index":
                raise Unavailable("made up")
            return remove(disk, place)

        with monkeypatch.context() as patch:
            patch.setattr(Disk, "remove", failing)
            assert store.drop("s", "log0", expect=dropped)
        assert store.head("s", "log") == (head.length - 2, head.length, head.incarnation)
        store.sweep()
        assert not (folder / "index" / "s" / "log0").exists()
        assert (folder / "logs" / "s" / "log").stat().st_size < 4_000


def raising_for(function: Callable[..., Any], error: OSError, after: int) -> Callable[..., Any]:
    calls = iter(range(1_000_000))

    def called(*arguments: Any) -> Any:
        if next(calls) >= after:
            raise error
        return function(*arguments)

    return called


def test_a_sweep_goes_on_behind_what_it_cannot_sweep(folder: Path) -> None:
    with holdall.open_store(f"file://{folder}") as store, holdall.open_lock(store) as lock:
        for number in range(40):
            store.put(f"s{number}", "k", "v", ttl=0.01)
            lock.set_flag(f"f{number}", ttl=0.01)
        (folder / "records" / "s20" / "k").write_bytes(b"\0" * 50)
        (folder / "flags" / "f20").write_bytes(b"\0" * 50)
        (folder / "records" / "stray").write_text("a file among the folders of scopes")
        (folder / "logs" / "s" / "log2").write_bytes(b"garbage\n")
        (folder / "tmp" / "left").write_text("by a crash")
        time.sleep(0.1)
        with pytest.raises(Corrupt):
            store.sweep()
        assert sorted(path.name for path in (folder / "records").iterdir()) == ["s", "s20", "stray"]
        assert [path.name for path in (folder / "flags").iterdir() if path.name != "flag"] == ["f20"]
        assert list((folder / "tmp").iterdir()) == []


def test_a_batch_that_a_failing_disk_took_back_is_no_damage(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader may see it before the disk fails; then it is gone, and the log goes on."""
    with holdall.open_store(f"file://{folder}") as writer, holdall.open_store(f"file://{folder}") as reader:
        seen: list[int] = []

        def failing(descriptor: int) -> None:
            seen.append(len(reader.read("s", "log0")))
            raise OSError(errno.EIO, "input/output error")

        assert len(reader.read("s", "log0")) == 1
        with monkeypatch.context() as patch:
            patch.setattr(files, "sync_data", failing)
            with pytest.raises(OutcomeUnknown):
                writer.append("s", "log0", ["lost"] * 5)
        assert seen == [6]
        for store in (reader, writer):
            assert len(store.read("s", "log0")) == 1
        assert reader.append("s", "log0", ["next"]).start == 1
        assert len(writer.read("s", "log0")) == 2


def test_no_descriptors_left_is_unavailable(tmp_path: Path) -> None:
    with Children(Harness(f"file://{tmp_path}/store")) as children:
        child = children.start("tests.processes.work:run_out_of_descriptors")
        errors, value = child.hear()
        child.finish()
    assert set(errors) == {"Unavailable"}
    assert len(errors) > 20
    assert value == "value"
