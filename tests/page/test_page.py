"""What people do with the page, in a real browser over a real store."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, urlencode

import pytest

from tests.page.conftest import NARROW, WIDE, Open
from tests.page.served import NAMES, QUESTION, SECRET

if TYPE_CHECKING:
    from playwright.async_api import Page

ANA = {"id": "ana", "type": "User", "attributes": {"role": "viewer"}}


def expect(locator: Any) -> Any:
    from playwright.async_api import expect as expected  # noqa: PLC0415 - installed where there is a browser

    return expected(locator)


def at(view: str, **params: str) -> str:
    return f"/#/{view}?{urlencode(params, quote_via=quote)}"


def told(page: Page) -> dict[str, str]:
    """What the address tells."""
    return {name: value for name, (value,) in parse_qs(page.url.partition("#")[2].partition("?")[2]).items()}


async def go(page: Page, path: str) -> None:
    """Go to another address of the page."""
    await page.goto(page.url.partition("/#")[0].rstrip("/") + path)


async def texts(page: Page, selector: str) -> list[str]:
    return await page.locator(selector).all_inner_texts()


# -- ask --------------------------------------------------------------------------------------------------------------


async def test_a_question_its_answer_and_what_stands_behind_a_line(open_page: Open) -> None:
    page = await open_page()
    await page.get_by_role("textbox", name="Question").fill(QUESTION)
    await page.keyboard.press("Enter")
    answer = page.get_by_label("Answer", exact=True)
    await expect(answer).to_contain_text("Bob Miller")
    assert told(page)["q"] == QUESTION

    lines = page.locator(".lines .line")
    await lines.first.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Enter")
    drawer = page.get_by_role("complementary", name="Evidence")
    quoted = drawer.locator("mark")
    await expect(quoted.first).to_contain_text("Sarah Chen")
    await expect(drawer).to_contain_text("Weight by session")
    await expect(drawer.locator("circle")).to_have_count(2)  # two sessions reported an outcome

    key = await lines.first.get_attribute("data-key")
    assert told(page)["open"] == key
    await expect(page.locator(f'.block li[data-key="{key}"]')).to_have_class(re.compile("sel"))
    await expect(page.locator(f'.edge[data-key="{key}"]')).to_have_class(re.compile("sel"))

    await page.reload()  # whatever is seen has an address
    await expect(quoted.first).to_contain_text("Sarah Chen")
    await page.keyboard.press("Escape")
    await expect(drawer).to_be_hidden()
    assert "open" not in told(page)


async def test_parts_add_up_to_the_score_and_tokens_to_those_of_the_block(open_page: Open) -> None:
    page = await open_page(at("ask", q=QUESTION))
    await page.locator(".lines .line").first.click()
    drawer = page.get_by_role("complementary", name="Evidence")
    await expect(drawer.locator("tfoot td.num")).to_be_visible()
    adds = [float(row.replace("−", "-")) for row in await texts(page, ".drawer tr:has(.barcell) td.num:nth-child(4)")]
    total = float(await drawer.locator("tfoot td.num").inner_text())
    assert len(adds) > 3
    assert sum(adds) == pytest.approx(total, abs=0.0005 * len(adds))
    assert await page.locator(".lines .score").first.inner_text() == f"{total:.3f}"

    costs = [int(each) for each in await texts(page, ".block .n")]
    (used,) = re.findall(r"([\d]+) of [\d]+ tokens", await page.locator(".sum").inner_text())
    assert sum(costs) == int(used)


async def test_a_smaller_budget_leaves_lines_out_and_says_why(open_page: Open) -> None:
    page = await open_page(at("ask", q=QUESTION))
    before = await page.locator(".block li[data-key]").count() or None
    budget = page.get_by_role("spinbutton", name="Budget in tokens")
    await budget.fill("120")
    await budget.press("Enter")
    await expect(page.locator(".sum")).to_contain_text("of 120 tokens")
    assert told(page)["budget"] == "120"
    assert before is None or await page.locator(".block li[data-key]").count() < before
    await expect(page.locator(".out-reason", has_text="No room").first).to_be_visible()
    await page.locator(".lines .line", has=page.locator(".out-reason", has_text="No room")).first.click()
    await expect(page.get_by_role("complementary", name="Evidence")).to_contain_text("Not in the block.")


async def test_labels_are_short_and_an_answer_without_lines_says_why(open_page: Open) -> None:
    page = await open_page(at("ask", q="what is the boiling point of tungsten?"))
    await expect(page.locator(".sum .answer")).not_to_have_text("")
    short = await page.evaluate(
        "async (all) => { const { Names } = await import('./page/format.js'); const names = new Names(all);"
        " return all.map((each) => names.text(each)); }",
        ["httpx._client.AsyncClient.send", "httpx._client.Client.send", "Ada", "0.9.4", "192.168.0.1"],
    )
    assert short == ["AsyncClient.send", "Client.send", "Ada", "0.9.4", "192.168.0.1"]


# -- states -----------------------------------------------------------------------------------------------------------


async def test_without_a_token_nothing_is_sent_and_a_wrong_one_is_refused(open_page: Open) -> None:
    page = await open_page(at("ask", q=QUESTION), token="")
    await expect(page.get_by_role("heading", name="This server asks for a token")).to_be_visible()
    await page.get_by_label("Paste it").fill("wrong")
    await page.get_by_role("button", name="Use token").click()
    await expect(page.get_by_role("heading", name="This token was not accepted")).to_be_visible()
    assert "Miller" not in await page.content()
    await page.get_by_label("Paste it").fill("admin")
    await page.get_by_role("button", name="Use token").click()
    await expect(page.get_by_label("Answer", exact=True)).to_contain_text("Bob Miller")
    assert "admin" not in page.url
    assert "wrong" not in page.url
    assert await page.evaluate("localStorage.getItem('graphsearch-token')") is None
    await page.get_by_role("button", name="Forget the token").click()
    await expect(page.get_by_role("heading", name="This server asks for a token")).to_be_visible()


async def test_an_error_keeps_the_question_and_offers_to_try_again(open_page: Open) -> None:
    page = await open_page()
    await expect(page.get_by_role("heading", name="Ask this project")).to_be_visible()
    await page.route("**/v1/ask?*", lambda route: route.abort())
    await page.get_by_role("textbox", name="Question").fill(QUESTION)
    await page.get_by_role("button", name="Ask").click()
    await expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
    await expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
    await page.unroute("**/v1/ask?*")
    await page.get_by_role("button", name="Try again").click()
    await expect(page.get_by_label("Answer", exact=True)).to_contain_text("Bob Miller")


async def test_while_it_loads_lines_stand_in_the_place_of_lines(open_page: Open) -> None:
    page = await open_page()
    held = asyncio.get_running_loop().create_future()

    async def hold(route: Any) -> None:
        held.set_result(route)

    await page.route("**/v1/ask?*", hold)
    await page.get_by_role("textbox", name="Question").fill(QUESTION)
    await page.get_by_role("button", name="Ask").click()
    await expect(page.locator("[aria-busy=true] .sk").first).to_be_visible()
    await expect(page.get_by_role("textbox", name="Question")).to_have_value(QUESTION)
    await (await held).continue_()
    await expect(page.get_by_label("Answer", exact=True)).to_contain_text("Bob Miller")
    await expect(page.locator(".sk")).to_have_count(0)


async def test_what_is_typed_while_the_page_draws_stays_with_its_caret_and_is_asked(open_page: Open) -> None:
    page = await open_page()
    await expect(page.get_by_role("heading", name="Ask this project")).to_be_visible()
    held = asyncio.get_running_loop().create_future()

    async def hold(route: Any) -> None:
        held.set_result(route)

    await page.route("**/page/me", hold)
    await page.reload()
    field = page.get_by_role("textbox", name="Question")
    await expect(page.locator("[aria-busy=true]")).to_be_visible()
    await field.press_sequentially(QUESTION[1:])
    await page.keyboard.press("Home")
    await (await held).continue_()
    await expect(page.get_by_role("heading", name="Ask this project")).to_be_visible()
    await page.keyboard.type(QUESTION[0])
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Answer", exact=True)).to_contain_text("Bob Miller")
    assert told(page)["q"] == QUESTION


async def test_an_empty_project_says_what_to_do_first(open_page: Open) -> None:
    page = await open_page(token="empty")
    await expect(page.get_by_role("heading", name="Nothing is known here yet")).to_be_visible()
    assert "graphsearch remember" in await page.locator("main").inner_text()
    await go(page, at("care"))
    await expect(page.get_by_role("heading", name="Nothing waits for a review")).to_be_visible()


async def test_read_only_buttons_say_why(open_page: Open) -> None:
    page = await open_page(at("care", tab="duplicates"), read_only=True)
    merge = page.get_by_role("button", name="Merge", exact=True)
    await expect(merge).to_have_attribute("aria-disabled", "true")
    await expect(page.locator(".note", has_text="Dry run")).to_contain_text("would move")
    posted = list[str]()
    page.on("request", lambda request: posted.append(request.url) if request.method == "POST" else None)
    await merge.click(force=True)  # it can be pressed, and says why it does nothing
    await expect(page.locator(".toast")).to_contain_text("Read only")
    assert posted == []


# -- time -------------------------------------------------------------------------------------------------------------


async def test_what_appeared_and_ended_between_two_moments(open_page: Open) -> None:
    page = await open_page(VIEWS["time"])
    rows = page.locator(".gantt .gr")
    appeared = rows.filter(has=page.locator(".sign.appeared"))
    await expect(appeared.filter(has_text="Priya Patel").filter(has_text="Sarah Chen").first).to_contain_text("+")
    ended = rows.filter(has=page.locator(".sign.ended")).filter(has_text="Priya Sharma").filter(has_text="Sarah Chen")
    await expect(ended.first).to_contain_text("−")
    status = page.get_by_role("status").filter(has_text="appeared")
    before = await status.inner_text()

    known = page.get_by_role("slider", name="known at")
    await known.press("Home")
    await expect(status).to_contain_text("had not been written down")
    assert await status.inner_text() != before
    assert told(page)["known"].startswith("2025-01")
    await known.press("End")
    until = page.get_by_role("slider", name="as of, after")
    was = await until.input_value()
    await page.keyboard.press("[")
    await expect(until).not_to_have_value(was)
    assert told(page)["since"] < told(page)["until"]

    await page.get_by_role("button", name="Ask as of the later").click()
    await expect(page.locator(".sum")).to_contain_text("as of 2025-")


async def test_an_answer_without_dates_says_so(open_page: Open) -> None:
    page = await open_page(at("time", q="what is the boiling point of tungsten?"), token="hostile")
    await expect(page.get_by_role("heading", name="Nothing answers it at either moment")).to_be_visible()


# -- view as ----------------------------------------------------------------------------------------------------------


async def test_as_another_sees_it_what_is_hidden_is_counted_for_who_may_look(open_page: Open) -> None:
    page = await open_page(at("ask", q=SECRET))
    await expect(page.locator("main")).to_contain_text("hr/reviews")
    await page.get_by_role("combobox", name="View as").select_option(label="ana (viewer)")
    await expect(page.get_by_role("region", name="View as")).to_contain_text("As ana sees it.")
    await expect(page.locator(".sum")).to_contain_text("hidden by policy")
    await expect(page.locator(".sum")).to_contain_text("private-elements")
    assert "hr/reviews" not in await page.locator(".cols").inner_text()
    assert json.loads(told(page)["as"])["id"] == "ana"
    await page.reload()
    await expect(page.get_by_role("region", name="View as")).to_be_visible()

    await page.goto(page.url.replace("#/ask", "#/care"))
    await page.get_by_role("tab", name="Duplicates").click()
    await expect(page.get_by_role("button", name="Merge", exact=True)).to_have_attribute("title", re.compile("ana"))


async def test_view_as_somebody_who_is_not_known_with_attributes(open_page: Open) -> None:
    page = await open_page(at("ask", q=SECRET))
    await page.get_by_role("combobox", name="View as").select_option(label="somebody else…")
    await page.get_by_label("id", exact=True).fill("žofie")
    attributes = page.get_by_label("attributes")
    await attributes.fill("no object")
    await page.get_by_role("button", name="View", exact=True).click()
    await expect(page.get_by_role("alert")).to_contain_text("must be a JSON object")
    await attributes.fill('{"role": "viewer", "see_private": true}')
    await page.get_by_role("button", name="View", exact=True).click()
    await expect(page.get_by_role("region", name="View as")).to_contain_text("As žofie sees it. The same relations")
    await expect(page.locator(".sum")).to_contain_text("nothing hidden")


async def test_who_may_not_view_as_is_told_nothing_of_what_is_hidden(open_page: Open) -> None:
    page = await open_page(at("ask", q=SECRET), token="viewer")
    await expect(page.locator(".sum")).to_contain_text("relations and")
    assert "hidden" not in await page.locator("body").inner_text()
    assert await page.get_by_role("combobox", name="View as").count() == 0
    await page.goto(page.url + "&as=" + quote(json.dumps(ANA | {"attributes": {"see_private": True}})))
    await page.reload()
    await expect(page.get_by_role("alert")).to_contain_text("This is not allowed")


# -- entity -----------------------------------------------------------------------------------------------------------


async def test_an_entity_is_found_by_a_misspelling_and_has_a_timeline_and_paths(open_page: Open) -> None:
    page = await open_page(at("entity"))
    await page.get_by_role("textbox", name="Find an entity by name").fill("Prya Sharma")
    await page.keyboard.press("Enter")
    await page.get_by_role("link", name="Priya Sharma", exact=True).click()
    await expect(page.get_by_role("region", name="Timeline")).to_contain_text("reports to")
    days = await texts(page, ".tl .at")
    assert days == sorted(days, reverse=True)
    await expect(page.get_by_role("region", name="Neighbourhood").locator(".node.seed")).to_contain_text("Priya Sharma")
    await page.get_by_role("combobox", name="Path to").fill("Lena Fischer")
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("region", name="Path to")).to_contain_text("strength")
    assert told(page)["to"] == "Lena Fischer"
    await page.locator(".edge").first.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("complementary", name="Evidence").locator("mark").first).to_be_visible()


# -- care -------------------------------------------------------------------------------------------------------------


async def test_a_merge_is_previewed_confirmed_and_undone(open_page: Open) -> None:
    page = await open_page(at("care", tab="duplicates"))
    await page.get_by_role("button", name=re.compile("Robert Miller")).click()
    await expect(page.locator(".note", has_text="Dry run")).to_contain_text("would move")
    await page.get_by_role("button", name="Merge", exact=True).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("region", name="Merges")).to_have_count(0)
    await page.get_by_role("button", name="Merge", exact=True).click()
    await dialog.get_by_role("button", name="Merge").click()
    await expect(page.locator(".toast")).to_contain_text("was merged into")
    await expect(page.get_by_role("list", name="Pairs")).not_to_contain_text("Robert Miller")
    await page.locator(".toast").get_by_role("button", name="Undo").click()
    await expect(page.locator(".toast")).to_contain_text("undone")
    await expect(page.get_by_role("list", name="Pairs")).to_contain_text("Robert Miller")
    await expect(page.get_by_role("region", name="Merges")).to_contain_text("undone")


async def test_proposals_are_accepted_and_rejected(open_page: Open) -> None:
    page = await open_page(at("care", tab="review"))
    await expect(page.get_by_role("link", name=re.compile("Care 3"))).to_be_visible()
    proposals = page.get_by_role("list", name="Proposals")
    proposal = page.get_by_role("region", name="Proposal", exact=True)
    await expect(proposal).to_contain_text("Dana Levy uses Tableau.")
    await expect(proposal).to_contain_text("+ Dana Levy uses Tableau")
    await proposal.get_by_role("button", name="Accept").click()
    await expect(proposals.get_by_role("button")).to_have_count(2)
    await expect(proposal).to_contain_text("Kestrel uses Cassandra.")
    await proposal.get_by_label("comment").fill("not so")
    await proposal.get_by_role("button", name="Reject").click()
    await expect(proposals.get_by_role("button")).to_have_count(1)
    await expect(page.get_by_role("link", name=re.compile("Care 1"))).to_be_visible()
    await page.get_by_role("button", name="rejected").click()
    await expect(proposal).to_contain_text("not so")
    assert "Cassandra" not in await page.locator("main").inner_text()
    await go(page, at("ask", q="what does Dana Levy use?"))
    await expect(page.get_by_label("Answer", exact=True)).to_contain_text("Tableau")


async def test_a_memory_is_forgotten_with_a_receipt_that_holds(open_page: Open) -> None:
    page = await open_page(at("care", tab="forget", about="Grinder"))
    await page.get_by_role("list", name="Memories").get_by_role("button", name=re.compile("Grinder")).click()
    panel = page.get_by_role("region", name="Forget", exact=True)
    await expect(panel).to_contain_text("− Lena Fischer")
    await panel.get_by_role("button", name="Forget, with a receipt…").click()
    dialog = page.get_by_role("dialog")
    forget = dialog.get_by_role("button", name="Forget")
    await expect(forget).to_be_disabled()
    await dialog.get_by_role("textbox").fill("note:coffee")
    await forget.click()
    await expect(panel).to_contain_text("the receipt is intact, and nothing of the memory is left")
    receipt = json.loads(await panel.locator(".receipt").inner_text())
    assert receipt["memories"] == ["note:coffee"]
    async with page.expect_download() as download:
        await panel.get_by_role("button", name="Save the receipt").click()
    assert (await download.value).suggested_filename == "receipt-note-coffee.json"
    await go(page, at("ask", q="who uses Grinder?"))
    await expect(page.get_by_label("Answer", exact=True)).to_contain_text("nothing visible is known of Grinder")


async def test_a_contradiction_is_settled_by_forgetting_what_is_wrong(open_page: Open) -> None:
    page = await open_page(at("care", tab="conflicts"))
    contradiction = page.get_by_role("region", name="Contradiction").filter(has_text="Tom Okafor")
    await expect(contradiction).to_contain_text("Tom Okafor lives in Bristol.")
    await contradiction.locator(".quote", has_text="in Bath.").get_by_role("link", name="Forget it…").click()
    await page.get_by_role("button", name="Forget, with a receipt…").click()
    await page.get_by_role("dialog").get_by_role("textbox").fill("note:bath")
    await page.get_by_role("dialog").get_by_role("button", name="Forget").click()
    await expect(page.locator("main")).to_contain_text("the receipt is intact, and nothing of the memory is left")
    await page.get_by_role("tab", name="Conflicts").click()
    await expect(page.get_by_role("region", name="Ambiguous name")).to_be_visible()
    await expect(contradiction).to_have_count(0)


async def test_health_says_what_would_improve_it(open_page: Open) -> None:
    page = await open_page(at("care", tab="health"))
    await expect(page.get_by_role("region", name="Health")).to_contain_text("product of the three")
    await page.get_by_role("link", name=re.compile("Settle .* possible duplicate")).click()
    await expect(page.get_by_role("list", name="Pairs")).to_be_visible()


# -- whatever is stored -----------------------------------------------------------------------------------------------

VIEWS = {
    "ask": at("ask", q=QUESTION),
    "time": at("time", q=QUESTION, since="2025-06-15T00:00:00Z", until="2025-10-01T00:00:00Z"),
    "entity": at("entity", id="Priya Sharma"),
    "review": at("care", tab="review"),
    "duplicates": at("care", tab="duplicates"),
    "conflicts": at("care", tab="conflicts"),
    "health": at("care", tab="health"),
    "forget": at("care", tab="forget"),
}
HOSTILE = {
    "ask": at("ask", q="whom does Zed know?"),
    "entity": at("entity", id="Zed"),
    "found": at("entity", find="script"),
    "conflicts": at("care", tab="conflicts"),
    "forget": at("care", tab="forget"),
}
DRAWN = ".cols, .gantt, .split, .state, .stack, table.padded"


async def overflowing(page: Page) -> bool:
    return bool(await page.evaluate("document.documentElement.scrollWidth > innerWidth"))


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
async def test_nothing_hostile_runs_and_nothing_overflows(open_page: Open, size: tuple[int, int]) -> None:
    page = await open_page(token="hostile", size=size)
    for name, path in HOSTILE.items():
        await go(page, path)
        await expect(page.locator("main").locator(DRAWN).first).to_be_visible()
        if name == "ask":
            await expect(page.locator("main")).to_contain_text(NAMES[0])  # as text
            await expect(page.locator(".ghost").first).to_have_text("U+202E")
            await page.locator(".lines .line").first.click()
            await expect(page.get_by_role("complementary", name="Evidence")).to_contain_text("Weight by session")
        assert not await overflowing(page), name
        assert await page.evaluate("window.ran") is None
        assert await page.locator("main script, main img").count() == 0


async def test_a_name_of_100_kb_is_cut_and_overflows_nothing(open_page: Open) -> None:
    async def lengthen(route: Any) -> None:
        answer = await (await route.fetch()).json()
        for each in answer["relations"]:
            each["target"]["name"] = "<b>" + "w" * 100_000
            each["fact"] = "\u202e" + "ö" * 100_000
        await route.fulfill(json=answer)

    page = await open_page(token="hostile", size=NARROW)
    await page.route("**/v1/ask?*", lengthen)
    await go(page, HOSTILE["ask"])
    await expect(page.locator(".lines .line").first).to_contain_text("<b>www")
    assert not await overflowing(page)
    assert len(await page.locator("main").inner_text()) < 100_000


async def test_markup_is_refused_by_the_browser_itself(open_page: Open, complaints: list[str]) -> None:
    page = await open_page(at("ask", q=QUESTION))
    await expect(page.get_by_label("Answer", exact=True)).to_be_visible()
    refused = await page.evaluate(
        "() => { try { document.getElementById('main').innerHTML = '<b>x</b>'; return ''; }"
        " catch (error) { return error.name; } }"
    )
    assert refused == "TypeError"
    (complaint,) = complaints
    assert "TrustedHTML" in complaint
    complaints.clear()


@pytest.mark.parametrize("view", VIEWS)
async def test_axe_finds_nothing_and_nothing_scrolls_sideways(open_page: Open, view: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.async_playwright").Axe()
    page = await open_page(VIEWS[view])
    await expect(page.locator("main").locator(DRAWN).first).to_be_visible()
    if view == "ask":
        await page.locator(".lines .line").first.click()
        await expect(page.get_by_role("complementary", name="Evidence")).to_contain_text("Weight by session")
    assert not await overflowing(page)
    found = (await axe.run(page)).response["violations"]
    await page.get_by_role("button", name="Light or dark").click()
    found += (await axe.run(page, options={"runOnly": ["color-contrast"]})).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"][:200]) for each in found] == []
    await page.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert not await overflowing(page)
