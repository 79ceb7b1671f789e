"""An agent that reads notes, states facts, asks, corrects itself, and is better the second time.

Run it with ``python -m examples.agent_loop``. Nothing but the model reads the notes: it states what it understood, and
the graph answers fact by fact what became of it. The model here is scripted, and hasty at first: it turns a fact round,
which the text contradicts. Any ``async ask(text) -> str`` fits in its place, such as `graphsearch.OpenAILLM`.
"""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime
from typing import Final

import attrs

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor, outcome, read_fact
from graphsearch.model import FactStatus, Memory, Outcome, Principal
from graphsearch.protocols import LLM
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore

NOTE: Final = Memory(
    id="kick-off",
    text="Jonas Weber leads Lighthouse. Jonas Weber reports to Derek Hsu.",
    occurred_at=datetime(2024, 3, 4, tzinfo=UTC),
)
NEWS: Final = Memory(
    id="hand-over",
    text="Jonas Weber stopped leading Lighthouse on 14 March. Since then Amara Okafor leads Lighthouse.",
    occurred_at=datetime(2024, 3, 20, tzinfo=UTC),
)
SCRIPT: Final = {
    "contradicts": "Jonas Weber | leads | Lighthouse\nJonas Weber | reports to | Derek Hsu | “reports to Derek Hsu”",
    "kick-off": "Jonas Weber | leads | Lighthouse\nDerek Hsu | reports to | Jonas Weber | “reports to Derek Hsu”",
    "hand-over": "Jonas Weber | leads | Lighthouse | until 14 March | ended\n"
    "Amara Okafor | leads | Lighthouse | since 14 March",
}
"""What the model states, by a word of its prompt."""
ASKED: Final = {
    "Who does Jonas Weber report to?": (r"Jonas Weber --reports_to--> ([^(—\n]+)", "Derek Hsu"),
    "Who leads Lighthouse?": (r"- ([^-\n]+) --leads--> Lighthouse", "Amara Okafor"),
}
"""What the model looks for in a block, by the question, and what is right."""


class Scripted:
    """A stub model: it states facts as scripted, and answers with what a block says."""

    async def ask(self, text: str) -> str:
        """The facts of the note in a prompt, or the answer to the question in it."""
        for question, (pattern, _) in ASKED.items():
            if question in text:
                found = re.search(pattern, text)
                return found.group(1).strip() if found else "I do not know."
        return next(facts for word, facts in SCRIPT.items() if word in text)


@attrs.frozen
class Session:
    """One task of the agent: its answer, and its outcome."""

    question: str
    answer: str
    outcome: Outcome


@attrs.frozen
class Agent:
    """A model with a graph as its memory, on behalf of a principal."""

    model: LLM
    engine: GraphSearchEngine
    gate: Gate

    async def learn(self, note: Memory, said: str = "") -> str:
        """State the facts of a note, and return what became of each; ``said`` is what became of them before."""
        prompt = f"State the facts of the note {note.id}, one a line: {note.text}\n{said}"
        facts = [read_fact(line) for line in (await self.model.ask(prompt)).splitlines()]
        ingestor = Ingestor(self.engine, extractor=None, gate=self.gate)
        report = await ingestor.remember([attrs.evolve(note, facts=facts)])
        return "\n".join(map(outcome, report.stated))

    async def work(self, session_id: str, question: str) -> Session:
        """Answer a question from the graph, and report the outcome."""
        context = ContextBuilder(self.engine)
        block = await context.build(question, gate=self.gate, session_id=session_id)
        answer = await self.model.ask(f"{block.text}\n\nAnswer from what is above: {question}")
        right = answer == ASKED[question][1]
        result = Outcome.ACCEPTED if right else Outcome.REJECTED
        await context.feedback(session_id, result, gate=self.gate)
        return Session(question, answer, result)


async def run(store: GraphStore) -> list[Session | str]:
    """What became of the facts, and the sessions, in order."""
    engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
    bot = Principal(id="bot", type="Agent", attributes={"role": "editor"}, projects=(store.scope,))
    agent = Agent(Scripted(), engine, Gate(CedarAuthorizer.default(), bot))
    boss, lead = ASKED
    steps: list[Session | str] = [said := await agent.learn(NOTE), await agent.work("session-1", boss)]
    if FactStatus.CONTRADICTS in said:
        steps.append(await agent.learn(NOTE, said))
    steps += [await agent.work("session-2", boss), await agent.learn(NEWS), await agent.work("session-3", lead)]
    return steps


async def main() -> None:
    """Print what became of the facts, and each session."""
    for step in await run(InMemoryGraphStore().with_scope(org_id="acme", project_id="web")):
        print(step if isinstance(step, str) else f"{step.question} {step.answer} ({step.outcome.name.lower()})")


if __name__ == "__main__":
    asyncio.run(main())
