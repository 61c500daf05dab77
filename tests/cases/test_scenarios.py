"""Scenarios from real failures of context compression, through the public API."""

from collections.abc import Callable

import pytest

from tests.cases.checks import CHECKS
from tests.cases.observed import observe
from tests.cases.scenario import Scenario, scenarios

SCENARIOS = scenarios()


def test_every_check_is_known() -> None:
    used = {one.check for s in SCENARIOS for step in s.steps for one in step.expect}
    assert used <= CHECKS.keys()
    assert len(SCENARIOS) == 60


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.id)
def test_scenario(
    scenario: Scenario,
    asynchronous: bool,
    record_property: Callable[[str, object], None],
) -> None:
    broken = []
    for number, seen in enumerate(observe(scenario, asynchronous=asynchronous)):
        for one in scenario.steps[number].expect:
            if CHECKS[one.check](seen, one.given) is False:
                if one.wish:
                    record_property("wish", f"{scenario.id} step {number}: {one}")
                else:
                    broken.append(f"step {number}: {one}")
    assert not broken, "\n".join([scenario.title, *broken])
