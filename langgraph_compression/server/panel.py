"""The panel: one page for a person, at /compression/."""

import asyncio
from pathlib import Path

from starlette.datastructures import URL
from starlette.responses import HTMLResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PAGE = Path(__file__).with_name("panel.html")
PATH = "/compression/"

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
"""The page loads nothing and talks to its own server only."""


class Panel:
    """Answers for the page before the server's routes do.

    A browser sends no token with an address that a person types. The page has no data in
    it, so anybody may have it; what it asks for is under the server's authentication.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The page, or whatever else the app has."""
        if scope["type"] == "http" and scope["method"] in ("GET", "HEAD"):
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if path == PATH:
                text = await asyncio.to_thread(PAGE.read_text, "utf-8")
                await HTMLResponse(text, headers=HEADERS)(scope, receive, send)
                return
            if path == PATH.rstrip("/"):
                url = URL(scope=scope)
                to = RedirectResponse(url.replace(path=f"{url.path}/"))
                await to(scope, receive, send)
                return
        await self.app(scope, receive, send)
