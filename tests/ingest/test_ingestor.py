"""Folders into a store: idempotent, incremental, and not stopped by a broken file."""

import random
from pathlib import Path

import pytest

from graphsearch.errors import EmbeddingModelError, InvalidInputError
from graphsearch.ingest import ingestor
from graphsearch.ingest.extract.extraction import Fault
from graphsearch.ingest.sources import json_lines
from graphsearch.ingest.write import writer
from graphsearch.model import ElementKind, View
from graphsearch.model.identity import entity_id
from graphsearch.testing.fakes import NOON, HashEmbedder
from tests.fix_stores import minted
from tests.ingest.folders import Parts, graph, names, put, put_lines, triplets

A = "import b\ndef f():\n    b.g()\n"
B = '"""Bees."""\nimport os\ndef g():\n    """Gives."""\nclass C: ...\n'
ADA = {"type": "person", "name": "Ada"}
ACME = {"type": "organisation", "name": "Acme"}
EVE = {"type": "person", "name": "Eve"}


async def test_a_folder_becomes_a_graph(tmp_path: Path) -> None:
    parts = Parts()
    report = await parts.add(put(tmp_path, a=A, b=B))
    assert (report.files, report.changed, report.forgotten, report.removed, report.faults) == (2, 2, 0, 0, ())
    assert (report.entities, report.embedded, report.relations) == (6, 6, 6)
    assert await triplets(parts.store) == {
        ("a", "imports", "b"),
        ("a", "defines", "a.f"),
        ("a.f", "calls", "b.g"),
        ("b", "imports", "os"),
        ("b", "defines", "b.g"),
        ("b", "defines", "b.C"),
    }
    (call,) = await parts.store.list_relations(type="calls")
    assert (call.fact, call.evidence) == ("a.py:3", ("file:a.py",))
    assert call.confidence == pytest.approx(0.96)


async def test_the_same_folder_twice_changes_nothing(tmp_path: Path) -> None:
    parts = Parts()
    put_lines(put(tmp_path, a=A, b=B), "x.jsonl", {"entity": ADA}, {"memory": {"id": "m", "text": "Ada."}})
    await parts.add(tmp_path)
    before = await graph(parts.store)
    report = await parts.add(tmp_path)
    assert (report.files, report.changed, report.entities, report.relations, report.embedded) == (3, 0, 0, 0, 0)
    assert await graph(parts.store) == before


async def test_a_changed_file_replaces_what_it_proved(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A, b=B))
    put(tmp_path, a="import b\ndef f2():\n    b.C()\n")
    report = await parts.add(tmp_path)
    assert (report.changed, report.entities, report.embedded, report.removed) == (1, 1, 1, 1)
    assert await triplets(parts.store, "calls") == {("a.f2", "calls", "b.C")}
    assert "a.f" not in await names(parts.store)


async def test_a_definition_that_is_gone_is_gone_from_its_callers(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A, b=B))
    put(tmp_path, b="class C: ...\n")
    report = await parts.add(tmp_path)
    assert report.changed == 2, "the caller is read again although it did not change"
    assert await triplets(parts.store, "calls") == set()
    assert await names(parts.store) == {"a", "a.f", "b", "b.C"}


async def test_a_file_that_is_gone_is_forgotten(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A, b=B))
    (tmp_path / "b.py").unlink()
    report = await parts.add(tmp_path)
    assert report.forgotten == 1
    assert await names(parts.store) == {"a", "a.f", "b"}
    (module,) = await parts.store.get_entities([minted("module", "b")])
    assert (module.description, dict(module.attributes), module.importance_weight) == ("", {}, 0.3)


async def test_a_folder_that_is_emptied_leaves_nothing(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A, b=B))
    (tmp_path / "a.py").unlink()
    (tmp_path / "b.py").unlink()
    report = await parts.add(tmp_path)
    assert report.forgotten == 2
    assert await graph(parts.store) == await graph_of_nothing(parts)


