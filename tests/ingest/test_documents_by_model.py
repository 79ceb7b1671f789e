"""Folders read by a language model: only what changed is paid for, and a budget leaves off and goes on by the chunk."""

from __future__ import annotations

from pathlib import Path

import pytest

from graphsearch.errors import LLMUnavailableError
from graphsearch.ingest import Ingestor, IngestReport
from graphsearch.llms import Budget, BudgetedLLM
from graphsearch.protocols import LLM
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import HashEmbedder
from tests.ingest.extract.llm.model import Model, extractor
from tests.ingest.extract.llm.test_remember import Down
from tests.ingest.folders import Parts, graph, put_lines, triplets


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


def page(root: Path, *sentences: str, name: str = "page.md") -> Path:
    """A document with a chunk a sentence."""
    root.mkdir(exist_ok=True)
    (root / name).write_text("\n".join(f"# {each.split()[0]}\n\n{each}\n" for each in sentences))
    return root


async def add(parts: Parts, folder: Path, llm: LLM) -> IngestReport:
    return await Ingestor(parts, extractor=extractor(llm, memories=1, at_once=2)).add(folder)


KNOWN = ["Ann knows Bob.", "Cy thanks Di.", "Ed hails Flo.", "Gus hears Hal.", "Ike greets Joe."]


def as_triplets(sentences: list[str]) -> set[tuple[str, str, str]]:
    return {(a, verb, b) for a, verb, b in (each.rstrip(".").split() for each in sentences)}


async def test_a_folder_is_read_once(tmp_path: Path, parts: Parts) -> None:
    llm = Model()
    report = await add(parts, page(tmp_path, *KNOWN), llm)
    assert (report.files, report.changed, report.left, report.faults) == (1, 1, 0, ())
    assert await triplets(parts.store) == as_triplets(KNOWN)
    assert len(llm.questions) == 5
    again = Model()
    assert (await add(parts, tmp_path, again)).changed == 0
    assert again.questions == []


async def test_only_the_chunk_that_an_edit_touched_is_read_again(tmp_path: Path, parts: Parts) -> None:
    await add(parts, page(page(tmp_path, *KNOWN), "Kay hails Lou.", name="other.md"), Model())
    edited = [*KNOWN[:2], "Ed misses Flo.", *KNOWN[3:]]
    llm = Model()
    await add(parts, page(tmp_path, *edited), llm)
    assert llm.asked == [["Ed misses Flo."]]
    assert await triplets(parts.store) == as_triplets([*edited, "Kay hails Lou."])


async def test_chunks_that_only_moved_are_not_read_again(tmp_path: Path, parts: Parts) -> None:
    await add(parts, page(tmp_path, *KNOWN), Model())
    more = ["Zoe greets Yan.", *KNOWN]
    llm = Model()
    await add(parts, page(tmp_path, *more), llm)
    assert llm.asked == [["Zoe greets Yan."]]
    whole = Parts()
    await add(whole, tmp_path, Model())
    assert await graph(parts.store) == await graph(whole.store)


async def test_a_budget_leaves_off_and_goes_on_by_the_chunk(tmp_path: Path, parts: Parts) -> None:
    folder = page(page(tmp_path / "src", *KNOWN), "Kay hails Lou.", name="zeta.md")
    models = [Model(), Model(), Model()]
    reports = [await add(parts, folder, BudgetedLLM(llm, Budget(calls=3))) for llm in models]
    assert [report.left for report in reports] == [3, 0, 0]
    asked = [text for llm in models for texts in llm.asked for text in texts]
    assert sorted(asked) == sorted([*KNOWN, "Kay hails Lou."])
    assert [report.changed for report in reports] == [0, 2, 0]
    whole = Parts()
    await add(whole, folder, Model())
    assert await graph(parts.store) == await graph(whole.store)


async def test_while_a_text_is_left_nothing_that_its_file_held_is_forgotten(tmp_path: Path, parts: Parts) -> None:
    await add(parts, page(tmp_path, *KNOWN), Model())
    edited = [*KNOWN[:4], "Ike mocks Joe."]
    report = await add(parts, page(tmp_path, *edited), BudgetedLLM(Model(), Budget(calls=0)))
    assert (report.left, report.forgotten) == (1, 0)
    assert await triplets(parts.store) == as_triplets(KNOWN)
    assert (await add(parts, tmp_path, Model())).forgotten == 1
    assert await triplets(parts.store) == as_triplets(edited)


async def test_a_chunk_that_cannot_be_read_is_a_fault_each_time_until_it_can(tmp_path: Path, parts: Parts) -> None:
    folder = page(tmp_path, *KNOWN)
    riddled = Model(failing=lambda _, some: "?" if "Cy" in some[0]["text"] else None)
    for questions in (6, 8):  # at first all, and the riddle once more; then the riddle alone, twice
        report = await add(parts, folder, riddled)
        (fault,) = report.faults
        assert fault.path == "page.md"
        assert "the language model could not read it" in fault.message
        assert len(riddled.questions) == questions
    mended = Model()
    assert (await add(parts, folder, mended)).faults == ()
    assert mended.asked == [["Cy thanks Di."]]
    assert await triplets(parts.store) == as_triplets(KNOWN)


async def test_a_model_that_is_down_is_an_error_and_what_was_read_stays(tmp_path: Path, parts: Parts) -> None:
    folder = page(tmp_path, *KNOWN)
    with pytest.raises(LLMUnavailableError):
        await add(parts, folder, Down(after=2))
    assert await triplets(parts.store) == as_triplets(KNOWN[:2])
    again = Model()
    await add(parts, folder, again)
    assert len(again.questions) == 3
    assert await triplets(parts.store) == as_triplets(KNOWN)


async def test_another_embedder_embeds_anew_what_is_not_read_again(tmp_path: Path, parts: Parts) -> None:
    folder = page(tmp_path, *KNOWN)
    parts.embedder = None
    await add(parts, folder, Model())
    parts.embedder = HashEmbedder(8)
    llm = Model()
    report = await add(parts, folder, llm)
    assert (llm.questions, report.embedded >= 5) == ([], True)


async def test_a_line_that_is_left_in_one_part_of_a_file_makes_all_of_it_look_changed(
    tmp_path: Path, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphsearch.ingest.sources.json_lines.PART_LINES", 2)
    monkeypatch.setattr("graphsearch.ingest.folders._ELEMENTS", 0)
    lines = [{"memory": {"id": f"m{at}", "text": text}} for at, text in enumerate(KNOWN)]
    put_lines(tmp_path, "notes.jsonl", *lines)
    riddled = Model(failing=lambda _, some: "?" if "Ann" in some[0]["text"] else None)
    (fault,) = (await add(parts, tmp_path, riddled)).faults
    assert str(fault).startswith("notes.jsonl: m0: the language model could not read it")
    mended = Model()
    await add(parts, tmp_path, mended)
    assert mended.asked == [["Ann knows Bob."]]
    assert await triplets(parts.store) == as_triplets(KNOWN)
    assert (await add(parts, tmp_path, Model())).changed == 0
