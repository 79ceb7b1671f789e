"""What telemetry never contains, and that there is none unless it is asked for."""

import contextlib
import subprocess
import sys
from typing import Any

import pytest

from graphsearch import (
    Curator,
    Gate,
    GraphSearchEngine,
    GraphSearchError,
    Ingestor,
    Memory,
    Outcome,
    Principal,
    telemetry,
)
from graphsearch._support import observing
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.errors import LLMError, MissingExtraError
from graphsearch.llms import OpenAILLM
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.llms.llm_server import fail, reply, serving

MARK = "Zyxomma"
"""Stands in every name, text, question and id below."""


async def embed(text):
    return (await HashEmbedder().embed([text]))[0]


async def test_no_text_question_answer_or_id_is_recorded(scoped, reported, tmp_path):
    (tmp_path / f"{MARK.lower()}.py").write_text(f"def {MARK}():\n    '{MARK} is done.'\n")
    (tmp_path / "notes.md").write_text(f"{MARK} Lovelace works with Charles {MARK}.")
    (tmp_path / "broken.jsonl").write_text(f"{{{MARK}")
    engine = GraphSearchEngine(store=scoped, embedder=embed)
    await Ingestor(engine).add(tmp_path, name=MARK)
    text = f"{MARK} Lovelace works with Charles {MARK}. {MARK} Lovelace reports to Mary {MARK}."
    memory = Memory(id=MARK, text=text, subject=MARK, speaker=MARK, session_id=MARK, occurred_at=FixedClock().now())
    await Ingestor(engine).remember([memory])
    names = [entity.name for entity in await scoped.list_entities()]
    assert sum(MARK.casefold() in name.casefold() for name in names) >= 3
    ada = Gate(CedarAuthorizer.default(), Principal(id=MARK, projects=[scoped.scope], attributes={"team": MARK}))
    context = ContextBuilder(engine)
    block = await context.build(f"What does {MARK} do?", gate=ada, session_id=MARK)
    assert MARK in block.text
    await context.feedback(MARK, Outcome.ACCEPTED, gate=ada)
    for mode in ("graph_completion", "neighborhood", "triplet_completion"):
        await engine.search(MARK, mode=mode)
    await engine.rank_entities(MARK)
    await engine.explain(MARK, MARK)
    await Curator(engine).forget(MARK)
    wrong: list[dict[str, Any]] = [{"mode": MARK}, {"limit": -1}, {"as_of": MARK}]
    for options in wrong:
        with pytest.raises(GraphSearchError):
            await engine.search(MARK, **options)
    with contextlib.suppress(GraphSearchError):
        await engine.path(MARK, f"{MARK} too")
    with serving() as server:
        model = OpenAILLM("a-model", base_url=server.openai_url, max_retries=0)
        assert MARK in await model.ask(f"Who is {MARK}?")
        server.answers.append(fail(400, f"{MARK} is not allowed"))
        with pytest.raises(LLMError, match=MARK):
            await model.ask(MARK)
        server.answers.append(reply(f"{MARK} Lovelace works with Charles [1]."))
        asking = GraphSearchEngine(store=scoped, embedder=embed, llm=model)
        found = await asking.search(MARK, mode="summary", gate=ada)
        assert MARK in str(found.summary)
        with contextlib.suppress(GraphSearchError):
            await asking.search(MARK, mode="natural_language", gate=ada)
    assert len(reported.spans) > 50
    assert MARK.casefold() not in reported.everything().casefold()
    assert all(span.events == () for span in reported.spans)


async def test_the_name_of_an_unknown_mode_is_not_recorded_either(scoped, reported):
    with pytest.raises(LookupError):
        await GraphSearchEngine(store=scoped).search("question", mode=MARK)
    (search,) = reported.named("graphsearch.search")
    assert dict(search.attributes) == {
        "graphsearch.operation": "search",
        "error.type": "graphsearch.errors.UnknownModeError",
    }


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "graphsearch.telemetry.reporting", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'graphsearch\[telemetry\]'"):
        telemetry.instrument()
    assert observing.watcher is None


def test_nothing_of_it_is_imported_before_it_is_asked_for():
    script = """
import asyncio, sys
import graphsearch.telemetry
from graphsearch import Entity, GraphSearchEngine, Batch
from graphsearch.stores import InMemoryGraphStore

async def main():
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    await store.write(Batch(entities=[Entity(type="tool", name="TLS")]))
    await GraphSearchEngine(store=store).search("TLS", mode="neighborhood")

asyncio.run(main())
print([name for name in sys.modules if name.startswith("opentelemetry")])
graphsearch.telemetry.instrument()
print("opentelemetry.sdk" in sys.modules, "opentelemetry.trace" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\nFalse True\n"
