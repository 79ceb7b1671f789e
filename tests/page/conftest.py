"""A browser, and the page that it looks at; tests are skipped where either is missing."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pytest

from tests.page.served import Served, serving

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

CHROMIUM = shutil.which("chromium")
ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE = 20_000
"""Milliseconds after which what is waited for does not come."""
WIDE, NARROW = (1280, 800), (390, 844)
ADMIN = "admin"
Open = Callable[..., Awaitable[Any]]


@pytest.fixture(scope="module")
async def address() -> AsyncIterator[Served]:
    async with serving() as addresses:
        yield addresses


@pytest.fixture(scope="module")
async def browser() -> AsyncIterator[Browser]:
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("there is no chromium: apt-get install chromium")
    async with playwright.async_playwright() as running:
        started = await running.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        playwright.expect.set_options(timeout=PATIENCE)
        yield started
        await started.close()


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained of."""
    return []


@pytest.fixture
async def open_page(browser: Browser, address: Served, complaints: list[str]) -> AsyncIterator[Open]:
    """Open an address as whoever has a token; whatever the browser complains of fails the test."""
    contexts = []

    async def open_(
        path: str = "/", *, token: str = ADMIN, size: tuple[int, int] = WIDE, read_only: bool = False
    ) -> Page:
        context = await browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        if token:
            # once: a token that the page was told to forget must not come back
            await context.add_init_script(
                f"sessionStorage.getItem('told') || (sessionStorage.setItem('told', '1'),"
                f" sessionStorage.setItem('graphsearch-token', '{token}'))"
            )
        page = await context.new_page()
        page.set_default_timeout(PATIENCE)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"a dialog: {dialog.message}"))
        page.on("console", lambda said: complaints.append(said.text) if _is_complaint(said) else None)
        await page.goto((address.read_only if read_only else address.url) + path)
        return page

    yield open_
    for context in contexts:
        await context.close()
    assert complaints == []


def _is_complaint(said: Any) -> bool:
    """Answers that are refusals are written to the console by the browser itself: these are no fault of the page."""
    return said.type in ("error", "warning") and "Failed to load resource" not in said.text
