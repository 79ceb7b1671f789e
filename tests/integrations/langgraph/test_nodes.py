"""A compiled graph is given context before its model is asked, and reports how its session went."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import BaseModel

from graphsearch import sync
from graphsearch.access.gate import Gate
from graphsearch.errors import ForeignSessionError, InvalidInputError
from graphsearch.integrations.langchain import context_tool, outcome_tool
from graphsearch.integrations.langgraph import context_node, outcome_node, remember_node
from graphsearch.model import Fact, Outcome, Principal
from graphsearch.stores.memory import InMemoryGraphStore
from tests.integrations.team import CEDAR, QUESTION, builder_over, engine_over, member

IN_MONDAY: RunnableConfig = {"configurable": {"thread_id": "monday"}}


class State(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    context: str
    facts: dict[str, Any]
    outcome: str | Outcome
    report: dict[str, int]


ASKED: State = {"messages": [HumanMessage(QUESTION)]}


class Remembering(GenericFakeChatModel):
    """A chat model that returns the replies it was given, and records what it was asked."""

    asked: list[list[Any]] = []  # noqa: RUF012 - pydantic copies it

    def _generate(self, messages, stop=None, run_manager=None, **options):
        self.asked.append(list(messages))
        return super()._generate(messages, stop, run_manager, **options)


def model_that_says(*answers: AIMessage | str) -> Remembering:
    return Remembering(messages=iter(answers))


@pytest.fixture
async def engine(clock):
    return await engine_over(InMemoryGraphStore(clock=clock).with_scope(org_id="acme", project_id="web"))


def session_graph(engine, model, **options):
    """Context, then the model, then the outcome."""
    builder, ada = builder_over(engine), member(engine.store)

    def answer(state: Any) -> State:
        return {"messages": [model.invoke([SystemMessage(state["context"]), *state["messages"]])]}

    graph = StateGraph(State)
    graph.add_node("context", context_node(builder, gate=ada, facts_key="facts", **options))
    graph.add_node("answer", answer)
    graph.add_node("outcome", outcome_node(builder, gate=ada, report_key="report"))
    graph.add_edge(START, "context")
    graph.add_edge("context", "answer")
    graph.add_conditional_edges("answer", lambda state: "outcome" if "outcome" in state else END)
    graph.add_edge("outcome", END)
    return graph.compile(checkpointer=InMemorySaver())


def checked(done: Any, model: Remembering) -> None:
    """What a run leaves: the model saw the block, the state has it, and its outcome was applied."""
    ((system, human),) = model.asked
    assert system.content == done["context"]
    assert "Dana Levy: Priya Sharma reports to Sarah Chen." in done["context"]
    assert "rise" not in done["context"]
    assert human.content == QUESTION
    assert done["messages"][-1].content == "To Sarah."
    assert done["facts"]["memories"][0] == "m-report"
    assert done["report"]["applied"] > 0


async def test_a_model_gets_the_block_for_the_last_human_message(engine):
    model = model_that_says("To Sarah.")
    done = await session_graph(engine, model).ainvoke({**ASKED, "outcome": "accepted"}, IN_MONDAY)
    checked(done, model)
    (logged,) = await engine.store.injections("monday")
    assert logged.id == done["facts"]["injection_id"]


async def test_the_graph_of_a_session_works_blocking_over_postgres(postgres_database):
    def script() -> None:
        with sync.PostgresGraphStore.open(postgres_database.dsn) as graph:
            store = graph.with_scope(org_id="acme", project_id="web")
            engine = sync.run(engine_over(store.asynchronous))
            model = model_that_says("To Sarah.")
            done = session_graph(engine, model).invoke({**ASKED, "outcome": Outcome.ACCEPTED}, IN_MONDAY)
            checked(done, model)
            (memory,) = store.get_memories(["m-report"])
            assert memory.feedback_weight == pytest.approx(0.55)

    await asyncio.to_thread(script)


async def test_a_blocking_run_works_inside_of_a_running_loop_as_in_a_notebook(engine):
    model = model_that_says("To Sarah.")
    checked(session_graph(engine, model).invoke({**ASKED, "outcome": "accepted"}, IN_MONDAY), model)


async def test_the_next_question_of_a_thread_is_the_next_human_message(engine):
    model = model_that_says("To Sarah.", "The Search Team.")
    graph = session_graph(engine, model, budget=18)  # tokens for the triplet that answers
    await graph.ainvoke(ASKED, IN_MONDAY)
    done = await graph.ainvoke({"messages": [HumanMessage("what does Sarah Chen lead?")]}, IN_MONDAY)
    assert "Sarah Chen --leads--> Search Team" in done["context"].splitlines()[1]
    assert len(await engine.store.injections("monday")) == 2


async def test_runs_at_the_same_time_see_what_their_own_principals_may(engine):
    people = {"ada": member(engine.store), "eve": member(engine.store, see_private=True)}
    node = context_node(
        builder_over(engine), gate=lambda config: people[config.get("configurable", {})["user"]], query_key="asked"
    )

    async def sees_the_rise(number: int, user: str) -> tuple[str, bool]:
        config: RunnableConfig = {"configurable": {"thread_id": f"{user}-{number}", "user": user}}
        done = await alone(node, Asked).ainvoke({"asked": "who pays Priya?"}, config)
        return user, "rise" in done["context"]

    answers = await asyncio.gather(*(sees_the_rise(number, user) for number in range(10) for user in people))
    assert set(answers) == {("ada", False), ("eve", True)}


class Asked(TypedDict, total=False):
    asked: str
    context: str


def alone(node, schema: Any = State) -> Any:
    """A graph of one node."""
    graph = StateGraph(schema)
    graph.add_node("node", node)
    graph.add_edge(START, "node")
    graph.add_edge("node", END)
    return graph.compile()


class Ticket(BaseModel):
    question: str = ""
    notes: str = ""
    verdict: str = ""


async def test_keys_and_session_can_be_chosen_in_a_state_of_any_kind(engine):
    builder, ada = builder_over(engine), member(engine.store)
    node = context_node(builder, gate=ada, session_id="ticket-7", query_key="question", output_key="notes")
    done = await alone(node, Ticket).ainvoke(Ticket(question=QUESTION), IN_MONDAY)
    assert "Priya Sharma reports to Sarah Chen." in done["notes"]
    assert list(await engine.store.injections("monday")) == []
    assert len(await engine.store.injections("ticket-7")) == 1
    node = outcome_node(builder, gate=ada, session_id="ticket-7", outcome_key="verdict")
    await alone(node, Ticket).ainvoke(Ticket(verdict="Rejected"))
    (memory,) = await engine.store.get_memories(["m-report"])
    assert memory.feedback_weight == pytest.approx(0.45)


async def test_a_session_that_was_shown_nothing_is_reported_so(engine):
    node = outcome_node(builder_over(engine), gate=member(engine.store), report_key="report")
    done = await alone(node).ainvoke({"outcome": "accepted"}, {"configurable": {"thread_id": "never"}})
    assert done["report"] == {"applied": 0, "replaced": 0, "repeated": 0, "missing": 0, "denied": 0}


@pytest.mark.parametrize(
    ("node", "state", "config", "fault"),
    [
        (context_node, {"messages": [AIMessage("Hello.")]}, IN_MONDAY, "'messages' has no human message"),
        (context_node, {}, IN_MONDAY, "'messages' has no human message"),
        (context_node, ASKED, {}, "pass session_id=…, or run with config="),
        (outcome_node, {"outcome": "splendid"}, IN_MONDAY, "one of accepted, rework, rejected, not 'splendid'"),
        (outcome_node, {"outcome": ["accepted"]}, IN_MONDAY, "one of accepted, rework, rejected, not"),
        (outcome_node, {}, IN_MONDAY, "'outcome' must be one of accepted, rework, rejected, not None"),
        (outcome_node, {"outcome": "accepted"}, {}, "pass session_id="),
    ],
)
async def test_what_is_missing_is_named(engine, node, state, config, fault):
    made = node(builder_over(engine), gate=member(engine.store))
    with pytest.raises(InvalidInputError, match=fault):
        await alone(made).ainvoke(state, config)


async def test_a_thread_of_somebody_else_is_refused(engine):
    builder, eve = builder_over(engine), Gate(CEDAR, Principal(id="eve", projects=(engine.store.scope,)))
    await alone(context_node(builder, gate=member(engine.store))).ainvoke(ASKED, IN_MONDAY)
    logged = await engine.store.injections("monday")
    for node, state in ((context_node, ASKED), (outcome_node, {"outcome": "rejected"})):
        with pytest.raises(ForeignSessionError):
            await alone(node(builder, gate=eve)).ainvoke(state, IN_MONDAY)
    assert await engine.store.injections("monday") == logged


async def test_a_question_that_is_no_text_is_refused(engine):
    node = context_node(builder_over(engine), gate=member(engine.store), query_key="facts")
    with pytest.raises(InvalidInputError, match="query must be text"):
        await alone(node).ainvoke({"facts": {}}, IN_MONDAY)


async def test_messages_may_have_parts_and_be_plain_data(engine):
    node = context_node(builder_over(engine), gate=member(engine.store))
    parts: list[str | dict[Any, Any]] = [{"type": "text", "text": QUESTION}]
    for messages in ([HumanMessage(parts)], [("human", QUESTION)], [{"role": "user", "content": QUESTION}]):
        done = await node.ainvoke({"messages": messages}, IN_MONDAY)
        assert "Priya Sharma reports to Sarah Chen." in done["context"]


async def test_a_model_that_asks_for_context_itself_is_answered_by_the_tool_node(engine):
    builder, ada = builder_over(engine), member(engine.store)
    tools = [context_tool(builder, gate=ada), outcome_tool(builder, gate=ada)]
    calls = [{"name": "look_up", "args": {"question": QUESTION}, "id": "1"}]
    verdict = [{"name": "report_outcome", "args": {"outcome": "accepted"}, "id": "2"}]
    model = model_that_says(AIMessage("", tool_calls=calls), AIMessage("", tool_calls=verdict), AIMessage("To Sarah."))

    def answer(state: Any) -> State:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(State)
    graph.add_node("answer", answer)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "answer")
    graph.add_conditional_edges("answer", tools_condition)
    graph.add_edge("tools", "answer")
    done = await graph.compile(checkpointer=InMemorySaver()).ainvoke(ASKED, IN_MONDAY)
    assert "Priya Sharma reports to Sarah Chen." in model.asked[1][-1].content
    assert done["messages"][-1].content == "To Sarah."
    (memory,) = await engine.store.get_memories(["m-report"])
    assert memory.feedback_weight == pytest.approx(0.55)


async def test_what_is_said_is_remembered_once_with_the_facts_in_the_state(engine):
    node = remember_node(engine, gate=member(engine.store, role="editor"), report_key="stated", extractor=None)
    said = [HumanMessage("Tom Reed reports to Dana Levy."), SystemMessage("Hidden."), AIMessage("Noted.")]
    state = {"messages": said, "stated_facts": ["Tom Reed | reports to | Dana Levy"]}
    assert await node.ainvoke(state, IN_MONDAY) == {"stated": ["1 new"]}
    memories = await engine.store.get_memories(["monday:0", "monday:1", "monday:2"])
    assert [(each.id, each.speaker, each.text) for each in memories] == [
        ("monday:0", "user", "Tom Reed reports to Dana Levy."),
        ("monday:2", "assistant", "Noted."),
    ]
    more = {"messages": [*said, HumanMessage("He uses Vim.")], "stated_facts": [Fact("Tom Reed", "uses", "Vim")]}
    assert node.invoke(more, IN_MONDAY) == {"stated": ["1 new"]}
    claims = await engine.store.list_claims(memory_ids=["monday:0", "monday:3"])
    assert {(each.memory_id, each.type) for each in claims} == {("monday:0", "reports_to"), ("monday:3", "uses")}
    bad = {"messages": said, "stated_facts": ["Tom"]}
    with pytest.raises(InvalidInputError, match="'Tom' must be: subject"):
        await node.ainvoke(bad, IN_MONDAY)
