"""What to say of a field that nobody knows."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches


def unknown_fields(given: Iterable[object], known: Collection[str]) -> dict[str, str]:
    """Each given name that is not known, with the remedy.

    >>> unknown_fields(["mode", "summary_treshold"], ["mode", "summary_threshold"])
    {'summary_treshold': "did you mean 'summary_threshold'?"}
    >>> unknown_fields(["color"], ["mode", "model"])
    {'color': 'known are mode, model'}
    """
    return {
        name: nearest(name, known) or f"known are {', '.join(known)}"
        for name in map(str, given)
        if name not in known
    }


def nearest(name: str, known: Collection[str]) -> str | None:
    """The question whether a known name was meant, if one is near."""
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else None
