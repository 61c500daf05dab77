"""The panel in a real browser, against the real server: what a person sees and can do.

Screenshots go to artifacts/, which git ignores.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.support.chromium import chromium
from tests.support.served.client import LONG, Thread, User

pytestmark = [pytest.mark.server, pytest.mark.browser]

ARTIFACTS = Path(__file__).parent.parent.parent / "artifacts"
WIDE: Any = {"width": 1180, "height": 860}
NARROW: Any = {"width": 375, "height": 740}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium of the system; tests/conftest.py stops where there is none."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield browser
        browser.close()


class Panel:
    """The page, and what went wrong in it."""

    def __init__(self, browser: Browser, user: User, **options: Any) -> None:
        self.user = user
        options = {"viewport": WIDE, "locale": "en-GB", **options}
        self.context = browser.new_context(**options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(10_000)
        self.errors: list[str] = []
        self.requested: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self.requested.append(request.url))

    def open(self, thread: Thread | None = None, token: str | None = None) -> None:
        """Open the page by its address; the token is remembered from an earlier visit."""
        token = self.user.token if token is None else token
        self.context.add_init_script(f"sessionStorage.setItem('token', {token!r})")
        address = f"{self.user.server.url}/compression/"
        self.page.goto(f"{address}?thread={thread.id}" if thread else address)
        if thread and token == self.user.token:
            expect(self.page.locator("#panel")).to_be_visible()

    def picture(self, name: str) -> None:
        """Keep a picture of the page."""
        ARTIFACTS.mkdir(exist_ok=True)
        self.page.screenshot(path=ARTIFACTS / f"panel-{name}.png", full_page=True)

    @property
    def tokens(self) -> int:
        """Tokens that the page shows."""
        text = self.page.locator("#sum").inner_text()
        return int(re.findall(r"[\d,]+", text)[0].replace(",", ""))

    @property
    def button(self) -> Any:
        """The button that compresses."""
        return self.page.get_by_role("button", name=re.compile("Compress|压缩"))


@pytest.fixture
def panels(browser: Browser, ada: User) -> Iterator[Any]:
    """Opens panels; fails the test if one had an error or asked another server."""
    opened: list[Panel] = []

    def make(**options: Any) -> Panel:
        opened.append(Panel(browser, ada, **options))
        return opened[-1]

    yield make
    for panel in opened:
        panel.context.close()
        assert panel.errors == []
        assert [url for url in panel.requested if not url.startswith(ada.server.url)] == []


def test_compress(ada: User, panels: Any) -> None:
    thread = ada.thread(turns=4)
    panel = panels()
    panel.open(thread)
    page = panel.page
    assert panel.tokens == thread.status["tokens"]
    expect(page.locator("#hint")).to_contain_text("nearly full")
    for part in ("messages", "system", "tools"):
        shown = page.locator(f"[data-part={part}] dd")
        expect(shown).to_have_text(f"{thread.status[part]:,}")
    panel.picture("before")

    panel.button.click()

    expect(page.get_by_role("status")).to_contain_text("8 messages, ")
    done = thread.get("/status")
    expect(page.locator("#sum")).to_contain_text(f"{done['tokens']:,}")
    expect(page.locator("[data-part=system] dd")).to_have_text("unknown")
    expect(page.locator("#hint")).to_have_text("")
    expect(page.locator("#timeline li")).to_have_count(1)
    expect(page.locator("#timeline li")).to_contain_text("8 messages summarized")
    expect(page.locator("#timeline li")).to_contain_text(f"{done['tokens']:,}")
    panel.picture("after")


def test_files_open_in_slices(ada: User, panels: Any) -> None:
    thread = ada.thread("<img src=x onerror=alert(1)>" + LONG, turns=3)
    path = thread.compress()["file_path"]
    panel = panels()
    panel.open(thread)
    page = panel.page
    name = page.get_by_role("button", name=path.removeprefix("outputs/"))
    name.click()
    expect(name).to_have_attribute("aria-expanded", "true")
    text = page.locator("#files pre")
    expect(text).to_contain_text("<img src=x onerror=alert(1)>")  # text, not an element
    assert page.locator("#files img").count() == 0
    assert len(text.inner_text()) == 8000
    panel.picture("file")
    more = page.get_by_role("button", name="Show more")
    more.click()
    expect(more).to_be_hidden()
    whole = thread.get(f"/history/{path}")["text"]
    assert page.evaluate("document.querySelector('#files pre').textContent") == whole
    name.click()
    expect(text).to_be_hidden()


def test_earlier_compressions_are_shown(ada: User, panels: Any) -> None:
    thread = ada.thread()
    thread.compress()
    panel = panels()
    panel.open(thread)
    expect(panel.page.locator("#timeline li")).to_have_count(1)
    expect(panel.page.locator("#timeline li")).to_contain_text("by hand")


def test_busy_thread(ada: User, panels: Any) -> None:
    thread = ada.thread()
    run = thread.start("[wait panel_busy] And berth 9?")
    thread.until("running", run)
    panel = panels()
    panel.open(thread)
    expect(panel.page.locator("#state")).to_have_text("running")
    panel.button.click()
    expect(panel.page.get_by_role("status")).to_contain_text("The thread is running")
    panel.picture("busy")
    thread.release("panel_busy")
    expect(panel.page.locator("#state")).to_have_text("idle")
    expect(panel.page.get_by_role("status")).to_have_text("")


def test_thread_that_waits_for_a_person(ada: User, panels: Any) -> None:
    thread = ada.thread("[ask] Close berth 9?", turns=0)
    panel = panels()
    panel.open(thread)
    expect(panel.page.locator("#state")).to_have_text("waiting for a person")
    panel.button.click()
    expect(panel.page.get_by_role("status")).to_contain_text("waits for a person")


def test_failing_summary(ada: User, panels: Any) -> None:
    thread = ada.thread("[summary fails] [summary waits panel_fail] " + LONG)
    panel = panels()
    panel.open(thread)
    tokens = panel.tokens
    panel.button.click()
    expect(panel.button).to_have_attribute("aria-disabled", "true")
    expect(panel.button).to_have_text("Compressing…")
    panel.picture("working")
    thread.release("panel_fail")
    expect(panel.page.get_by_role("status")).to_contain_text("the thread is as before")
    expect(panel.page.locator("#timeline li[data-kind=failed]")).to_contain_text("ConnectionError")
    expect(panel.button).to_have_attribute("aria-disabled", "false")
    assert panel.tokens == tokens
    panel.picture("failed")


def test_live_during_a_run(ada: User, panels: Any) -> None:
    thread = ada.thread("[summary waits panel_live] " + LONG, turns=4)
    panel = panels()
    panel.open(thread)
    expect(panel.page.locator("#connection")).to_have_text("live")
    before = panel.tokens
    run = thread.start(LONG * 2, stream_mode=["custom"])
    entry = panel.page.locator("#timeline li")
    expect(entry).to_contain_text("under way")
    expect(panel.page.locator("#state")).to_have_text("running")
    thread.release("panel_live")
    expect(entry).to_contain_text("threshold reached")
    expect(entry).to_have_attribute("data-kind", "completed")
    thread.until("success", run)
    expect(panel.page.locator("#state")).to_have_text("idle")
    assert panel.tokens < before
    expect(panel.page.locator("#files li")).to_have_count(1)


def test_by_keyboard_in_chinese_on_a_narrow_dark_screen(ada: User, panels: Any) -> None:
    thread = ada.thread(turns=4)
    panel = panels(viewport=NARROW, locale="zh-CN", color_scheme="dark")
    panel.open(token="")
    page = panel.page
    expect(page).to_have_title("会话上下文")
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    expect(page.locator("#thread")).to_be_focused()
    page.keyboard.type(thread.id)
    page.keyboard.press("Tab")
    page.keyboard.type(ada.token)
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(panel.button).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("已压缩 8 条消息")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= NARROW["width"]  # nothing to scroll sideways
    panel.picture("narrow-chinese-dark")
    page.get_by_role("button", name="English").click()
    expect(panel.button).to_have_text("Compress context")
    expect(page.get_by_role("button", name="English")).to_have_attribute("aria-pressed", "true")


def test_everything_has_a_name(ada: User, panels: Any) -> None:
    panel = panels()
    panel.open(ada.thread())
    page = panel.page
    for element in page.locator("button:visible, input:visible").all():
        name = element.evaluate("e => e.labels?.[0]?.textContent || e.textContent")
        assert name.strip()
    meter = page.get_by_role("meter", name="Context")
    assert "of the threshold" in (meter.get_attribute("aria-valuetext") or "")
    assert page.get_by_role("alert").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("heading", level=2).count() == 3


def test_refusals_are_explained(ada: User, bob: User, panels: Any) -> None:
    thread = ada.thread()
    panel = panels()
    panel.open(thread, token="wrong")
    alert = panel.page.get_by_role("alert")
    expect(alert).to_contain_text("access token")
    expect(panel.page.locator("#token")).to_be_focused()
    panel.page.locator("#token").fill(bob.token)
    panel.page.get_by_role("button", name="Open", exact=True).click()
    expect(alert).to_contain_text("no such thread")
    panel.page.locator("#thread").fill("no id")
    panel.page.get_by_role("button", name="Open", exact=True).click()
    expect(alert).to_contain_text("not a thread id")
    expect(panel.page.locator("#panel")).to_be_hidden()


def test_graph_without_the_capability(ada: User, panels: Any) -> None:
    panel = panels()
    panel.open(ada.thread("Hello", turns=0, graph="plain"))
    expect(panel.button).to_be_hidden()
    expect(panel.page.locator("#incapable")).to_be_visible()
