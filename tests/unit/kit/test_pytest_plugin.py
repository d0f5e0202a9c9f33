"""The plugin of pytest, as strangers use it: in runs of their own."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

CLASSES = """
    import holdall
    from holdall import Unsupported
    from holdall_conformance import LockConformance, StoreConformance

    class TestStore(StoreConformance):
        groups = ("versions", "leases")
        level = "base"
        def open(self, tmp_path):
            return holdall.open_store(f"sqlite:///{tmp_path / 'x.db'}")

    class TestLock(LockConformance):
        groups = ("flags", "records")
        def open(self, tmp_path):
            return holdall.open_async_lock(f"sqlite:///{tmp_path / 'x.db'}")

    class TestProcesses(StoreConformance):
        groups = ("capabilities",)
        def open(self, tmp_path):
            return f"sqlite:///{tmp_path / 'x.db'}"
"""
BROKEN = """
    import holdall
    from holdall_conformance import StoreConformance

    class TestBroken(StoreConformance):
        groups = ("versions",)
        sides = ("sync",)
        def open(self, tmp_path):
            store = holdall.open_store(f"sqlite:///{tmp_path / 'x.db'}")
            real = store.put
            store.put = lambda *a, **n: (real(*a, **n), "constant")[1]
            return store
"""


@pytest.fixture
def run(tmp_path):
    """Run pytest in a folder of its own."""

    def run(*arguments, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "pytest", "-p", "no:cacheprovider", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )

    return run


def test_classes_run_their_groups_and_skip_what_is_absent(run):
    done = run("-q", "-rs", test_mine=CLASSES)
    assert done.returncode == 0, done.stdout
    assert "--holdall-seed=" in done.stdout
    assert "no lock was given" in done.stdout
    assert "no store was given" in done.stdout or "no asynchronous store" in done.stdout
    assert "failed" not in done.stdout


def test_a_failure_shows_the_assertion_the_seed_and_a_hint(run):
    done = run("-q", "--holdall-seed=5", test_broken=BROKEN)
    assert done.returncode == 1
    assert "seed of the clause: 5/sync/versions." in done.stdout
    assert "hint: a version is the random id" in done.stdout
    assert "constant" in done.stdout  # assertions are rewritten: the values are shown


def test_a_target_of_the_command_line(run):
    done = run("-q", "--pyargs", "holdall_conformance", "--holdall-url=memory://kit", "-k", "versions or keys.any")
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


def test_without_a_target_it_says_what_is_missing(run):
    done = run("-q", "--pyargs", "holdall_conformance")
    assert done.returncode != 0
    assert "--holdall-url=URL" in done.stdout + done.stderr


def test_a_level_and_an_effort_can_be_set(run):
    base = run("--collect-only", "-q", "--holdall-level=base", test_mine=CLASSES).stdout
    full = run("--collect-only", "-q", "--holdall-level=full", test_mine=CLASSES).stdout
    assert "capabilities.persistent-means-it" not in base
    assert "capabilities.persistent-means-it" in full


def test_a_class_that_does_not_say_how_to_open_is_told(run):
    done = run(
        "-q",
        "-x",
        test_mine="""
        from holdall_conformance import StoreConformance

        class TestNothing(StoreConformance):
            groups = ("versions",)
        """,
    )
    assert done.returncode == 1
    assert "must say how to open the backend" in done.stdout


def test_nothing_is_imported_and_nothing_printed_for_others(run):
    done = run(
        "-q",
        test_other="""
        import sys

        def test_it():
            assert not [name for name in sys.modules if name == "holdall" or name.startswith("hypothesis.strategies")]
            assert "holdall_conformance.conforming" not in sys.modules
        """,
    )
    assert done.returncode == 0, done.stdout
    assert "holdall" not in done.stdout
