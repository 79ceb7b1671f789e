"""Limits of values: refused with what is wrong and what to do where they are made, and read if they are stored."""

from __future__ import annotations

import gzip
import json
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, ScopeFileError
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.model import Batch, Claim, Entity, Memory, Mention, Principal, Relation
from graphsearch.model import validation as check
from graphsearch.moving import ExportFormat, convert_export, export_scope, import_scope
from graphsearch.names.forms import plain_form
from graphsearch.names.typed_names import form_lookups
from graphsearch.question.analysis import Nameable, QuestionText, WrittenName
from graphsearch.question.linking import Linked, link, with_other_forms
from graphsearch.question.type_profile import Wording
from graphsearch.question.understanding import NO_HITS
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_memory import indexes
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder
from graphsearch.text.analyser import terms
from tests.gates import allowing
from tests.waiting import calls

ADA, BOB = Entity(type="person", name="Ada"), Entity(type="person", name="Bob")


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda: Entity(type="person", name="x" * 10_001), "name must have at most 10,000 characters, not 10,001"),
        (lambda: Entity(type="person", name="x " * 1_001), "name must have at most 1,000 words, not 1,001"),
        (lambda: Entity(type="person", name="x", aliases=["y" * 10_001]), "each of aliases must have at most 10,000"),
        (lambda: Entity(type="x", name="x", aliases=map(str, range(10_001))), "aliases must be at most 10,000"),
        (
            lambda: Entity(type="x", name="x", aliases=(f"{n}" * 2_000 for n in range(1_000))),
            "aliases must have at most",
        ),
        (lambda: Entity(type="x", name="x", labels=map(str, range(10_001))), "labels must be at most 10,000"),
        (lambda: Entity(type="t" * 10_001, name="x"), "type must have at most 10,000"),
        (lambda: Entity(type="x", name="x", description="x" * 5_000_001), "description must have at most 5,000,000"),
        (lambda: Relation(source_id=ADA.id, type="t" * 10_001, target_id=BOB.id), "type must have at most"),
        (lambda: Relation(source_id=ADA.id, type="x", target_id=BOB.id, fact="x" * 5_000_001), "fact must have"),
        (
            lambda: Claim(memory_id="m", source_id=ADA.id, type="t" * 10_001, target_id=BOB.id, confidence=1),
            "type must",
        ),
        (
            lambda: Mention(memory_id="m", entity_id=ADA.id, surface="x " * 1_001),
            "surface must have at most 1,000 words",
        ),
        (lambda: Memory(id="m", text="x" * 5_000_001), "text must have at most 5,000,000 characters"),
        (lambda: Memory(id="m", subject="x" * 10_001), "subject must have at most 10,000"),
        (lambda: Memory(id="m", source="x" * 10_001), "source must have at most 10,000"),
        (lambda: Memory(id="m", speaker="x" * 10_001), "speaker must have at most 10,000"),
        (lambda: Principal(id="x" * 10_001), "id must have at most 10,000"),
        (lambda: Principal(id="x", attributes={"a": nested(322)}), "attributes is nested too deeply"),
        *(
            (lambda make=make, levels=levels: make(attributes={"a": nested(levels)}), "attributes is nested too deeply")
            for levels in (32, 322, 100_000)
            for make in (
                lambda **given: Entity(type="x", name="x", **given),
                lambda **given: Memory(id="m", **given),
                lambda **given: Relation(source_id=ADA.id, type="x", target_id=BOB.id, **given),
            )
        ),
        (lambda: Memory(id="m", attributes={"a": ["x" * 1000] * 5001}), "attributes must have at most 5,000,000"),
        (lambda: Memory(id="m", attributes={"k" * 5_000_001: 1}), "attributes must have at most 5,000,000"),
    ],
)
def test_what_no_value_is_is_refused_with_its_limit(make: Callable[[], object], fault: str) -> None:
    with pytest.raises(InvalidInputError) as raised:
        make()
    assert fault in str(raised.value)
    assert len(str(raised.value)) < 3_000  # it does not quote what is too long


def test_what_is_just_within_the_limits_is_accepted() -> None:
    Entity(type="x", name=" ".join(["x" * 9] * 1_000), aliases=map(str, range(10_000)))
    assert Memory(id="m", attributes={"a": nested(31)}).attributes["a"]


def test_an_object_that_holds_itself_is_nested_too_deeply() -> None:
    circle: dict[str, Any] = {}
    circle["circle"] = circle
    assert "too deeply" in (check.json_object("attributes", circle) or "")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, "9" * 5_000, "NaN"])