async def graph_of_nothing(parts: Parts) -> dict[str, object]:
    statistics = await parts.store.statistics()
    assert (statistics.entities, statistics.relations, statistics.memories) == (0, 0, 0)
    return {"entities": [], "relations": [], "memories": [], "mentions": set(), "claims": set()}


async def test_an_edit_that_says_nothing_new_writes_no_entity(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A))
    put(tmp_path, a=f"{A}\n\n")
    report = await parts.add(tmp_path)
    assert (report.changed, report.entities, report.relations) == (1, 0, 0)
    assert (await parts.add(tmp_path)).changed == 0


@pytest.mark.parametrize("seed", range(6))
async def test_a_folder_that_changed_ends_as_if_taken_in_afresh(tmp_path: Path, seed: int) -> None:
    """Random edits of a small folder, ingested after each, against one ingest of the end."""
    rng = random.Random(seed)  # noqa: S311 - repeatable edits
    parts = Parts()
    for _ in range(6):
        for name in rng.sample(["a", "b", "pkg__init", "pkg__c"], rng.randint(1, 3)):
            others = rng.sample(["a", "b", "pkg", "pkg.c", "os"], 2)
            functions = rng.sample(["f", "g", "h", "_i"], rng.randint(0, 3))
            text = "".join(f"import {other}\n" for other in others)
            for function in functions:
                text += f"def {function}():\n    '''{rng.choice(['One', 'Two'])}.'''\n"
                text += f"    {rng.choice(others)}.{rng.choice('fgh')}(); {rng.choice('fgh')}()\n"
            put(tmp_path, **{name: text})
        if rng.random() < 0.4:
            rng.choice(python_files(tmp_path)).unlink()
        entity = {**ADA, "description": rng.choice(["Countess", "Engineer"])}
        lines = [{"entity": entity}, {"relation": {"source": ADA, "type": "wrote", "target": rng.choice([ACME, EVE])}}]
        notes = [{"memory": {"id": f"m{n}", "text": rng.choice("xyz")}} for n in rng.sample(range(4), 2)]
        put_lines(tmp_path, rng.choice(["x.jsonl", "y.jsonl"]), *rng.sample([*lines, *notes], 3))
        await parts.add(tmp_path)
    afresh = Parts()
    await afresh.add(tmp_path)
    assert await graph(parts.store) == await graph(afresh.store)
    for kind in (ElementKind.ENTITY, ElementKind.MEMORY):
        assert await nearest(parts, kind) == await nearest(afresh, kind)


def python_files(root: Path) -> list[Path]:
    return sorted(root.rglob("*.py"))


async def nearest(parts: Parts, kind: ElementKind) -> list[tuple[str, float]]:
    """Every element with a vector and its distance from a question: shows the vectors to be the same."""
    assert isinstance(parts.embedder, HashEmbedder)
    view = View(NOON.replace(year=9000), NOON.replace(year=9000))
    hits = await parts.store.search_by_embedding(kind, parts.embedder.vector("os function"), limit=500, view=view)
    ids = parts.store.entity_ids if kind is ElementKind.ENTITY else parts.store.memory_ids
    return [(str(id_), round(value, 5)) for id_, value in zip(ids(hits.keys), hits.values, strict=True)]


# -- broken input ---------------------------------------------------------------------------------------------------


async def test_broken_files_are_named_and_do_not_stop_the_rest(tmp_path: Path) -> None:
    put(tmp_path, a=A, broken="x = 1\ndef f(:\n", nul="x = '\0'\n")
    (tmp_path / "latin.py").write_bytes(b"# fine\nx = '\xe9'\n")
    (tmp_path / "late.py").write_bytes(b"\n" * 9 + b"x = '\xe9'\n")
    (tmp_path / "coded.py").write_bytes(b"# coding: latin-1\nx = '\xe9'\n")
    (tmp_path / "lies.py").write_bytes(b"# coding: klingon\n")
    (tmp_path / "large.py").write_bytes(b"#" * 2_000_001)
    parts = Parts()
    report = await parts.add(tmp_path)
    found = {(fault.path, fault.line) for fault in report.faults}
    expected = {("broken.py", 2), ("large.py", 0), ("late.py", 10), ("latin.py", 2), ("lies.py", 1), ("nul.py", 0)}
    assert {pair for pair in found if pair[0] != "nul.py"} | {("nul.py", 0)} == expected
    assert {"a", "coded"} <= await names(parts.store)
    again = await parts.add(tmp_path)
    assert again.faults == report.faults, "a fault is reported as long as it is there"
    assert again.changed == 0


