"""Plugins that are broken, each in its own way, all installed at once: named with the reason, and in nobody's way."""

from __future__ import annotations

import json
import re

import pytest

OPEN = """
    import sys, holdall, warnings
    warnings.simplefilter("ignore")

    def works(url):
        with holdall.open_store(url) as store, holdall.open_lock(store) as lock, lock.hold("k"):
            store.put("s", "k", 1)

    works("memory://before")
    for _ in range(2):
        try:
            holdall.open_store(sys.argv[1] + "://x")
        except holdall.AdapterBroken as error:
            told = str(error)
        for url in ("memory://after", "sqlite:///x.db", "lmdb:///x", "beside://x"):
            works(url)
    print(told)
"""

# Scheme: the distribution, and the reason.
REASONS = {
    "raises": ("bad-raises", "cannot be imported: .*out of order"),
    "syntax": ("bad-syntax", "cannot be imported: SyntaxError"),
    "imports": ("bad-imports", "cannot be imported: .*nowhere_to_be_found"),
    "older": ("bad-older", "cannot be imported: .*NameOfALaterRelease"),
    "exits": ("bad-exits", r"cannot be imported: SystemExit\(7\)"),
    "hookless": ("bad-hookless", "has no hook named holdall_adapter"),
    "nonsense": ("bad-nonsense", "returned str from its holdall_adapter hook"),
    "nothing": ("bad-nothing", "has no hook|returned"),
    "hook-raises": ("bad-hook-raises", "the hook holdall_adapter of .* failed: .*out of order"),
    "hook-exits": ("bad-hook-exits", r"the hook holdall_adapter of .* failed: SystemExit\(7\)"),
    "arguments": ("bad-arguments", "a hook that does not fit: .*url"),
    "described": ("bad-described", "io must be"),
    "future": ("from-the-future", "version 99 of holdall.spi, this holdall has version 1: install a newer holdall"),
    "past": ("from-the-past", "version 0 of holdall.spi, this holdall has version 1: install a newer release of the"),
    "twin": ("twin-one", r"several distributions claim twin://: twin-one .*, twin-two .*Uninstall all but one"),
}

pytestmark = pytest.mark.usefixtures("crowd")


@pytest.mark.parametrize("scheme", REASONS)
def test_it_is_named_with_the_reason_and_disturbs_nobody(python, scheme):
    distribution, reason = REASONS[scheme]
    told = python(OPEN, scheme)
    assert distribution in told
    assert re.search(reason, told), told


def test_the_list_names_each_with_the_reason_and_shows_the_others(command):
    done = command("adapters", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["adapters"]
    errors = {entry["distribution"].split()[0]: entry["error"] for entry in found}
    for distribution, reason in REASONS.values():
        assert re.search(reason, errors[distribution]), distribution
    assert errors["twin-one"] == errors["twin-two"]
    assert errors["holdall-lmdb"] is None
    assert errors["good-beside"] is None
    table = command("adapters")
    assert table.returncode == 0, table.stderr
    broken = [entry for entry in found if entry["error"]]
    assert table.stdout.count("broken: ") == len(broken) == len(REASONS) + 1


def test_listing_imports_none_of_them(python):
    code = """
        import sys
        from holdall.plugins import installed_adapters
        assert {"raises", "exits", "twin"} <= {adapter.scheme for adapter in installed_adapters()}
        print([name for name in sys.modules if name.startswith("crowd_")])
    """
    assert python(code) == "[]"


def test_a_general_plugin_that_is_broken_is_named_in_a_warning(python, command):
    code = """
        import warnings, holdall
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            holdall.open_store("lmdb:///x").put("s", "k", 1)
        print([str(each.message) for each in caught])
    """
    told = python(code)
    assert "'general' (crowd_bad_general)" in told
    assert "out of order" in told
    done = command("doctor", "lmdb:///state")
    assert done.returncode == 0
    assert "general" in done.stderr