def test_json_from_outside_that_cannot_be_read_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"nested|digits|number|Expecting"):
        check.parse_json(text)


async def test_a_question_has_a_limit(scoped: GraphStore) -> None:
    await scoped.write(Batch(entities=[ADA]))
    engine, long = GraphSearchEngine(store=scoped, embedder=HashEmbedder(8)), "x" * 200_001
    for ask in (engine.search, engine.recall, engine.rank_entities):
        with pytest.raises(InvalidInputError, match="query must have at most 200,000 characters"):
            await ask(long)
    with pytest.raises(InvalidInputError, match="query must have at most"):
        await Curator(engine).search_entities(long)


async def test_what_is_stored_is_read_and_written_also_beyond_a_later_limit(
    scoped: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = Entity(type="person", name=" ".join(f"Word{number}" for number in range(60)), aliases=["Wordy"])
    stored = Memory(id="m", text="…", labels=["secret"])
    mention = Mention(memory_id="m", entity_id=long.id, surface=f"{long.name} Junior")
    await scoped.write(Batch(named=[long], memories=[stored], mentions=[mention]))
    monkeypatch.setattr(check, "MOST_NAME_WORDS", 20)
    with pytest.raises(InvalidInputError, match="at most 20 words"):
        Entity(type="person", name=long.name)
    assert [each.name for each in await scoped.get_entities([long.id])] == [long.name]
    assert [each.surface for each in await scoped.list_mentions(entity_ids=[long.id])] == [mention.surface]
    engine, gate = GraphSearchEngine(store=scoped), allowing(lambda resource: "secret" not in resource.labels)
    for asked in (None, gate):
        await engine.search(f"Who is {long.name}?", mode="neighborhood", gate=asked)
        await engine.rank_entities("Who is Wordy?", gate=asked)
    second = Memory(id="n", text="…")
    await scoped.write(Batch(memories=[second], mentions=[Mention(memory_id="n", entity_id=long.id, surface="W.")]))
    assert "W." in (await scoped.get_entities([long.id]))[0].aliases


async def test_aliases_that_mentions_give_are_no_more_than_an_entity_may_have(
    scoped: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check, "MOST_NAMES", 3)
    memories = [Memory(id=str(number), text="…") for number in range(6)]
    mentions = [Mention(memory_id=each.id, entity_id=ADA.id, surface=f"Ada {each.id}") for each in memories]
    await scoped.write(Batch(named=[ADA], memories=memories, mentions=mentions))
    assert (await scoped.get_entities([ADA.id]))[0].aliases == ("Ada 0", "Ada 1", "Ada 2")


# -- files ------------------------------------------------------------------------------------------------------------


async def _exported(tmp_path: Path) -> list[bytes]:
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    await store.write(Batch(entities=[ADA]))
    await export_scope(store, tmp_path / "scope.jsonl")
    return (tmp_path / "scope.jsonl").read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"[" * 10_000 + b"\n", "nested too deeply"),
        (b'{"entity":' * 10_000 + b"\n", "nested too deeply"),
        (
            b'{"entity":{"given_type":"x","entity":{"type":"x","name":"x","created_at":"2026-01-01T00:00:00Z","attributes":{"a":'
            + json.dumps(nested(400)).encode()
            + b"}}}}\n",
            "attributes is nested too deeply",
        ),
        (b" " * check.LARGEST_RECORD * 2, "longer than 33,554,432 bytes"),
    ],
    ids=["lists", "objects", "attributes", "a line without end"],
)
@pytest.mark.parametrize("packed", [False, True])
async def test_an_import_of_a_line_beyond_the_limits_imports_nothing(
    line: bytes, fault: str, packed: bool, scoped: GraphStore, tmp_path: Path
) -> None:
    header, *_ = await _exported(tmp_path)
    file = tmp_path / "bomb"
    content = header + line
    file.write_bytes(gzip.compress(content) if packed else content)
    with pytest.raises(ScopeFileError, match=f"bomb:2.*{fault}"):
        await import_scope(scoped, file)
    with pytest.raises(LookupError):
        await scoped.statistics()


async def test_a_compressed_file_that_is_damaged_is_refused(scoped: GraphStore, tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b"".join(await _exported(tmp_path))))
    packed[20:40] = b"\xff" * 20
    (tmp_path / "damaged").write_bytes(packed)
    with pytest.raises(ScopeFileError, match="cannot be read"):
        await import_scope(scoped, tmp_path / "damaged")


