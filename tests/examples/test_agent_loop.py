"""The agent of the example learns: what failed once gives way to what works."""

import re

from examples import agent_loop
from graphsearch.model import Outcome


async def test_the_next_question_improves(scoped):
    sessions = await agent_loop.run(scoped, 4)
    assert [session.answer for session in sessions] == ["make ship", *["make release"] * 3]
    assert [session.outcome for session in sessions] == [Outcome.REJECTED, *[Outcome.ACCEPTED] * 3]
    old, new = await scoped.get_memories(["old", "new"])
    assert old.feedback_weight < 0.5 < new.feedback_weight


async def test_the_example_prints_its_sessions_and_what_the_notes_weigh(capsys):
    await agent_loop.main()
    printed = capsys.readouterr().out
    assert re.search(r"session-1: make ship +rejected\nsession-2: make release +accepted\n", printed)
    assert re.search(r"0\.4\d+  The command that deploys Atlas is `make ship`\.", printed)


async def test_a_model_that_is_shown_nothing_says_so():
    assert await agent_loop.FirstThatFits().ask("") == "I do not know."