async def test_what_a_broken_file_stated_stays_and_so_does_what_others_stated_of_it(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A, b=B, c="import b\n"))
    before = await graph(parts.store)
    put(tmp_path, b="def g(:\n")
    report = await parts.add(tmp_path)
    assert [fault.path for fault in report.faults] == ["b.py"]
    assert await graph(parts.store) == before
    put(tmp_path, c="import b\ndef h(): b.g()\n")
    await parts.add(tmp_path)
    assert ("a.f", "calls", "b.g") in await triplets(parts.store)
    (module,) = await parts.store.get_entities([minted("module", "b")])
    assert module.description == "Bees."
    put(tmp_path, b=B)
    await parts.add(tmp_path)
    assert ("c.h", "calls", "b.g") in await triplets(parts.store), "a file read along with a broken one is read again"


async def test_a_file_that_vanishes_between_the_readings_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = Parts()
    await parts.add(put_lines(put(tmp_path, a=A, b=B), "x.jsonl", {"entity": ADA}))
    put_lines(put(tmp_path, a=f"{A}# new\n"), "x.jsonl", {"entity": {**ADA, "description": "new"}})

    def vanish(done: int, total: int, name: str) -> None:
        if done == 3:
            (tmp_path / "a.py").unlink()
            (tmp_path / "x.jsonl").unlink()

    report = await parts.add(tmp_path, progress=vanish)
    assert {fault.path for fault in report.faults} == {"a.py", "x.jsonl"}
    assert {"a.f", "Ada"} <= await names(parts.store)


async def test_a_file_that_vanishes_before_the_first_reading_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestor, "survey", lambda *_: (["a.py", "gone.py"], []))
    parts = Parts()
    report = await parts.add(put(tmp_path, a=A))
    assert [str(fault) for fault in report.faults] == ["gone.py: cannot be read: No such file or directory"]
    assert "a.f" in await names(parts.store)


async def test_two_files_of_one_module(tmp_path: Path) -> None:
    report = await Parts().add(put(tmp_path, m="", m__init=""))
    assert [str(fault) for fault in report.faults] == [
        "m/__init__.py: the module m is already defined by another file; remove one"
    ]


async def test_a_path_that_another_folder_holds_is_left_alone(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path / "one", m="def f(): ..."))
    before = await graph(parts.store)
    report = await parts.add(put(tmp_path / "two", m="def g(): ..."))
    assert "already ingested from the folder 'one'" in report.faults[0].message
    assert await graph(parts.store) == before


async def test_a_folder_leaves_what_other_folders_hold(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path / "one", m="def f(): ..."))
    await parts.add(put(tmp_path / "two", n="import m"))
    assert {"m.f", "n"} <= await names(parts.store)
    assert ("n", "imports", "m") in await triplets(parts.store)
    (module,) = await parts.store.get_entities([minted("module", "m")])
    assert module.attributes["source"] == "m.py", "a folder that only names a module does not describe it"


async def test_a_part_of_a_folder_is_kept_to_and_the_rest_left_alone(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A, b=B), only=["a.py"])
    assert await triplets(parts.store, "calls") == set(), "names are followed among the files of one call"
    await parts.add(tmp_path)
    assert await triplets(parts.store, "calls") == {("a.f", "calls", "b.g")}
    (tmp_path / "b.py").unlink()
    assert (await parts.add(tmp_path, only=["a.py"])).forgotten == 0
    assert (await parts.add(tmp_path, only=["b.py"])).forgotten == 1


