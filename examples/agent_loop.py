"""An agent that learns from the outcomes of its sessions: get context, answer, report the outcome, repeat.

Run it with ``python -m examples.agent_loop``. The graph holds two notes that answer one question, one of them out of
date, and the token budget fits only one. The model is a stub that believes what it reads first; any ``async ask(text)``
fits in its place, such as `graphsearch.OpenAILLM`.
"""

from __future__ import annotations

import asyncio
import re
from typing import Final

import attrs

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Outcome, Principal
from graphsearch.protocols import LLM, GraphStore
from graphsearch.stores.memory import InMemoryGraphStore

QUESTION: Final = "which command deploys Atlas?"
NOTES: Final = (
    Memory(id="old", speaker="Dana Levy", text="The command that deploys Atlas is `make ship`."),
    Memory(id="new", speaker="Dana Levy", text="The command that deploys Atlas now is `make release`."),
    Memory(id="index", speaker="Priya Sharma", text="Atlas rebuilds its index every night."),
)
WORKS: Final = "make release"
BUDGET: Final = 32
"""Tokens: enough for one observation."""


class FirstThatFits:
    """A stub model: it answers with the first command in its prompt."""

    async def ask(self, text: str) -> str:
        """The command, or that there is none."""
        found = re.search(r"`([^`]+)`", text)
        return found.group(1) if found else "I do not know."


@attrs.frozen
class Session:
    """One task of the agent: its answer, and its outcome."""

    id: str
    answer: str
    outcome: Outcome


@attrs.frozen
class Agent:
    """A model with a graph as its memory."""

    model: LLM
    context: ContextBuilder
    gate: Gate

    async def work(self, session_id: str, question: str) -> Session:
        """Answer a question from the graph, and report the outcome."""
        block = await self.context.build(question, gate=self.gate, session_id=session_id, budget=BUDGET)
        answer = await self.model.ask(f"{block.text}\n\nAnswer from what is above: {question}")
        outcome = Outcome.ACCEPTED if answer == WORKS else Outcome.REJECTED
        await self.context.feedback(session_id, outcome, gate=self.gate)
        return Session(session_id, answer, outcome)


async def run(store: GraphStore, sessions: int) -> list[Session]:
    """Answer the same question in one session after another."""
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    await Ingestor(engine).remember(NOTES)
    gate = Gate(CedarAuthorizer.default(), Principal(id="bot", type="Agent", projects=(store.scope,)))
    agent = Agent(FirstThatFits(), ContextBuilder(engine), gate)
    return [await agent.work(f"session-{number}", QUESTION) for number in range(1, sessions + 1)]


async def main() -> None:
    """Print each session, and the final weights of the notes."""
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    for session in await run(store, 6):
        print(f"{session.id}: {session.answer:14} {session.outcome.name.lower()}")
    for memory in await store.get_memories([note.id for note in NOTES]):
        print(f"{memory.feedback_weight:.3f}  {memory.text}")


if __name__ == "__main__":
    asyncio.run(main())
