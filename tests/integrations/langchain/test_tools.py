"""A model can ask the graph, and say how it went; LangChain's own tests of tools pass for both."""

from __future__ import annotations

from functools import cache

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.utils.function_calling import convert_to_openai_tool
from langchain_tests.integration_tests import ToolsIntegrationTests
from langchain_tests.unit_tests import ToolsUnitTests

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.context import ContextBlock, ContextBuilder
from graphsearch.errors import AccessDeniedError, ForeignSessionError, InvalidInputError
from graphsearch.integrations.langchain import context_tool, outcome_tool, remember_tool
from graphsearch.integrations.langchain.agent_tools import NOTHING, facts_of
from graphsearch.model import ElementKind, ElementRef, Principal
from graphsearch.modes.result import Sentence, Source, Summary
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.sync import run
from graphsearch.testing.fakes import FixedClock
from tests.integrations.team import CEDAR, QUESTION, builder_over, engine_over, member

IN_MONDAY: RunnableConfig = {"configurable": {"thread_id": "monday"}}


@cache
def known():
    """An engine over a graph in memory that all of the standard tests share."""
    store = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="web")
    return run(engine_over(store))


def asking(engine, **options):
    return context_tool(builder_over(engine), gate=member(engine.store), **options)


def telling(engine, **options):
    return outcome_tool(builder_over(engine), gate=member(engine.store), **options)


class ContextTool:
    @property
    def tool_constructor(self):
        return asking(known(), session_id="standard")

    @property
    def tool_invoke_params_example(self):
        return {"question": QUESTION}


class OutcomeTool:
    @property
    def tool_constructor(self):
        return telling(known(), session_id="standard")

    @property
    def tool_invoke_params_example(self):
        return {"outcome": "accepted"}


class RememberTool:
    @property
    def tool_constructor(self):
        engine = known()
        return remember_tool(engine, gate=member(engine.store, role="editor"), session_id="standard")

    @property
    def tool_invoke_params_example(self):
        return {"text": "Tom Reed uses Vim.", "facts": [{"subject": "Tom Reed", "relation": "uses", "object": "Vim"}]}


class TestRememberToolUnit(RememberTool, ToolsUnitTests):
    """LangChain's own tests of a tool."""


class TestRememberToolIntegration(RememberTool, ToolsIntegrationTests):
    """LangChain's own tests of a tool that is called."""


class TestContextToolUnit(ContextTool, ToolsUnitTests):
    """LangChain's own tests of a tool."""


class TestContextToolIntegration(ContextTool, ToolsIntegrationTests):
    """LangChain's own tests of a tool that is called."""


class TestOutcomeToolUnit(OutcomeTool, ToolsUnitTests):
    """LangChain's own tests of a tool."""


class TestOutcomeToolIntegration(OutcomeTool, ToolsIntegrationTests):
    """LangChain's own tests of a tool that is called."""


@pytest.fixture
async def engine(scoped):
    return await engine_over(scoped)


def call(tool, **args):
    return {"type": "tool_call", "id": "1", "name": tool.name, "args": args}


async def weight(engine, memory_id):
    (memory,) = await engine.store.get_memories([memory_id])
    return memory.feedback_weight


async def test_the_answer_is_the_block_and_what_a_caller_may_want_to_know_is_its_artifact(engine):
    tool = asking(engine, budget=60)
    answer = await tool.ainvoke(call(tool, question=QUESTION), IN_MONDAY)
    assert isinstance(answer, ToolMessage)
    assert answer.text.startswith("## Knowledge Graph Triplets\n- Priya Sharma --reports_to--> Sarah Chen")
    assert "\n## Relevant Past Observations (newest first)\n- " in answer.text
    assert answer.artifact["memories"][0] == "m-report"
    assert 0 < answer.artifact["tokens"] <= answer.artifact["budget"] == 60
    (logged,) = await engine.store.injections("monday")
    assert answer.artifact["injection_id"] == logged.id
    assert ElementRef(ElementKind.MEMORY, "m-report") in logged.elements


async def test_nothing_of_what_is_hidden_reaches_the_model_not_even_that_it_is_there(engine):
    tool = asking(engine)
    answer = await tool.ainvoke(call(tool, question="who pays Priya?"), IN_MONDAY)
    assert "rise" not in answer.content
    assert "denied" not in answer.model_dump_json()


async def test_an_empty_answer_is_a_sentence(engine):
    assert await asking(engine, budget=0).ainvoke({"question": QUESTION}, IN_MONDAY) == NOTHING


