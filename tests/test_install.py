"""What `make install` does: the commands of the Makefile, on an index of the test's own."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VENV = Path("env")


def make(folder: Path, *arguments: str) -> list[str]:
    """Run make for an environment in the folder; returns what it printed."""
    ran = subprocess.run(
        ["make", f"VENV={folder / VENV}", *arguments],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},  # not what a `make test PYTHON=…` hands on
        check=True,
        capture_output=True,
        text=True,
    )
    return ran.stdout.splitlines()


def wheel(index: Path, name: str, version: str, *metadata: str) -> str:
    """Put an empty package into the index; returns its line of a lock file."""
    about = f"{name}-{version}.dist-info"
    files = {
        f"{about}/METADATA": "\n".join(
            ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}", *metadata, ""]
        ),
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{about}/RECORD"])
    file = index / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return f"{name}=={version} --hash=sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}\n"


def run(command: str, folder: Path, index: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command with the index as the only place to get packages."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("PIP_")}
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(index), "PIP_CONFIG_FILE": os.devnull}
    return subprocess.run(
        command, shell=True, cwd=folder, env=kept | pip, capture_output=True, text=True
    )


def test_a_newer_release_on_the_index_changes_nothing(tmp_path: Path) -> None:
    """The pip of Python 3.11 to 3.13 refuses this lock if it resolves: it asks for body 1.1."""
    index = tmp_path / "index"
    index.mkdir()
    extra = ("Provides-Extra: more", "Requires-Dist: tail; extra == 'more'")
    lock = wheel(index, "head", "1.0", "Requires-Dist: body[more]>=1")
    lock += wheel(index, "body", "1.0", *extra)
    lock += wheel(index, "tail", "1.0")
    (tmp_path / "requirements.lock").write_text(lock, "utf-8")
    wheel(index, "body", "1.1", *extra)
    make(tmp_path, f"{tmp_path / VENV}/bin/python", f"PYTHON={sys.executable}")
    commands = make(tmp_path, "--dry-run", "install")
    [install] = [command for command in commands if "--require-hashes" in command]
    [check] = [command for command in commands if " check" in command]
    locked = run(install, tmp_path, index)
    assert locked.returncode == 0, locked.stderr
    consistent = run(check, tmp_path)
    assert consistent.returncode == 0, consistent.stdout
    listed = run(f"{VENV}/bin/python -m pip freeze", tmp_path)
    assert listed.stdout.split() == ["body==1.0", "head==1.0", "tail==1.0"]


def python(path: Path, version: str) -> Path:
    """A program that says this version and, asked for an environment, makes one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f"""#!/bin/sh
case "$*" in
  -V) echo Python {version};;
  "-m venv --clear "*) rm -r "$4"; mkdir -p "$4/bin"; cp "$0" "$4/bin/python";;
esac
"""
    )
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("asked", "kept"), [("3.12.1", True), ("3.13.0", False), (None, True)], ids=str
)
def test_another_python_makes_the_environment_anew(
    tmp_path: Path, asked: str | None, kept: bool
) -> None:
    made = python(tmp_path / VENV / "bin" / "python", "3.12.1")
    (tmp_path / VENV / "installed").touch()
    by_name = [f"PYTHON={python(tmp_path / 'asked', asked)}"] if asked else []
    make(tmp_path, str(made), *by_name)
    told = subprocess.run([made, "-V"], check=True, capture_output=True, text=True)
    assert told.stdout == f"Python {asked or '3.12.1'}\n"
    assert (tmp_path / VENV / "installed").exists() == kept
