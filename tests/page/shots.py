"""Pictures of the page, to be looked at, in two sizes and schemes: ``python -m tests.page.shots FOLDER [VIEW…]``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from playwright.async_api import Page, async_playwright

from tests.page.conftest import ARGUMENTS, CHROMIUM, NARROW, WIDE
from tests.page.served import SECRET, TOKENS, serving
from tests.page.test_page import ANA, HOSTILE, VIEWS, at

SHOWN = {
    **{view: ("admin", path) for view, path in VIEWS.items()},
    "evidence": ("admin", VIEWS["ask"]),
    "viewas": ("admin", at("ask", q=SECRET, **{"as": str(ANA).replace("'", '"')})),
    "hostile": ("hostile", HOSTILE["ask"]),
    "hostile-entity": ("hostile", HOSTILE["entity"]),
    "start": ("admin", "/"),
    "empty": ("empty", "/"),
    "token": ("", "/"),
    "forbidden": ("viewer", VIEWS["health"]),
}


async def shoot(folder: Path, views: list[str]) -> None:
    """Write a picture of each view in both sizes and schemes."""
    async with serving() as address, async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        for view in views:
            token, path = SHOWN[view]
            for size, (width, height) in {"wide": WIDE, "narrow": NARROW}.items():
                context = await browser.new_context(
                    viewport={"width": width, "height": height}, reduced_motion="reduce"
                )
                if token in TOKENS:
                    await context.add_init_script(f"sessionStorage.setItem('graphsearch-token', '{token}')")
                page = await context.new_page()
                await page.goto(address.url + path)
                await _settled(page)
                if view == "evidence":
                    await page.locator(".lines .line").first.click()
                    await page.locator(".drawer mark").first.wait_for()
                for scheme in ("light", "dark"):
                    await page.emulate_media(color_scheme=scheme)
                    await page.screenshot(path=folder / f"{view}-{size}-{scheme}.png")
                await context.close()
        await browser.close()


async def _settled(page: Page) -> None:
    await page.wait_for_load_state("networkidle")
    await page.locator("main h1").first.wait_for(state="attached")


if __name__ == "__main__":
    asyncio.run(shoot(Path(sys.argv[1]), sys.argv[2:] or list(SHOWN)))
