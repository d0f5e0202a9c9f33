"""The hooks of the documentation site: the reference is complete, and links that leave docs lead to a page."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path

import pytest

import holdall

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("docs_site", ROOT / "tools" / "docs_site.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_stands_in_the_reference_once(site):
    parts = [part for _, _, parts in site.API.values() for part in parts]
    modules = [importlib.import_module(part) for part in parts if part.startswith("holdall.")]
    names = [part for part in parts if not part.startswith("holdall.")]
    names += [
        name for module in modules for name in getattr(module, "__all__", []) if module.__name__.endswith("errors")
    ]
    assert sorted(names) == holdall.__all__
    assert {"holdall.spi", "holdall.hookspecs", "holdall.plugins"} <= set(parts)


@pytest.mark.parametrize(
    "link,place,page,expected",
    [
        ("../CHANGELOG.md", "docs/index.md", "index.md", "changelog.md"),
        ("../../examples/custom_adapter", "docs/guide/a.md", "guide/a.md", "../examples/custom_adapter.md"),
        ("../../README.md#use", "examples/custom_adapter/README.md", "examples/custom_adapter.md", "../index.md#use"),
        ("docs/guide/start.md", "CONTRIBUTING.md", "contributing.md", "guide/start.md"),
        ("logs.md#follow", "docs/guide/a.md", "guide/a.md", "logs.md#follow"),
        ("https://example.org/x", "docs/guide/a.md", "guide/a.md", "https://example.org/x"),
    ],
)
def test_links_lead_to_pages(site, link, place, page, expected):
    assert site.relinked(f"see [it]({link}).", place, page) == f"see [it]({expected})."


def test_code_is_left_alone(site):
    code = "```python\nx = [f](../CHANGELOG.md)\n```\n"
    assert site.relinked(code, "docs/index.md", "index.md") == code


def test_what_stands_for_files_outside_exists(site):
    for place in site.STANDS_FOR:
        assert (ROOT / place).exists(), place
