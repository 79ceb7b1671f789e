"""The agent of the example states facts, learns what became of them, and is right the second time, on both stores."""

import pytest

from examples import agent_loop
from graphsearch.model import Outcome


async def test_what_was_turned_round_is_corrected_and_the_next_answer_is_right(scoped):
    steps = await agent_loop.run(scoped)
    first, second, third = (each for each in steps if isinstance(each, agent_loop.Session))
    hasty, corrected, handed_over = (each for each in steps if isinstance(each, str))
    assert hasty.splitlines() == ["new", "contradicts; the text says it the other way round"]
    assert (first.answer, first.outcome) == ("I do not know.", Outcome.REJECTED)
    assert corrected.splitlines() == ["new", "new"]
    assert (second.answer, second.outcome) == ("Derek Hsu", Outcome.ACCEPTED)
    assert "ends Jonas Weber leads Lighthouse" in handed_over
    assert (third.answer, third.outcome) == ("Amara Okafor", Outcome.ACCEPTED)
    (note,) = await scoped.get_memories(["kick-off"])
    assert (note.text, note.facts) == (agent_loop.NOTE.text, ())


async def test_the_example_prints_its_steps(capsys):
    await agent_loop.main()
    printed = capsys.readouterr().out
    assert "contradicts; the text says it the other way round\nWho does Jonas Weber report to? I do not" in printed
    assert "Who leads Lighthouse? Amara Okafor (accepted)\n" in printed


async def test_a_prompt_without_a_note_or_a_question_is_no_part_of_the_script():
    with pytest.raises(RuntimeError, match="StopIteration"):
        await agent_loop.Scripted().ask("")