async def test_an_outcome_moves_what_the_session_was_shown_once(engine):
    await asking(engine).ainvoke({"question": QUESTION}, IN_MONDAY)
    tool = telling(engine)
    first = await tool.ainvoke(call(tool, outcome="accepted"), IN_MONDAY)
    assert first.content == "The outcome of this session is noted: accepted."
    assert first.artifact["applied"] > 0
    assert await weight(engine, "m-report") == pytest.approx(0.55)
    again = await tool.ainvoke(call(tool, outcome="accepted"), IN_MONDAY)
    assert (again.artifact["applied"], again.artifact["repeated"]) == (0, first.artifact["applied"])
    assert await weight(engine, "m-report") == pytest.approx(0.55)


async def test_who_asks_may_come_from_the_run(engine):
    people = {"ada": member(engine.store), "eve": member(engine.store, see_private=True)}
    tool = context_tool(builder_over(engine), gate=lambda config: people[config.get("configurable", {})["user"]])
    for user, sees in {"ada": False, "eve": True}.items():
        config: RunnableConfig = {"configurable": {"thread_id": f"of-{user}", "user": user}}
        assert ("rise" in await tool.ainvoke({"question": "who pays Priya?"}, config)) is sees


async def test_a_thread_of_somebody_else_is_refused(engine):
    await asking(engine).ainvoke({"question": QUESTION}, IN_MONDAY)
    eve = Gate(CEDAR, Principal(id="eve", projects=(engine.store.scope,)))
    for make, args in ((context_tool, {"question": QUESTION}), (outcome_tool, {"outcome": "rejected"})):
        with pytest.raises(ForeignSessionError):
            await make(builder_over(engine), gate=eve).ainvoke(args, IN_MONDAY)
    assert len(await engine.store.injections("monday")) == 1
    assert await weight(engine, "m-report") == 0.5


@pytest.mark.parametrize(("make", "args"), [(asking, {"question": QUESTION}), (telling, {"outcome": "accepted"})])
async def test_a_call_outside_of_any_session_is_refused(engine, make, args):
    with pytest.raises(InvalidInputError, match="pass session_id="):
        await make(engine).ainvoke(args)


@pytest.mark.parametrize(("make", "args"), [(asking, {"question": ""}), (telling, {"outcome": "splendid"})])
async def test_arguments_that_make_no_sense_are_refused(engine, make, args):
    with pytest.raises(InvalidInputError, match=next(iter(args))):
        await make(engine).ainvoke(args, IN_MONDAY)


def test_a_model_is_shown_its_own_arguments_alone():
    for tool, arguments in ((asking(known()), {"question"}), (telling(known()), {"outcome"})):
        described = convert_to_openai_tool(tool)["function"]
        assert set(described["parameters"]["properties"]) == arguments
        assert described["description"]


@pytest.mark.parametrize("options", [{"limits": 3}, {"gates": ALLOW_ALL}, {"budget": -1}])
def test_options_that_no_block_has_are_refused_when_the_tool_is_made(engine, options):
    with pytest.raises((TypeError, InvalidInputError), match=next(iter(options))):
        context_tool(ContextBuilder(engine), gate=ALLOW_ALL, **options)


def test_a_summary_is_among_the_facts():
    source = Source(number=1, element=ElementRef(ElementKind.MEMORY, "m-report"), line="- Priya reports to Sarah.")
    summary = Summary(sentences=(Sentence(text="To Sarah.", sources=(source,)),), sources=(source,))
    assert facts_of(ContextBlock(budget=9, summary=summary))["summary"] == "To Sarah. [1]"
    assert facts_of(ContextBlock(budget=9))["summary"] is None


async def test_a_model_states_facts_and_learns_what_became_of_each(engine):
    tool = remember_tool(engine, gate=member(engine.store, role="editor"), extractor=None)
    fact = {"subject": "Tom Reed", "relation": "reports to", "object": "Dana Levy", "since": None, "quote": ""}
    turned = {**fact, "subject": "Dana Levy", "object": "Tom Reed"}
    call = {"text": "Tom Reed reports to Dana Levy.", "facts": [fact, turned]}
    message = await tool.ainvoke({"name": "remember", "args": call, "id": "1", "type": "tool_call"}, IN_MONDAY)
    assert message.content == "1 new\n2 contradicts; the text says it the other way round"
    (memory,) = await engine.store.get_memories(message.artifact["memory_ids"])
    assert (memory.session_id, memory.attributes["owner"]) == ("monday", "ada")
    assert memory.occurred_at == engine.store.clock.now()
    assert await tool.ainvoke({**call, "facts": [fact]}, IN_MONDAY) == "1 new"
    assert await tool.ainvoke({**call, "facts": [fact]}, IN_MONDAY) == "1 known"
    assert await tool.ainvoke({"text": call["text"]}, IN_MONDAY) == "Remembered."
    with pytest.raises(InvalidInputError, match="object must not be empty"):
        await tool.ainvoke({**call, "facts": [{"subject": "a", "relation": "b"}]}, IN_MONDAY)
    with pytest.raises(AccessDeniedError):
        await remember_tool(engine, gate=member(engine.store)).ainvoke({"text": "New."}, IN_MONDAY)