async def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="no file or folder"):
        await Parts().add(tmp_path / "nothing")


async def test_progress_ends_with_all_steps_done(tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    await Parts().add(put(tmp_path, a=A, b=B), progress=lambda *step: steps.append(step))
    assert steps == [(1, 4, "a.py"), (2, 4, "b.py"), (3, 4, "a.py"), (4, 4, "b.py")]


async def test_large_folders_are_written_in_several_batches(tmp_path: Path) -> None:
    parts = Parts()
    many = "".join(f"def f{n}(): ...\n" for n in range(200))
    report = await parts.add(put(tmp_path, **dict.fromkeys("abcdef", many)))
    assert report.entities == 1206
    assert (await parts.store.statistics()).claims == 1200


# -- embedding -----------------------------------------------------------------------------------------------------


async def test_without_an_embedder_nothing_is_embedded_and_with_one_all_is_later(tmp_path: Path) -> None:
    parts = Parts(embedder=None)
    put_lines(put(tmp_path, a=A), "x.jsonl", {"memory": {"id": "m", "text": "Ada."}})
    report = await parts.add(tmp_path)
    assert (report.embedded, report.entities) == (0, 4)
    parts.embedder = HashEmbedder(8)
    assert (await parts.add(tmp_path)).embedded == 4
    assert (await parts.add(tmp_path)).embedded == 0


async def test_another_model_is_refused(tmp_path: Path) -> None:
    parts = Parts()
    await parts.add(put(tmp_path, a=A))
    parts.embedder = HashEmbedder(16)
    with pytest.raises(EmbeddingModelError):
        await parts.add(tmp_path)


async def test_texts_are_embedded_a_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_TEXTS", 2)
    assert (await Parts().add(put(tmp_path, a=A, b=B))).embedded == 6


# -- JSON lines ----------------------------------------------------------------------------------------------------


async def test_lines_become_entities_relations_and_memories(tmp_path: Path) -> None:
    parts = Parts()
    works = {"source": ADA, "type": "works_at", "target": ACME, "fact": "Ada works at Acme.", "confidence": 0.9}
    note = {
        "id": "m1",
        "text": "Bob met Ada.",
        "claims": [{"source": ADA, "type": "knows", "target": {**ADA, "name": "Bob"}}],
    }
    report = await parts.add(
        put_lines(tmp_path, "x.jsonl", {"relation": works}, {"entity": {**ADA, "description": "!"}}, {"memory": note})
    )
    assert report.faults == ()
    assert await triplets(parts.store) == {("Ada", "works_at", "Acme"), ("Ada", "knows", "Bob")}
    (ada,) = await parts.store.get_entities([minted("person", "Ada")])
    assert ada.description == "!", "a name in a relation does not describe"
    relations = {each.type: each for each in await parts.store.list_relations()}
    assert relations["works_at"].evidence == ("file:x.jsonl",)
    assert relations["knows"].evidence == ("m1",)


async def test_bad_lines_are_named_and_left_out(tmp_path: Path) -> None:
    parts = Parts()
    nobody = str(entity_id("person", "Nobody"))
    put_lines(
        tmp_path,
        "x.jsonl",
        {"entity": ADA},
        "{",
        {"relation": {"source": nobody, "type": "knows", "target": ADA}},
        {"entity": {**ADA, "description": "again"}},
        {"memory": {"id": "m"}},
        {"memory": {"id": "m", "text": "again"}},
        {"relation": {"source": str(entity_id("person", "Ada")), "type": "knows", "target": ACME}},
    )
    report = await parts.add(tmp_path)
    assert [fault.line for fault in report.faults] == [2, 3, 4, 6]
    assert f"there is no entity {nobody}" in report.faults[1].message
    assert report.faults[2].message == "given already at x.jsonl:1; this line was left out"
    assert await triplets(parts.store) == {("Ada", "knows", "Acme")}
    again = await parts.add(tmp_path)
    assert (again.faults, again.changed) == (report.faults, 0)


async def test_what_a_file_held_is_kept_while_it_has_bad_lines(tmp_path: Path) -> None:
    parts = Parts()
    notes = [{"memory": {"id": f"m{n}", "text": "x"}} for n in range(2)]
    await parts.add(put_lines(tmp_path, "x.jsonl", *notes))
    await parts.add(put_lines(tmp_path, "x.jsonl", notes[0], "{"))
    assert {each.id for each in await parts.store.list_memories()} == {"file:x.jsonl", "m0", "m1"}
    report = await parts.add(put_lines(tmp_path, "x.jsonl", notes[0]))
    assert report.forgotten == 1
    assert {each.id for each in await parts.store.list_memories()} == {"file:x.jsonl", "m0"}


async def test_long_files_are_taken_in_by_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "PART_LINES", 2)
    parts = Parts()
    notes = [{"memory": {"id": f"m{n}", "text": f"text {n}"}} for n in range(5)]
    report = await parts.add(put_lines(tmp_path, "x.jsonl", *notes))
    assert report.changed == 3
    held = {each.id: each.attributes.get("notes") for each in await parts.store.list_memories()}
    assert held["file:x.jsonl#3"] == ["m4"]
    assert (await parts.add(tmp_path)).changed == 0
    report = await parts.add(put_lines(tmp_path, "x.jsonl", *notes[:3], {"memory": {"id": "m9", "text": "new"}}))
    assert report.forgotten == 3, "the third part, what it held and m3"
    assert {each.id for each in await parts.store.list_memories()} == {
        "file:x.jsonl",
        "file:x.jsonl#2",
        *("m0", "m1", "m2", "m9"),
    }


