"""Scopes of one organisation on both stores, and one scope that holds everything of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from graphsearch import CedarAuthorizer, Gate, GraphSearchEngine, Ingestor, Memory, Principal
from graphsearch.federation.engine import FederatedEngine
from graphsearch.testing.fakes import HashEmbedder

CEDAR = CedarAuthorizer.default()
TEXTS: Mapping[str, Sequence[str]] = {
    "me": ("Ada prefers tea in the morning.", "Ada works at Globex."),
    "team": ("Bob works at Globex.", "Ada manages Bob.", "Bob leads the Apollo project."),
    "company": ("Globex is based in Zurich.", "Ada works at Globex.", "Apollo uses Postgres."),
}
QUESTIONS = ("Where does Ada work?", "Who leads Apollo?", "Where is Globex based?")


async def engine_with(store, memories):
    """The engine of a scope in which memories were written."""
    engine = GraphSearchEngine(store=store, embedder=HashEmbedder(32))
    await Ingestor(engine).remember(memories)
    return engine


def memories_of(texts, prefix="m", **fields):
    return [Memory(id=f"{prefix}{number}", text=text, **fields) for number, text in enumerate(texts)]


async def engines_of(scopes, texts=TEXTS):
    """One engine for each scope, with its texts."""
    return [await engine_with(scopes(name), memories_of(some)) for name, some in texts.items()]


def member(*engines, id="ada", **attributes):
    """The gate of a member of the projects of some engines."""
    projects = tuple(engine.store.scope for engine in engines)
    return Gate(CEDAR, Principal(id=id, attributes=attributes, projects=projects))


async def answers(engine: FederatedEngine | GraphSearchEngine, question, gate=None):
    """All answers to a question, without timings, on which two runs never agree, and without scopes."""
    found = await engine.search(question, gate=gate, limit=8)
    recalled = await engine.recall(question, gate=gate, limit=8)
    ranked = await engine.rank_entities(question, gate=gate, limit=8)
    return (
        [(each.relation, each.source, each.target, each.breakdown, each.path) for each in found.triplets],
        (found.anchors, found.found, found.reason, found.denied, found.left_out, found.interpretation),
        [(each.memory, each.score, each.channels, each.path, each.until) for each in recalled.memories],
        (recalled.relevance, recalled.found, recalled.denied, recalled.reason, recalled.rarity),
        [attrs.evolve(each, scopes=()) for each in ranked.entities],
        (ranked.found, ranked.denied, ranked.reason),
    )
