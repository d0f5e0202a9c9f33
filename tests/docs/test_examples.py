"""Every code block of README and docs runs: Python in a fresh folder, TOML and shell are at least well-formed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def blocks(page, language):
    return [code for found, code in BLOCK.findall(page.read_text(encoding="utf-8")) if found == language]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_python_blocks_run(page, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(blocks(page, "python"))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_other_blocks_are_well_formed(page):
    for code in blocks(page, "toml"):
        tomllib.loads(code)
    for code in blocks(page, "console"):
        for line in code.splitlines():
            if line.startswith("$ "):
                subprocess.run(["bash", "-n", "-c", line[2:]], check=True)
    languages = {found for found, _ in BLOCK.findall(page.read_text(encoding="utf-8"))}
    assert languages <= {"", "python", "toml", "console", "json", "sql", "terraform"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_readme_says_how_to_try_it():
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Try it")[1].split("\n## ")[0]
    assert len([line for line in section.splitlines() if line.startswith("$ ")]) == 2
