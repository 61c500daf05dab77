"""The browser of the tests of the panel: the system's own Chromium."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")


def chromium() -> str | None:
    """Path of the Chromium of this machine; ``None`` if it has none."""
    return next(filter(None, map(shutil.which, NAMES)), None)
