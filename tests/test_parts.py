"""Parts of an engine are checked when they are given, with an error that says what to write."""

from functools import partial
from typing import Any

import pytest

from graphsearch import sync
from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, LLMError
from graphsearch.ingest import Ingestor, LLMExtractor
from graphsearch.llms import Budget, BudgetedLLM
from graphsearch.llms.function import FunctionLLM, as_llm
from graphsearch.model import Memory
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.traversal.pagerank import PersonalizedPageRank
from graphsearch.traversal.paths import KHopTraversal

STORE = InMemoryGraphStore().with_scope(org_id="acme", project_id="parts")


async def answer(text: str) -> str:
    return f"answer to {text}"


async def embed(text: str) -> list[float]:
    return [float(len(text)), 1.0]


class Model:
    async def ask(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ({"store": InMemoryGraphStore()}, r"store: must be the graph of one scope: pass store\.with_scope\(org_id=…"),
        ({"store": "postgresql://db"}, "store: must be the graph of one scope: not str"),
        ({"llm": {"model": "gpt"}}, r"llm: must have async ask\(text\) -> str, or be such a function, not dict"),
        ({"llm": Model}, r"llm: .* not Model, a class: pass Model\(…\)"),
        ({"traversal": PersonalizedPageRank}, r"traversal: .* a class: pass PersonalizedPageRank\(…\)"),
        ({"traversal": "page_rank"}, "traversal: must be k_hop or pagerank, or .* not 'page_rank'"),
        (
            {"embedder": lambda _: embed("")},
            r"has no name of its own.*write async def embed\(text\), or FunctionEmbedder",
        ),
        ({"embedder": partial(embed)}, "has no name of its own"),
        ({"embedder": object}, "pass an instance"),
    ],
)
def test_what_is_no_part_is_refused_when_it_is_given(part: dict[str, Any], fault: str) -> None:
    with pytest.raises(InvalidInputError, match=fault):
        GraphSearchEngine(**{"store": STORE, **part})


def test_a_blocking_engine_needs_a_scope_as_well():
    unscoped: Any = sync.InMemoryGraphStore()
    with pytest.raises(InvalidInputError, match="with_scope"):
        sync.GraphSearchEngine(store=unscoped)


async def test_a_function_is_a_language_model_wherever_one_is_taken():
    no_model: Any = {}
    at_once: Any = str.upper
    engine: Any = GraphSearchEngine(store=STORE, llm=answer, embedder=embed)
    assert await engine.llm.ask("x") == "answer to x"
    assert as_llm(engine.llm) is engine.llm
    assert await BudgetedLLM(answer, Budget(calls=1)).ask("y") == "answer to y"
    with pytest.raises(LLMError, match="must answer with text"):
        await FunctionLLM(at_once).ask("")
    for taken in (
        lambda: LLMExtractor(no_model),
        lambda: BudgetedLLM(no_model, Budget()),
        lambda: Ingestor(engine, judge=no_model, gate=ALLOW_ALL),
    ):
        with pytest.raises(InvalidInputError, match="llm: must have async ask"):
            taken()
    for asked in (Curator(engine).judge_duplicates(no_model), Curator(engine).summarise_communities(no_model)):
        with pytest.raises(InvalidInputError, match="llm: must have async ask"):
            await asked


async def test_a_traversal_has_a_name_or_is_an_object():
    assert isinstance(GraphSearchEngine(store=STORE).traversal, KHopTraversal)
    ranked = PersonalizedPageRank(max_entities=3)
    assert GraphSearchEngine(store=STORE, traversal=ranked).traversal is ranked
    await Ingestor(GraphSearchEngine(store=STORE)).remember([Memory(id="m", text="Ada Quist works at Globex.")])
    engine = GraphSearchEngine(store=STORE)
    found = {
        name: await engine.search("Ada Quist?", mode="neighborhood", traversal=name) for name in ("k_hop", "pagerank")
    }
    assert [each.triplets[0].target.name for each in found.values()] == ["Globex", "Globex"]
    with pytest.raises(InvalidInputError, match="k_hop or pagerank"):
        await engine.search("Ada Quist?", mode="neighborhood", traversal="walk")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        (
            [{"id": "m", "text": "x"}],
            r"each must be a Memory, not dict: write Memory\(id=…, text=…\), or transcript_memories",
        ),
        (["x"], "not str: write Memory"),
        ({"id": "m"}, "must be a list of Memory, not dict"),
        ("x", "must be a list of Memory, not str"),
        (Memory(id="m", text="x"), "must be a list of Memory, not Memory"),
    ],
)
async def test_what_is_no_list_of_memories_says_how_to_write_one(given: Any, fault: str) -> None:
    with pytest.raises(InvalidInputError, match=fault):
        await Ingestor(GraphSearchEngine(store=STORE)).remember(given)


async def test_a_folder_may_be_named_by_text(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").write_text("def one(): ...\n")
    monkeypatch.chdir(tmp_path)
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="folder")
    assert (await Ingestor(GraphSearchEngine(store=store)).add("src")).files == 1
