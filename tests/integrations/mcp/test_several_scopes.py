"""context, recall, search and rank_entities over a server that asks other projects with its own."""

from __future__ import annotations

from functools import cache

import attrs
import pytest

from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.integrations.mcp.server import make_server
from graphsearch.model import Memory, Principal, Scope
from graphsearch.operations.operation import Profile
from graphsearch.operations.service import GraphService, Identity
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder
from tests.integrations.mcp.conftest import asking

QUESTION = "Where does Ada work?"
TEXTS = {"web": "Ada works at Globex.", "team": "Ada leads the Apollo project.", "other": "Ada owns Initech."}
WEB, TEAM, OTHER = (Scope("acme", project) for project in TEXTS)
ADA = Principal(id="ada", attributes={"role": "editor"}, projects=[WEB, TEAM])


@pytest.fixture
async def engine_of():
    """The engine of each project, in which one memory is written."""
    stores, embedder = InMemoryGraphStore(), HashEmbedder(32)

    @cache
    def found(scope):
        store = stores.with_scope(org_id=scope.org_id, project_id=scope.project_id)
        return GraphSearchEngine(store=store, embedder=embedder)

    for project, text in TEXTS.items():
        await Ingestor(found(Scope("acme", project))).remember([Memory(id=f"of-{project}", text=text)])
    return found


@pytest.fixture
def server_asking(engine_of):
    service = GraphService(engine_of=engine_of, authorizer=CedarAuthorizer.default(), profile=Profile.ALL)

    def server(*also, principal=ADA):
        return make_server(service, Identity(principal, WEB, also=also))

    return server


async def logged(engine):
    return {each for entry in await engine.store.injections("s1") for each in entry.elements}


async def weight(engine, id):
    [memory] = await engine.store.get_memories([id])
    return memory.feedback_weight


async def test_questions_are_asked_of_every_scope_and_answers_name_their_projects(server_asking):
    async with asking(server_asking(TEAM)) as ask:
        recalled = (await ask("recall", query=QUESTION))["memories"]
        assert {each["id"]: each["projects"] for each in recalled} == {"of-web": ["web"], "of-team": ["team"]}
        found = (await ask("search", query=QUESTION))["triplets"]
        assert {each["line"].split(" --")[1].split("--")[0]: each["projects"] for each in found} == {
            "works_at": ["web"],
            "leads": ["team"],
        }
        ranked = (await ask("rank_entities", query=QUESTION))["entities"]
        assert {each["name"]: each["projects"] for each in ranked} == {
            "Ada": ["team", "web"],
            "Globex": ["web"],
            "Apollo": ["team"],
        }
        assert "- [team] Ada --leads--> Apollo" in (await ask("graph_query", query=QUESTION))["text"]


async def test_an_outcome_reaches_the_logs_of_every_scope(server_asking, engine_of):
    async with asking(server_asking(TEAM)) as ask:
        await ask("graph_query", query=QUESTION, session_id="s1")
        logs = [await logged(engine_of(scope)) for scope in (WEB, TEAM, OTHER)]
        assert list(map(bool, logs)) == [True, True, False]
        await ask("feedback", session_id="s1", outcome="accepted")
    assert await weight(engine_of(WEB), "of-web") > 0.5
    assert await weight(engine_of(TEAM), "of-team") > 0.5
    assert await weight(engine_of(OTHER), "of-other") == 0.5


async def test_a_scope_that_the_principal_may_not_enter_takes_no_part(server_asking, engine_of):
    answers = []
    for also in ((TEAM,), (TEAM, OTHER)):
        async with asking(server_asking(*also)) as ask:
            answers.append([await ask(tool, query=QUESTION) for tool in ("recall", "search", "rank_entities")])
            block = await ask("graph_query", query=QUESTION, session_id="s1")
            answers[-1].append(block["text"])
    assert answers[0] == answers[1]
    assert "Initech" not in str(answers)
    assert not await logged(engine_of(OTHER))


async def test_writes_stay_in_the_project_of_the_server(server_asking, engine_of):
    async with asking(server_asking(TEAM)) as ask:
        await ask("remember", text="Ada likes tea.")
    counts = [(await engine_of(scope).store.statistics()).memories for scope in (WEB, TEAM)]
    assert counts == [2, 1]


async def test_no_argument_names_a_scope_and_configured_ones_must_be_right(server_asking):
    async with asking(server_asking()) as ask:
        assert (await ask.error("recall", query=QUESTION, also=["team"]))["type"] == "InvalidInputError"
    nowhere = Scope("acme", "nowhere")
    member = attrs.evolve(ADA, projects=[WEB, nowhere])
    async with asking(server_asking(nowhere, principal=member)) as ask:
        found = await ask("recall", query=QUESTION)
        assert [each["id"] for each in found["memories"]] == ["of-web"], "a new project is empty"
    async with asking(server_asking(WEB)) as ask:
        assert (await ask.error("recall", query=QUESTION))["type"] == InvalidInputError.__name__
