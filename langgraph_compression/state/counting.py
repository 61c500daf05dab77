"""What a counter is."""

from collections.abc import Callable

Count = Callable[[str], int]
"""Tokens of a text."""
