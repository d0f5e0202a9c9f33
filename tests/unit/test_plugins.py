"""Discovery with real metadata: distributions are laid out in a folder on the path."""

from __future__ import annotations

import sys
import textwrap
import threading
import warnings

import pytest

import holdall
from holdall import AdapterBroken, AdapterNotFound, DriverMissing, StoreConfig, hookimpl, plugins
from holdall.plugins import installed_adapters, load_adapter

GOOD = """
    from dataclasses import replace
    from holdall import hookimpl
    from holdall.spi import Adapter
    from holdall_adapters.memory import CAPABILITIES, OPTIONS, connect

    @hookimpl
    def holdall_adapter():
        return Adapter(name="{name}", schemes=("{name}",), summary="-", capabilities=CAPABILITIES, options=OPTIONS,
                       io="none", connect=connect{more})
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Lay out a distribution with a plugin; everything is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(plugins.manager.get_plugins())

    def lay_out(name, module, source, *, scheme=None, group=plugins.ADAPTERS, requires=""):
        (tmp_path / f"{module}.py").write_text(textwrap.dedent(source), encoding="utf-8")
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[{group}]\n{scheme or name} = {module}\n", encoding="utf-8")

    yield lay_out
    for plugin in set(plugins.manager.get_plugins()) - before:
        plugins.manager.unregister(plugin)
    plugins._adapters.clear()
    for name in [name for name in sys.modules if name.startswith("plugged_")]:
        del sys.modules[name]


def test_an_outsider_is_found_listed_and_opened(install):
    install("outsider", "plugged_outsider", GOOD.format(name="outsider", more=""))
    listed = {entry.scheme: entry for entry in installed_adapters()}
    assert listed["outsider"].distribution == "outsider 1.0"
    assert "plugged_outsider" not in sys.modules
    with holdall.open_store("outsider://x") as store:
        store.put("s", "k", 1)
        assert store.adapter == "outsider"


@pytest.mark.parametrize(
    "source", ["import nowhere_to_be_found", "raise RuntimeError('no')", "import sys; sys.exit(3)", "syntax error here"]
)
def test_a_broken_one_is_named_and_disturbs_nobody(install, source):
    install("wreck", "plugged_wreck", source)
    assert "wreck" in {entry.scheme for entry in installed_adapters()}
    with pytest.raises(AdapterBroken, match="wreck") as caught:
        holdall.open_store("wreck://x")
    assert caught.value.__cause__ is not None
    with holdall.open_store("memory://beside") as store:
        store.put("s", "k", 1)


@pytest.mark.parametrize(
    "source,hint",
    [
        ("x = 1", "no hook named holdall_adapter"),
        (GOOD.format(name="odd", more=", spi_version=99"), "version 99"),
        ("from holdall import hookimpl\n@hookimpl\ndef holdall_adapter():\n    return 'adapter'", "returned str"),
        (GOOD.replace('io="none"', 'io="block"').format(name="odd", more=""), "io must be"),
        (GOOD.replace('("{name}",)', '"{name}"').format(name="odd", more=""), "schemes must be"),
        (GOOD.replace('io="none"', "io=[]").format(name="odd", more=""), "io must be"),
        (GOOD.replace('summary="-", ', "").format(name="odd", more=""), "hook holdall_adapter of .* failed"),
        ("import sys\nfrom holdall import hookimpl\n@hookimpl\ndef holdall_adapter():\n    sys.exit(3)", "SystemExit"),
        ("from holdall import hookimpl\n@hookimpl\ndef holdall_adapter(url):\n    return 1", "does not fit.*url"),
    ],
)
def test_one_that_does_not_fit_says_why_and_who(install, source, hint):
    install("odd", "plugged_odd", source)
    for _ in range(2):
        with pytest.raises(AdapterBroken, match=hint) as caught:
            holdall.open_store("odd://x")
        assert "odd (plugged_odd)" in str(caught.value)
    assert not plugins.manager.is_registered(sys.modules["plugged_odd"])


@pytest.mark.parametrize("version,mend", [(99, "install a newer holdall"), (0, "install a newer release of the ada")])
def test_another_version_of_the_interface_names_both_and_the_way_out(install, version, mend):
    install("odd", "plugged_odd", GOOD.format(name="odd", more=f", spi_version={version}"))
    with pytest.raises(AdapterBroken, match=rf"version {version} .* version 1: {mend}"):
        holdall.open_store("odd://x")


def test_two_claims_on_one_scheme_name_both(install):
    install("first-dist", "plugged_first", GOOD.format(name="twice", more=""), scheme="twice")
    install("second-dist", "plugged_second", GOOD.format(name="twice", more=""), scheme="twice")
    with pytest.raises(AdapterBroken, match=r"first-dist.*second-dist"):
        holdall.open_store("twice://x")
    assert "plugged_first" not in sys.modules
    holdall.open_store("memory://beside").close()


def test_a_missing_driver_names_the_extra(install):
    source = """
        from holdall import plugins, hookimpl
        from holdall.spi import Adapter
        from holdall_adapters.memory import CAPABILITIES

        async def connect(target):
            plugins.import_driver("no_such_driver", "needy", "needy")

        @hookimpl
        def holdall_adapter():
            return Adapter(name="needy", schemes=("needy",), summary="-", capabilities=CAPABILITIES, connect=connect)
    """
    install("needy", "plugged_needy", source)
    with pytest.raises(DriverMissing, match=r"needs no_such_driver: pip install 'holdall\[needy\]'"):
        holdall.open_store("needy://x")


def test_extras_are_read_from_metadata():
    listed = {entry.scheme: entry for entry in installed_adapters()}
    assert listed["postgresql"].extra == "postgres"
    assert listed["memory"].extra is None
    requires = ['psycopg[binary]>=3.2; extra == "postgres"', "boto3; extra == 's3'", "pluggy>=1.6"]
    assert plugins._names_of_extra(requires, "postgres") == ["psycopg"]


def test_an_unknown_scheme_hints_at_the_nearest():
    with pytest.raises(AdapterNotFound, match="did you mean 'sqlite'"):
        holdall.open_store("sqlit:///x.db")
    with pytest.raises(AdapterNotFound, match="installed are"):
        holdall.open_store("zzzz://x")


def test_threads_that_race_get_one_plugin(install):
    source = "import time; time.sleep(0.2)\n" + textwrap.dedent(GOOD.format(name="racing", more=""))
    install("racing", "plugged_racing", source)
    found, barrier = [], threading.Barrier(20)

    def resolve():
        barrier.wait()
        found.append(load_adapter("racing"))

    threads = [threading.Thread(target=resolve) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(adapter) for adapter in found}) == 1


def test_registered_in_code_comes_first():
    adapter = load_adapter("memory")

    class Plugin:
        @hookimpl
        def holdall_adapter(self):
            return adapter

    plugin = Plugin()
    plugins.register(plugin)
    try:
        assert load_adapter("memory") is adapter
    finally:
        plugins.unregister(plugin)


def test_stores_are_wrapped_and_operations_observed(install):
    class Plugin:
        def __init__(self):
            self.seen = []
            self.wrapped = []

        @hookimpl
        def holdall_wrap_store(self, store, config):
            self.wrapped.append(config)

        @hookimpl
        def holdall_operation(self, operation):
            assert operation.duration >= 0
            if operation.adapter != "memory":
                return  # of what tests before have left behind in threads
            self.seen.append((operation.name, operation.adapter, operation.scope, operation.outcome))
            raise RuntimeError("an observer that fails")

    plugin = Plugin()
    plugins.register(plugin)
    try:
        with holdall.open_store("memory://watched", timeout=3) as store:
            store.put("s", "k", "secret")
            with pytest.raises(holdall.Conflict):
                store.put("s", "k", 1, expect=holdall.ABSENT)
            with holdall.open_lock(store) as lock:
                lock.held("k")
    finally:
        plugins.unregister(plugin)
    assert plugin.wrapped == [StoreConfig(url="memory://watched", timeout=3.0)]
    assert plugin.seen == [
        ("put", "memory", "s", "ok"),
        ("put", "memory", "s", "Conflict"),
        ("held", "memory", None, "ok"),
    ]
    assert "secret" not in repr(plugin.seen)


def test_a_broken_general_plugin_is_a_warning(install, monkeypatch):
    install("general", "plugged_general", "raise RuntimeError('no')", group=plugins.PLUGINS)
    monkeypatch.setattr(plugins, "_loaded_plugins", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        holdall.open_store("memory://x").close()
    assert any("general" in str(each.message) for each in caught)


def test_whole_stores_may_come_from_a_plugin(install):
    source = GOOD.format(name="whole", more=", store=lambda target: ('store', target.url.authority)")
    install("whole", "plugged_whole", source)
    assert holdall.open_store("whole://abc") == ("store", "abc")
    holdall.open_lock("whole://abc").close()
