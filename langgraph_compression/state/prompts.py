"""The built-in instructions for the summarizer, in Chinese (default) and English."""

CHINESE_PROMPT = """\
{messages}
"""

ENGLISH_PROMPT = """\
{messages}
"""