@pytest.mark.parametrize("text", [b"[" * 10_000, b" " * (check.LARGEST_RECORD + 1)])
def test_a_foreign_export_beyond_the_limits_is_a_fault(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_bytes(gzip.compress(text))
    with pytest.raises(InvalidInputError):
        convert_export([tmp_path / "export.json"], tmp_path / "out.jsonl", ExportFormat.MEM0)
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.parametrize("suffix", [".json", ".jsonl"])
def test_memories_of_a_file_that_is_nested_too_deeply_are_refused(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"memories{suffix}"
    file.write_text("[" * 10_000)
    with pytest.raises(InvalidInputError, match="nested too deeply"):
        read_memories(file)


# -- growth, counted --------------------------------------------------------------------------------------------------


def words(count: int, start: int = 0) -> str:
    return " ".join(
        f"Na{chr(97 + number // 26 % 26)}{chr(97 + number % 26)}o{number}" for number in range(start, start + count)
    )


def _link(question: str, nameable: list[Nameable]) -> Linked:
    return link(QuestionText(question), nameable, Wording(naming={}, telling={}, type_terms=frozenset()), terms)


@pytest.mark.parametrize(
    "work",
    [
        lambda size: _link("who knows Naaao0 Nabo1?", [Nameable(id=ADA.id, type="person", names=(words(size),))]),
        lambda size: _link(words(100), [Nameable(id=ADA.id, type="person", names=(words(size),))]),
        lambda size: _link(
            words(100), [Nameable(id=ADA.id, type="person", names=tuple(f"Ada {number}" for number in range(size)))]
        ),
        lambda size: form_lookups(plain_form(words(size))),
    ],
    ids=["words of a name", "words of a name in a question", "aliases", "lookups"],
)
def test_names_cost_what_they_are_long(work: Callable[[int], object]) -> None:
    small, large = calls(partial(work, 400)), calls(partial(work, 1600))
    assert large < 5 * small


class _Names:
    """A reader of one entity with many aliases."""

    def __init__(self, aliases: int) -> None:
        self.entity = Entity(
            type="person", name="Ada", aliases=[f"Ada {words(1, number)}" for number in range(aliases)]
        )

    async def named(self, names: Any, words: Any, **_: Any) -> Any:
        return NO_HITS, [self.entity]


async def test_aliases_are_not_compared_with_each_name_of_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[str] = []
    threads: set[int] = set()

    def noted(written: str, entity: Nameable) -> float:
        threads.add(threading.get_ident())
        compared.extend(entity.names)
        return 0.0

    monkeypatch.setattr("graphsearch.question.linking.likeness", noted)
    asked = [WrittenName(text=f"Ada {name}", start=0, end=3) for name in words(100, 5000).split()]
    await with_other_forms(QuestionText(""), asked, Linked(links=(), masked=frozenset()), _Names(4000), {})  # type: ignore[arg-type]
    assert 0 < len(compared) <= 16 * 50
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("graphsearch.health.duplicates.alike", lambda curator: curator.find_duplicates()),
        ("graphsearch.health.duplicates._by_letters", lambda curator: curator.find_duplicates()),
        ("graphsearch.curation.communities.detect_communities", lambda curator: curator.detect_communities()),
        ("graphsearch.curation.communities.detect_communities", lambda curator: curator.refresh_communities()),
    ],
)
async def test_what_goes_through_a_whole_graph_is_computed_off_the_event_loop(
    where: str, call: Callable[[Curator], Any], scoped: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [Entity(type="person", name=name) for name in ("Jon Smith", "John Smith", "Ada Byron", "Ada Byronn")]
    knows = Relation(source_id=ends[0].id, type="knows", target_id=ends[1].id)
    await scoped.write(Batch(entities=ends, relations=[knows]))
    threads: list[int] = []
    module, _, name = where.rpartition(".")
    original = getattr(sys.modules[module], name)

    def noted(*given: Any, **options: Any) -> Any:
        threads.append(threading.get_ident())
        return original(*given, **options)

    monkeypatch.setattr(where, noted)
    await call(Curator(GraphSearchEngine(store=scoped)))
    assert threads
    assert threading.get_ident() not in threads


async def test_what_the_memory_store_derives_of_a_large_scope_is_built_off_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, threads = InMemoryGraphStore().with_scope(org_id="acme", project_id="web"), set[int]()
    ends = [Entity(type="person", name=f"Ada {number}") for number in range(600)]
    await store.write(Batch(entities=ends))
    original = indexes.Postings.build

    def noted(*given: Any) -> Any:
        threads.add(threading.get_ident())
        return original(*given)

    monkeypatch.setattr(indexes.Postings, "build", noted)
    await GraphSearchEngine(store=store).rank_entities("Ada 5")
    assert threads
    assert threading.get_ident() not in threads