async def test_a_line_that_is_too_long_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "MAX_BYTES", 60)
    parts = Parts()
    report = await parts.add(put_lines(tmp_path, "x.jsonl", "x" * 200, {"entity": ADA}))
    assert report.faults == (Fault("x.jsonl", 1, "longer than 60 bytes"),)
    assert await names(parts.store) == {"Ada"}


async def test_a_file_name_that_is_not_unicode_is_a_fault(tmp_path: Path) -> None:
    for name in (b"\xff.py", b"\xff.jsonl"):
        with open(bytes(tmp_path) + b"/" + name, "wb"):  # noqa: ASYNC230, PTH123 - pathlib cannot spell it
            pass
    report = await Parts().add(tmp_path)
    assert [fault.message for fault in report.faults] == ["the file's name is not valid Unicode"] * 2


async def test_a_memory_that_moves_to_another_file_is_kept(tmp_path: Path) -> None:
    parts = Parts()
    note = {"memory": {"id": "m", "text": "x"}}
    await parts.add(put_lines(tmp_path, "x.jsonl", note))
    put_lines(tmp_path, "x.jsonl")
    report = await parts.add(put_lines(tmp_path, "y.jsonl", note))
    assert report.forgotten == 0
    assert [each.source for each in await parts.store.get_memories(["m"])] == ["y.jsonl"]


async def test_an_ingest_that_breaks_off_is_taken_up_again(tmp_path: Path) -> None:
    """The embedder fails at every possible call; each time the next ingest ends as if nothing had happened."""
    afresh = Parts()
    put(tmp_path, a=A, b=B)
    first = Parts()
    await first.add(tmp_path)
    put(tmp_path, b='"""Wasps."""\nimport sys\ndef g2(): ...\n', c="import b, re\ndef h(): b.g2()\n")
    await afresh.add(tmp_path)

    class Failing(HashEmbedder):
        def __init__(self, calls: int) -> None:
            super().__init__(8)
            self.left = calls

        async def embed(self, texts, *, input_type="document"):
            self.left -= 1
            if self.left < 0:
                raise ConnectionError
            return await super().embed(texts, input_type=input_type)

    failed = 0
    for calls in range(4):
        first.embedder = Failing(calls)
        try:
            await first.add(tmp_path)
        except ConnectionError:
            failed += 1
    assert failed
    assert await graph(first.store) == await graph(afresh.store)
