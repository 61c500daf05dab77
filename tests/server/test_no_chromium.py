"""What a machine without Chromium is told, before any test runs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PANEL = "tests/server/test_panel.py"
OTHER = "tests/tokens/test_estimate.py"


def without_chromium(empty: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A run of pytest that finds no program on its path."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env={"PATH": str(empty)},
        capture_output=True,
        text=True,
    )


def test_one_line_says_what_to_install(tmp_path: Path) -> None:
    run = without_chromium(tmp_path, OTHER, PANEL)
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "passed" not in run.stdout
    [line] = run.stderr.strip().splitlines()
    assert "apt-get install chromium fonts-noto-cjk" in line
    assert """make test ARGS="-m 'not browser'\"""" in line


@pytest.mark.parametrize(
    "arguments",
    [[OTHER], [OTHER, PANEL, "-m", "not browser"], [PANEL, "--collect-only"]],
    ids=["other files", "left out", "a list"],
)
def test_what_opens_no_browser_needs_none(tmp_path: Path, arguments: list[str]) -> None:
    run = without_chromium(tmp_path, *arguments)
    assert run.returncode == pytest.ExitCode.OK, run.stdout + run.stderr
