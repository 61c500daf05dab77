"""Unfulfilled wishes of the scenarios in the summary of the test run."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """List them."""
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    wishes = {str(value) for r in reports for name, value in r.user_properties if name == "wish"}
    if wishes:
        terminalreporter.section("wishes of the scenarios that do not hold")
        for wish in sorted(wishes):
            terminalreporter.line(wish)
