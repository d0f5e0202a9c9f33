"""Checks a built wheel and sdist: `python tools/check_dist.py FOLDER_FROM_TREE FOLDER_FROM_SDIST`.

The first folder holds the wheel built from the tree, the second the sdist and the wheel built from that sdist.
"""

import configparser
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

PACKAGES = {"holdall": "core", "holdall_adapters": "adapters", "holdall_conformance": "conformance"}
DEMO = "holdall/cli/demo_data/conversation.jsonl"
IN_SDIST = (
    "pyproject.toml README.md LICENSE CHANGELOG.md CONTRIBUTING.md noxfile.py .ci/run requirements/lock.txt "
    "requirements/lowest.txt tools/make_conversation.py tools/check_dist.py tests/unit/test_sample.py "
    f"tests/packaging/bare.py core/{DEMO}"
).split()
ROOT = Path(__file__).parents[1]


def contents(wheel: Path) -> dict[str, bytes]:
    """All files of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def wheel_faults(files: dict[str, bytes]) -> list[str]:
    """What is wrong with a wheel's contents."""
    faults: list[str] = []
    (info,) = {name.split("/")[0] for name in files if name.split("/")[0].endswith(".dist-info")}
    expected = {
        path.relative_to(ROOT / root).as_posix()
        for package, root in PACKAGES.items()
        for path in (ROOT / root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    expected |= {DEMO, *(f"{package}/py.typed" for package in PACKAGES)}
    expected |= {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    faults += [f"wheel: {name} is missing" for name in sorted(expected - files.keys())]
    faults += [f"wheel: {name} does not belong there" for name in sorted(files.keys() - expected)]
    if faults:
        return faults
    points = configparser.ConfigParser(delimiters=("=",))
    points.optionxform = str  # type: ignore[assignment,method-assign]
    points.read_string(files[f"{info}/entry_points.txt"].decode())
    for section, name, target in (
        ("console_scripts", "holdall", "holdall.cli.program:run"),
        ("holdall.adapters", "memory", "holdall_adapters.memory"),
        ("holdall.adapters", "sqlite", "holdall_adapters.sqlite"),
    ):
        if points.get(section, name, fallback=None) != target:
            faults.append(f"wheel: entry point {name} of {section} is not {target}")
    for section in points.sections():
        for name, target in points.items(section):
            module = target.partition(" [")[0].partition(":")[0].replace(".", "/")
            if f"{module}.py" not in files and f"{module}/__init__.py" not in files:
                faults.append(f"wheel: entry point {name} of {section} points to {target}, which is not there")
    metadata = Parser().parsestr(files[f"{info}/METADATA"].decode())
    wanted = {"postgres", "dynamodb", "mongodb", "s3", "aws-async", "conformance", "all"}
    extras: set[str] = set(metadata.get_all("Provides-Extra") or [])
    if extras != wanted:
        faults.append(f"wheel: the extras are {sorted(extras)}, not {sorted(wanted)}")
    if metadata["License-Expression"] != "MIT":
        faults.append("wheel: the licence is not MIT")
    return faults


def sdist_faults(sdist: Path) -> list[str]:
    """What is wrong with an sdist's contents."""
    with tarfile.open(sdist) as archive:
        names = {member.name.partition("/")[2] for member in archive.getmembers()}
    faults = [f"sdist: {name} is missing" for name in IN_SDIST if name not in names]
    junk = ("__pycache__", ".nox", ".venv", ".git", ".hypothesis")
    return faults + [f"sdist: {name} does not belong there" for name in names if set(name.split("/")) & set(junk)]


def main(from_tree: Path, from_sdist: Path) -> int:
    """Prints what is wrong and returns the exit status."""
    (wheel,) = from_tree.glob("*.whl")
    (rebuilt,) = from_sdist.glob("*.whl")
    (sdist,) = from_sdist.glob("*.tar.gz")
    faults = wheel_faults(contents(wheel)) + sdist_faults(sdist)
    if contents(wheel) != contents(rebuilt):
        faults.append("the sdist builds another wheel than the tree")
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"{wheel.name}: {len(contents(wheel))} files; {sdist.name} builds the same wheel")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
