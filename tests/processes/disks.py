"""Small file systems for tests of full disks."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def small_disk(place: Path, size: str) -> Iterator[None]:
    """Mount a small file system over a folder; skip the test where that is not to be had.

    Args:
        place: the folder.
        size: how large, such as "2m".

    """
    command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place)]
    if os.getuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a file system can only be mounted by root")
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("this machine does not allow to mount")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)  # whoever failed may still be in it
