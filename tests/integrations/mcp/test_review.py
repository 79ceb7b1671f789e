"""A queue of review over MCP: two agents propose, a reviewer looks and decides, and everybody asks."""

import attrs

from tests.integrations.mcp.conftest import EDITOR, asking, server_for

OTHER = attrs.evolve(EDITOR, id="grace", type="Agent")
REVIEWER = attrs.evolve(EDITOR, id="rita", attributes={"role": "reviewer"})
ENDS = {"source": "Bob Noyce", "target": "Ada Lovelace"}
QUESTION = "where does Grace Hopper work?"


async def answers(*asked):
    """What several clients are told."""
    return [
        (await ask("recall", query=QUESTION), await ask("search", query=QUESTION), await ask("stats"), block["text"])
        for ask in asked
        for block in [await ask("graph_query", query=QUESTION)]
    ]


async def test_agents_propose_and_a_reviewer_decides(engine):
    one, other, reviewer = (server_for(engine, who, review=True) for who in (EDITOR, OTHER, REVIEWER))
    async with asking(one) as ada, asking(other) as grace, asking(reviewer) as rita:
        before = await answers(ada, grace, rita)
        remembering = await grace("remember", text="Grace Hopper works at Zephyrine.", source="notes")
        merging = await ada("merge_entities", **ENDS)
        assert remembering.keys() == merging.keys() == {"proposed", "waits_for"}
        assert (await ada("merge_entities", **ENDS, dry_run=True))["mentions"]
        assert await answers(ada, grace, rita) == before
        told, merged = remembering["proposed"], merging["proposed"]
        assert [each["id"] for each in (await grace("proposals"))["proposals"]] == [told]
        assert {each["id"] for each in (await rita("proposals"))["proposals"]} == {told, merged}
        assert (await grace.error("accept_proposal", proposal=told))["type"] == "AccessDeniedError"
        assert (await grace.error("preview_proposal", proposal=merged))["type"] == "UnknownElementError"

        shown = await rita("preview_proposal", proposal=told)
        assert shown["change"]["facts"] == ["Grace Hopper works_at Zephyrine"]
        assert (await rita("preview_proposal", proposal=merged))["change"]["mentions"]
        assert (await rita("accept_proposal", proposal=told, comment="True."))["state"] == "accepted"
        rejected = await rita("reject_proposal", proposal=merged, comment="They are two.")
        assert (rejected["state"], rejected["comment"]) == ("rejected", "They are two.")

        assert "Zephyrine" in (await ada("graph_query", query=QUESTION))["text"]
        assert (await ada("merges"))["merges"] == []
        [mine] = (await ada("proposals", state="rejected"))["proposals"]
        assert mine["comment"] == "They are two."
        again = await rita.error("accept_proposal", proposal=told)
        assert again["type"] == "InvalidInputError"
