"""Is each lock file whole? pip installs what it names and resolves nothing.

The requirements of a locked package are read where it is installed, so ``make latest`` and
``make lowest``, which install other versions, leave this file out.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import cast

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
TABLE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
LOCK = ROOT / "requirements.lock"
BENCH_LOCK = ROOT / "benchmarks" / "requirements.lock"
PYTHONS = re.findall(r":: (3\.\d+)", "\n".join(TABLE["project"]["classifiers"]))
SYSTEMS = [("linux", "posix", "Linux"), ("darwin", "posix", "Darwin"), ("win32", "nt", "Windows")]
HERE = dict(cast(dict[str, str], default_environment()))
ELSEWHERE = [
    HERE
    | {"python_version": python, "python_full_version": f"{python}.9"}
    | {"sys_platform": system, "os_name": name, "platform_system": long}
    for python in PYTHONS
    for system, name, long in SYSTEMS
]


def groups(*names: str) -> Iterator[str]:
    """Requirements of dependency groups, and of the groups that they include."""
    for name in names:
        for entry in TABLE["dependency-groups"][name]:
            yield from [entry] if isinstance(entry, str) else groups(entry["include-group"])


def direct(*names: str) -> list[Requirement]:
    """What the package with all its extras, and these groups, require."""
    extras = TABLE["project"]["optional-dependencies"].values()
    asked = [*TABLE["project"]["dependencies"], *(one for extra in extras for one in extra)]
    return [Requirement(text) for text in [*asked, *groups(*names)]]


def pins(lock: Path, environment: dict[str, str]) -> dict[str, Version]:
    """The version that the file gives to each package in an environment."""
    entries = re.findall(r"^[a-z0-9].*?(?= \\$)", lock.read_text("utf-8"), re.MULTILINE)
    chosen = [
        requirement
        for requirement in map(Requirement, entries)
        if requirement.marker is None or requirement.marker.evaluate(environment)
    ]
    pinned = {one.name: Version(str(one.specifier).removeprefix("==")) for one in chosen}
    assert len(pinned) == len(chosen), "a package is pinned twice"
    return pinned


def requirements(name: str, version: Version) -> list[Requirement] | None:
    """What the package requires; ``None`` if this version is not installed here."""
    try:
        installed = distribution(name)
    except PackageNotFoundError:
        return None
    if Version(installed.version) != version:
        return None
    return [Requirement(text) for text in installed.requires or []]


def missing(
    asked: Iterable[Requirement], pinned: dict[str, Version], environment: dict[str, str]
) -> tuple[set[str], set[str]]:
    """Requirements, of all depths, that no pin satisfies; and packages that nobody could ask."""
    unmet: set[str] = set()
    unknown: set[str] = set()
    seen: set[tuple[str, str]] = set()
    todo = [("pyproject.toml", requirement) for requirement in asked]
    while todo:
        by, requirement = todo.pop()
        name = canonicalize_name(requirement.name)
        version = pinned.get(name)
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            unmet.add(f"{by} requires {requirement}, locked is {version}")
            continue
        for extra in {"", *requirement.extras}:
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            needs = requirements(name, version)
            if needs is None:
                unknown.add(name)
                continue
            there = {**environment, "extra": extra}
            todo += [
                (name, one) for one in needs if one.marker is None or one.marker.evaluate(there)
            ]
    return unmet, unknown


@pytest.mark.parametrize("lock", [LOCK, BENCH_LOCK], ids=["tests", "bench"])
def test_everything_is_pinned_with_hashes_and_no_host_is_named(lock: Path) -> None:
    text = lock.read_text("utf-8")
    assert not re.search(r"[a-z]+://|--(extra-)?index-url|--find-links", text)
    pinned = re.split(r"\n(?=[a-z])", text)
    assert len(pinned) > 50
    for requirement in pinned:
        assert re.match(r"[a-z0-9.-]+==\S+", requirement), requirement.splitlines()[0]
        assert "--hash=sha256:" in requirement, requirement.splitlines()[0]


def test_all_that_is_locked_was_asked_here() -> None:
    unmet, unknown = missing(direct("dev"), pins(LOCK, HERE), HERE)
    assert unmet == set()
    assert unknown == set(), "another version is installed than the lock names: make install"


@pytest.mark.parametrize(
    "environment", ELSEWHERE, ids=lambda one: f"{one['python_version']}-{one['sys_platform']}"
)
def test_each_python_and_system_gets_all_that_is_required(environment: dict[str, str]) -> None:
    assert missing(direct("dev"), pins(LOCK, environment), environment)[0] == set()
    # The benchmarks' own packages are not installed here: `pip check` asks them in `make bench`.
    asked = direct("bench", "build")
    assert missing(asked, pins(BENCH_LOCK, environment), environment)[0] == set()


def test_what_is_missing_is_found() -> None:
    pinned = pins(LOCK, HERE)
    [api] = [one for one in direct() if one.name == "langgraph-cli"]
    without = {name: pin for name, pin in pinned.items() if name != "langgraph-runtime-inmem"}
    assert missing([api], pinned, HERE)[0] == set()
    assert any("langgraph-runtime-inmem" in one for one in missing([api], without, HERE)[0])
    old = pinned | {"langchain-core": Version("0.1")}
    assert any("locked is 0.1" in one for one in missing(direct(), old, HERE)[0])
