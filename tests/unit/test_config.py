from __future__ import annotations

from pathlib import Path

import pytest

import holdall
from holdall import Config, ConfigError, StoreConfig, load_config


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(tmp_path, text, name="holdall.toml"):
    (tmp_path / name).write_text(text, encoding="utf-8")


def test_name_is_looked_up_in_the_file(tmp_path):
    write(
        tmp_path,
        '[stores.default]\nurl = "memory://cfg"\ntimeout = 3\n[stores.big]\nurl="sqlite:///b.db"\ndurability="relaxed"',
    )
    config = load_config()
    assert config.find("stores", "default") == StoreConfig(url="memory://cfg", timeout=3.0)
    assert dict(config.find("stores", "big").options) == {"durability": "relaxed"}
    with holdall.open_store("default") as store:
        assert store.adapter == "memory"
    with holdall.open_store("big") as store:
        assert store.describe()["synchronous"] == "normal"


def test_file_is_found_above_and_in_pyproject(tmp_path, monkeypatch):
    write(tmp_path, '[tool.holdall.stores.default]\nurl = "memory://above"', "pyproject.toml")
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert load_config().find("stores", "default").url == "memory://above"


def test_environment_comes_first(tmp_path, monkeypatch):
    write(tmp_path, '[stores.my-store]\nurl = "memory://file"')
    monkeypatch.setenv("HOLDALL_STORES_MY_STORE_URL", "memory://environment")
    monkeypatch.setenv("HOLDALL_LOCKS_ONLY_ENV_URL", "memory://lock")
    monkeypatch.setenv("HOLDALL_STORES_MY_STORE_TIMEOUT", "2.5")
    assert load_config().find("stores", "my-store") == StoreConfig(url="memory://environment", timeout=2.5)
    with holdall.open_lock("only_env") as lock:
        assert lock.try_acquire("k") is not None


def test_config_variable_names_the_file(tmp_path, monkeypatch):
    write(tmp_path, '[stores.default]\nurl = "memory://other"', "other.toml")
    monkeypatch.setenv("HOLDALL_CONFIG", str(tmp_path / "other.toml"))
    assert load_config().find("stores", "default").url == "memory://other"


def test_references_keep_secrets_out(tmp_path, monkeypatch):
    write(tmp_path, '[stores.default]\nurl = "memory://${SPACE}"')
    with pytest.raises(ConfigError, match="SPACE"):
        load_config().find("stores", "default")
    monkeypatch.setenv("SPACE", "secret-space")
    assert load_config().find("stores", "default").url == "memory://secret-space"
    assert "secret-space" not in repr(load_config().find("stores", "default"))


@pytest.mark.parametrize(
    "text,hint",
    [
        ("[store.default]\nurl='x'", "did you mean 'stores'"),
        ("[stores]\ndefault='memory://'", r"must hold tables"),
        ("[stores.default]\nulr='memory://'", "has no 'url'; it has 'ulr'"),
        ("[stores.default]\nurl='memory://'\nlkie='x'", r"did you mean 'like'.*\[stores.default\] of"),
        ("[stores.default]\nurl='other'", r"\[stores.default\] of"),
        ("[stores.default]\nurl='memory://'\ntimeout=-1", "positive number"),
        ("[stores.default]\nurl=3", "must be text"),
        ("[stores.defalt]\nurl='memory://'", "did you mean 'defalt'"),
        ("not toml at all [", "cannot be read"),
    ],
)
def test_wrong_files_say_what_and_where(tmp_path, text, hint):
    write(tmp_path, text)
    with pytest.raises(ConfigError, match=hint):
        holdall.open_store("default")


def test_missing_named_file():
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(path=Path("nowhere.toml"))


@pytest.mark.parametrize("what", ["", "two words", "a/b", "nothing-known"])
def test_names_that_are_none(what):
    with pytest.raises(ConfigError):
        holdall.open_store(what)


@pytest.mark.parametrize("what", [None, 3, b"memory://"])
def test_what_is_no_name_at_all(what):
    with pytest.raises(ConfigError):
        holdall.open_store(what)


def test_code_may_bring_the_configuration():
    config = Config(stores={"x": {"url": "memory://code"}})
    with holdall.open_store("x", config=config) as store:
        assert repr(store) == "<holdall StoreHandle memory://code>"
    with holdall.open_store(StoreConfig(url="memory://direct", options={"derived": True})) as store:
        assert "derived" in store.describe()["storage"]


def test_option_in_two_places():
    with pytest.raises(ConfigError, match="keep one"):
        holdall.open_store(StoreConfig(url="memory://x?derived=true", options={"derived": True}))


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), True, "soon"])
def test_timeout_must_be_a_positive_number(timeout):
    with pytest.raises(ConfigError, match="timeout"):
        holdall.open_store("memory://", timeout=timeout)


def test_relative_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    write(tmp_path, '[stores.default]\nurl = "sqlite:///app.db"')
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    holdall.open_store("default").close()
    assert (tmp_path / "app.db").exists()
    holdall.open_store("sqlite:///here.db").close()
    assert (tmp_path / "deep" / "down" / "here.db").exists()


def test_a_lock_without_a_table_is_where_its_store_is(tmp_path):
    write(tmp_path, '[stores.default]\nurl = "sqlite:///app.db"')
    with holdall.open_store("default") as store, holdall.open_lock("default") as lock:
        lease = lock.try_acquire("k")
        assert holdall.open_lock(store).holder("k").token == lease.token


def test_a_url_from_the_environment_replaces_the_options_of_the_file(tmp_path, monkeypatch):
    write(tmp_path, '[stores.default]\nurl = "sqlite:///app.db"\ndurability = "relaxed"\ntimeout = 4')
    monkeypatch.setenv("HOLDALL_STORES_DEFAULT_URL", "memory://swapped")
    found = load_config().find("stores", "default")
    assert (found.url, found.timeout, dict(found.options)) == ("memory://swapped", 4.0, {})


def test_a_byte_order_mark_is_no_fault(tmp_path):
    write(tmp_path, '\ufeff[stores.default]\nurl = "memory://bom"')
    assert load_config().find("stores", "default").url == "memory://bom"
