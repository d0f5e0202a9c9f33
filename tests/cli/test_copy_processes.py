"""`copy` and `export | import` as processes: killed, two at once, interrupted, on a terminal, in bounded memory."""

import contextlib
import json
import os
import pty
import random
import signal
import subprocess
import sys
import time

import pytest

import holdall
from tests.cli.everything import fill

A, B = "sqlite:///a.db", "sqlite:///b.db?durability=relaxed"


def fill_much(url, mark):
    """Enough to copy for about a second."""
    with holdall.open_store(url) as store:
        for scope in ("one", "two"):
            store.put_many(scope, {f"k{number:05}": {"n": number, "mark": mark} for number in range(4000)})
            for log in range(3):
                for start in range(0, 3000, 500):
                    store.append(
                        scope, f"log{log}", [{"n": number, "mark": mark} for number in range(start, start + 500)]
                    )
        for log in range(100):
            store.append("small", f"log{log:03}", [mark])


def wait_for_writes(process):
    """Return once the destination has something."""
    while process.poll() is None:
        try:
            with holdall.open_store(f"{B}&create=false") as store:
                if store.scopes(limit=1).items:
                    return
        except holdall.HoldallError:
            pass


@pytest.mark.parametrize("policy", ["error", "overwrite"])
def test_killed_at_any_moment_it_goes_on(start, run, contents, own_folder, policy):
    chance = random.Random(policy)
    fill_much(A, "a")
    killed = 0
    for _ in range(12):
        for path in own_folder.glob("b.db*"):
            path.unlink()
        if policy == "overwrite":
            fill_much(B, "b")
        for _ in range(2):
            process = start("copy", A, B, "--on-conflict", policy, "--no-verify")
            wait_for_writes(process)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chance.uniform(0, 0.5))
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
    result = run("copy", A, B, "--on-conflict", policy, "--json")
    assert result.returncode == 0, result.stderr
    assert killed >= 12
    assert json.loads(result.stdout)["verification"]["equal"] is True
    assert contents(B) == contents(A)


def test_a_killed_pipe_goes_on(start, run, contents):
    chance = random.Random(7)
    fill_much(A, "a")
    for _ in range(6):
        with start("export", A) as source, start("import", B, stdin=source.stdout) as target:
            source.stdout.close()
            wait_for_writes(target)
            time.sleep(chance.uniform(0, 0.4))
            chance.choice([source, target]).kill()
            target.communicate()
    with start("export", A) as source, start("import", B, stdin=source.stdout) as target:
        source.stdout.close()
        assert target.wait(60) == 0
    assert contents(B) == contents(A)


def test_two_at_once_corrupt_nothing(start, run, contents):
    fill_much(A, "a")
    processes = [start("copy", A, B) for _ in range(3)]
    for process in processes:
        _, complaint = process.communicate(timeout=120)
        assert process.returncode == 0 or "somebody else is writing this log" in complaint, complaint
    assert run("copy", A, B).returncode == 0
    assert contents(B) == contents(A)


def test_ctrl_c_says_that_it_can_be_resumed(start):
    fill_much(A, "a")
    process = start("copy", A, B)
    wait_for_writes(process)
    process.send_signal(signal.SIGINT)
    output, complaint = process.communicate(timeout=30)
    assert (process.returncode, output) == (130, "")
    assert "run the same command again" in complaint
    assert complaint.count("\n") == 1


def test_progress_on_a_terminal_only(run):
    fill_much(A, "a")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "holdall.cli", "copy", A, B]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
        process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert b"records" in shown
    assert b"/s)" in shown
    assert shown.endswith(b"\r\x1b[K")
    assert run("copy", A, B).stderr == ""


def _read(terminal):
    try:
        return os.read(terminal, 65536)
    except OSError:  # the other side is closed
        return b""


# Not ru_maxrss: that is never below what the process was before it became this program, which is pytest.
MEASURED = """
import re, sys
from pathlib import Path
from holdall.cli import main
try:
    main(sys.argv[1:], prog_name="holdall")
finally:
    print(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1], file=sys.stderr)
"""


def peak_megabytes(*arguments):
    command = [sys.executable, "-c", MEASURED, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return int(result.stderr.split()[-1]) / 1024


def test_memory_is_bounded():
    """60,000 entries of 4 kB, small records, and 40 values of 4 MB scattered among them: 400 MB in all."""
    with holdall.open_store("sqlite:///a.db?durability=relaxed") as store:
        for start in range(0, 60_000, 1000):
            store.append("s", "log", [f"{number:04000}" for number in range(start, start + 1000)])
            store.put_many("s", {f"k{number:05}": number for number in range(start, start + 1000)})
        for number in range(20):
            store.put("s", f"k{number * 2900:05}", "é" * 2_000_000)
            store.append("s", "large", ["y" * 4_000_000])
    commands = [("copy", A, B), ("export", A, "a.jsonl")]
    commands.append(("import", "sqlite:///c.db?durability=relaxed", "a.jsonl"))
    peaks = {" ".join(command): peak_megabytes(*command) for command in commands}
    assert max(peaks.values()) < 120, peaks


def test_memory_is_bounded_between_files_and_a_database(own_folder):
    """20 values and 20 entries of 4 MB."""
    with holdall.open_store("sqlite:///a.db?durability=relaxed") as store:
        for number in range(20):
            store.put("s", f"k{number}", "é" * 2_000_000)
            store.append("s", "large", ["y" * 4_000_000])
    files = f"file://{own_folder}/files?durability=relaxed"
    peaks = [peak_megabytes("copy", A, files), peak_megabytes("copy", files, B)]
    assert max(peaks) < 120, peaks


def test_everything_through_a_pipe(start, contents):
    fill(A)
    with start("export", A) as source, start("import", B, "--json", stdin=source.stdout) as target:
        source.stdout.close()
        output, complaint = target.communicate(timeout=60)
    assert (source.returncode, target.returncode, complaint) == (0, 0, "")
    assert json.loads(output)["ok"] is True
    assert contents(B) == contents(A)


def test_a_broken_pipe_is_quiet(start):
    fill_much(A, "a")
    for command in (("export", A), ("log", A, "one", "log0"), ("ls", A, "one")):
        with start(*command) as process:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == ""
        assert process.returncode == 141
