"""What a summarizer template must hold, whoever rewrites it."""

import re

import pytest

from langgraph_compression.state.prompts import CHINESE_PROMPT, ENGLISH_PROMPT
from langgraph_compression.state.settings import CompressionSettings

TEMPLATES = [pytest.param(CHINESE_PROMPT, id="zh"), pytest.param(ENGLISH_PROMPT, id="en")]


@pytest.mark.parametrize("template", TEMPLATES)
def test_history_has_one_place_of_its_own_and_instructions_on_both_sides(template: str) -> None:
    lines = template.splitlines()
    assert template.count("{messages}") == 1
    assert "{messages}" in lines
    before, after = template.split("{messages}")
    assert len(before) > 300
    assert len(after.strip().splitlines()[-1]) > 20


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_are_accepted_as_setting(template: str) -> None:
    assert CompressionSettings(summary_prompt=template).summary_prompt == template


def test_the_default_is_chinese() -> None:
    assert CompressionSettings().summary_prompt == CHINESE_PROMPT
    assert len(re.findall(r"[\u4e00-\u9fff]", CHINESE_PROMPT)) > 400
    assert not re.search(r"[\u4e00-\u9fff]", ENGLISH_PROMPT)


def test_both_ask_for_the_same_sections_and_points() -> None:
    def outline(template: str) -> tuple[int, int]:
        found = re.findall(r"^(## |\d\. )", template, re.MULTILINE)
        return found.count("## "), len(found)

    assert outline(CHINESE_PROMPT) == outline(ENGLISH_PROMPT) == (7, 14)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_instruction_costs_little(template: str) -> None:
    """Four ASCII characters or one other character count as one token."""
    ascii_share = sum(character.isascii() for character in template)
    assert ascii_share / 4 + len(template) - ascii_share < 900
