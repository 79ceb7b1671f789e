"""A scope as a file, and back: the same bytes and the same answers from every store in every other."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import (
    AccessDeniedError,
    InvalidInputError,
    OccupiedScopeError,
    PartialViewError,
    ScopeFileError,
    UnknownScopeError,
)
from graphsearch.ingest import Ingestor
from graphsearch.model import Batch, Entity, Memory, Outcome, Principal
from graphsearch.modes.result import SearchMode
from graphsearch.moving import export_scope, import_scope
from graphsearch.moving.scope_file import json_of
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore
from graphsearch.testing.fakes import HashEmbedder, WordCounter
from graphsearch.testing.spec_moving import full_portrait, lived_in, pages_of
from graphsearch.testing.strategies import EMBEDDER as OWN
from tests.integrations.team import EMBEDDER, PRIYA, engine_over, member

QUESTION = "who does Priya report to?"


@pytest.fixture
def other(shared_pool, clock):
    """Fresh scopes of the store of a kind."""

    def fresh(kind):
        scope = {"org_id": "acme", "project_id": f"moved-{uuid4()}"}
        if kind == "memory":
            return InMemoryGraphStore(clock=clock).with_scope(**scope)
        return PostgresGraphStore(shared_pool, clock=clock, exact=True).with_scope(**scope)

    return fresh


@pytest.fixture
def sample():
    """Such an export, made before."""
    return Path(__file__).parent / "exports" / "scope.jsonl"


@pytest.fixture
async def file(scoped, tmp_path):
    """An export of a scope with something of every kind."""
    await lived_in(scoped)
    await export_scope(scoped, tmp_path / "scope.jsonl")
    return tmp_path / "scope.jsonl"


async def everything(store):
    """The settings and records of a scope, in one form for every store."""
    async with store.snapshot():
        return await store.settings(), [json_of(each) async for page in pages_of(store) for each in page]


async def answers_of(store):
    """What an agent is answered, in every way, with scores."""
    engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
    found = [
        await engine.search(QUESTION, mode=mode)
        for mode in (SearchMode.GRAPH_COMPLETION, SearchMode.TRIPLET_COMPLETION, SearchMode.NEIGHBORHOOD)
    ]
    block = await ContextBuilder(engine, counter=WordCounter(), log=None).build(
        QUESTION, gate=member(store), session_id="other"
    )
    relation = found[0].triplets[0].relation.id
    return {
        "triplets": [each.triplets for each in found],
        "memories": (await engine.recall(QUESTION)).memories,
        "entities": (await engine.rank_entities(QUESTION)).entities,
        "explained": await engine.explain(QUESTION, relation),
        "block": block.text,
    }


async def test_the_same_bytes_from_every_store_through_every_other(scoped, other, file, tmp_path):
    given, last = file.read_bytes(), file
    for number, kind in enumerate(("postgres", "memory", "postgres", "memory")):
        store = other(kind)
        report = await import_scope(store, last)
        last = tmp_path / f"{number}.jsonl"
        exported = await export_scope(store, last)
        assert last.read_bytes() == given
        assert (report.counts, report.vectors) == (exported.counts, exported.vectors)
        if type(store) is type(scoped):  # scores of two stores are equal to single precision
            assert await full_portrait(store) == await full_portrait(scoped)


async def test_an_engine_answers_as_before_to_the_last_digit(scoped, other, tmp_path):
    engine = await engine_over(scoped)
    await Ingestor(engine).remember([Memory(id="x", text="Priya Sharma works at Globex since 2020.")])
    builder = ContextBuilder(engine, counter=WordCounter())
    await builder.build(QUESTION, gate=member(scoped), session_id="s1")
    await builder.feedback("s1", Outcome.ACCEPTED, gate=member(scoped))
    await export_scope(scoped, tmp_path / "scope.jsonl")
    before = await answers_of(scoped)
    for kind in ("memory", "postgres"):
        store = other(kind)
        await import_scope(store, tmp_path / "scope.jsonl")
        if type(store) is type(scoped):  # scores of two stores are equal to single precision
            assert repr(await answers_of(store)) == repr(before)
        again = ContextBuilder(GraphSearchEngine(store=store, embedder=EMBEDDER), counter=WordCounter())
        changed = await again.feedback("s1", Outcome.REJECTED, gate=member(store))
        assert changed.replaced
        assert not changed.applied


async def test_a_file_names_what_it_holds(file):
    header, *records, trailer = map(json.loads, file.read_text().splitlines())
    assert (header["graphsearch"]["format"], header["graphsearch"]["version"]) == ("scope", 3)
    assert header["graphsearch"]["settings"]["embedder"] == OWN.name
    assert header["graphsearch"]["settings"]["counts"] == {
        kind: number for kind, number in trailer["end"]["counts"].items() if number
    }
    assert list(dict.fromkeys(next(iter(each)) for each in records)) == [
        *("relation_type", "counter", "merge", "entity", "memory", "relation", "distinct", "link", "community"),
        *("session", "injection"),
    ]
    lines = file.read_bytes().splitlines(keepends=True)
    assert trailer["end"]["sha256"] == hashlib.sha256(b"".join(lines[:-1])).hexdigest()


async def test_compressed_files_are_the_same_twice(scoped, other, file, tmp_path):
    for name in ("one.gz", "two.gz"):
        await export_scope(scoped, tmp_path / name)
    assert (tmp_path / "one.gz").read_bytes() == (tmp_path / "two.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.gz").read_bytes()) == file.read_bytes()
    store = other("memory")
    await import_scope(store, tmp_path / "one.gz")
    assert await everything(store) == await everything(scoped)
    packed = (tmp_path / "one.gz").read_bytes()
    (tmp_path / "cut.gz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ScopeFileError):
        await import_scope(other("memory"), tmp_path / "cut.gz")


async def test_without_vectors_texts_are_embedded_by_the_import(scoped, other, file, tmp_path):
    bare = tmp_path / "bare.jsonl"
    assert (await export_scope(scoped, bare, vectors=False)).vectors == 0
    store = other("postgres")
    report = await import_scope(store, bare, embedder=HashEmbedder())
    assert report.vectors == report.embedded > 0
    assert await store.embedder_name() == HashEmbedder().name
    none = other("memory")
    assert (await import_scope(none, bare)).vectors == 0
    assert await none.embedder_name() is None


async def test_vectors_of_another_model_are_made_anew(sample, other):
    store = other("memory")
    report = await import_scope(store, sample, embedder=HashEmbedder(16, name="another"))
    assert report.embedded == report.vectors > 0
    assert await store.embedder_name() == "another"
    same = await import_scope(other("memory"), sample, embedder=OWN)
    assert (same.embedded, same.vectors) == (0, 7)


# -- files that are refused -----------------------------------------------------------------------------------------


async def refused(store, path, lines, why, line):
    path.write_bytes(b"".join(lines))
    with pytest.raises(ScopeFileError, match=why) as raised:
        await import_scope(store, path)
    assert raised.value.line == line
    with pytest.raises(UnknownScopeError):
        await store.statistics()


async def test_a_file_cut_anywhere_is_refused_and_nothing_is_written(sample, other, tmp_path):
    lines = sample.read_bytes().splitlines(keepends=True)
    for kind, places in (("memory", range(1, len(lines))), ("postgres", (2, len(lines) - 1))):
        store = other(kind)
        for at in places:
            await refused(store, tmp_path / "cut", lines[:at], "it was cut", at + 1)
    await refused(other("memory"), tmp_path / "cut", [*lines[:-1], lines[-1][:-1]], "it was cut", len(lines))


def sealed(lines):
    """Lines with a trailer that fits them."""
    body = b"".join(lines[:-1])
    trailer = json.loads(lines[-1])
    trailer["end"]["sha256"] = hashlib.sha256(body).hexdigest()
    return [*lines[:-1], json.dumps(trailer).encode() + b"\n"]


async def test_what_is_wrong_with_a_line_is_said_with_its_number(sample, other, tmp_path):
    lines = sample.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith(b'{"entity"'))
    record = json.loads(lines[at])["entity"]
    good = record["entity"]

    def changed(**fields):
        return {"entity": {**record, "entity": {**good, **fields}}}

    def with_line(content):
        written = content if isinstance(content, bytes) else json.dumps(content).encode()
        return sealed([*lines[:at], written + b"\n", *lines[at + 1 :]])

    bad: tuple[tuple[Any, str], ...] = (
        (b"{", "not valid JSON"),
        (b'{"entity": ' + b"[" * 100_000, "nested too deeply"),
        (b"[1]", "must be an object"),
        ({"person": {}}, "must be an object with one key of relation_type, counter"),
        (changed(colour="red"), "entity.colour: is unknown"),
        ({"entity": {"entity": {"id": good["id"]}}}, "entity.type: is needed; entity.name: is needed"),
        (changed(id="x"), "entity.id: must be an id"),
        (changed(created_at="yesterday"), "entity.created_at: must be a time"),
        (changed(created_at=None), "created_at must be a datetime"),
        (changed(importance_weight=2), r"importance_weight must be in \[0, 1\]"),
        (changed(name="a\0b"), "must not contain NUL"),
        (changed(name="\ud800"), "surrogate"),
        (changed(labels="secret"), "labels: must be a list"),
        ({"entity": {**record, "vector": "AAAA"}}, "vector"),
        ({"entity": {**record, "outcomes": [{"session_id": "s", "seq": 1, "outcome": 0.7}]}}, "one of 1.0, 0.5, 0.0"),
        ({"entity": {**record, "attestation": {"evidence": ["zz"]}}}, "evidence.0: must be a whole number"),
        ({"entity": {**record, "words": None}}, "words: must be an object, not null"),
    )
    for content, why in bad:
        await refused(other("memory"), tmp_path / "bad", with_line(content), why, at + 1)


async def test_a_changed_reordered_or_foreign_file_is_refused(sample, other, tmp_path):
    lines = sample.read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    last = len(lines)
    entities = [number for number, line in enumerate(lines) if line.startswith(b'{"entity"')]
    swapped = [*lines]
    swapped[entities[0]], swapped[entities[1]] = swapped[entities[1]], swapped[entities[0]]
    without = [line for line in lines if not line.startswith(b'{"counter"')]
    newer = json.dumps({"graphsearch": {**header["graphsearch"], "version": 4}}).encode() + b"\n"
    for changed, why, line in (
        (without, "the trailer counts other records", last - 1),
        ([line.replace(b'"Bob"', b'"Rob"') for line in lines], "the digest is another", last),
        ([*lines, b"{}\n"], "comes after the trailer", last + 1),
        (sealed(swapped), "out of order", entities[1] + 1),
        ([newer, *lines[1:]], "version 4, and this library reads versions 1 to 3", 1),
        ([b'{"entity": {}}\n'], "no header of a scope", 1),
        ([b""], "it was cut", 1),
    ):
        await refused(other("memory"), tmp_path / "changed", changed, why, line)
    with pytest.raises(InvalidInputError, match="cannot read"):
        await import_scope(other("memory"), tmp_path / "nowhere")
    with pytest.raises(InvalidInputError, match="cannot write"):
        await export_scope(await lived_in(other("memory")), tmp_path / "nowhere" / "sample")


async def test_ids_go_on_as_in_the_scope_exported(file, sample, other, tmp_path):
    lines = file.read_bytes().splitlines(keepends=True)
    key = UUID(int=9)
    for kind in ("memory", "postgres"):
        store = other(kind)
        await store.write(Batch())
        own = await store.id_key()
        changed = lines[0].replace(str(own).encode(), str(key).encode())
        (tmp_path / kind).write_bytes(b"".join(sealed([changed, *lines[1:]])))
        for source in (tmp_path / kind, sample):  # the second has no key, which leaves that of the scope
            await import_scope(store, source, replace=True)
            assert await store.id_key() == key
    wrong = lines[0].replace(str(own).encode(), b"x")
    await refused(other("memory"), tmp_path / "wrong", sealed([wrong, *lines[1:]]), "settings.id_key: must be an id", 1)


async def test_a_scope_that_holds_something_is_replaced_only_on_request(file, other, scoped):
    store = other("postgres")
    await store.write(Batch(entities=(Entity(type="person", name="Somebody"),)))
    before = await everything(store)
    with pytest.raises(OccupiedScopeError):
        await import_scope(store, file)
    assert await everything(store) == before
    await import_scope(store, file, replace=True)
    assert await everything(store) == await everything(scoped)


async def test_a_failed_export_leaves_the_file_that_was_there(scoped, tmp_path):
    path = tmp_path / "scope.jsonl"
    path.write_text("as it was")
    with pytest.raises(UnknownScopeError):
        await export_scope(scoped, path)
    assert path.read_text() == "as it was"
    assert [each.name for each in tmp_path.iterdir()] == ["scope.jsonl"]


# -- gates -----------------------------------------------------------------------------------------------------------


class Only:
    """Allows one kind of action, and elements without a label."""

    def __init__(self, *actions, by_signature=True):
        self.actions, self.by_signature = actions, by_signature

    async def authorize(self, principal, action, resources, *, scope):
        del principal, scope
        return [action in self.actions and "secret" not in each.labels for each in resources]


async def test_only_who_sees_the_whole_scope_exports_it(scoped, tmp_path):
    await lived_in(scoped)
    path = tmp_path / "scope.jsonl"
    for by_signature in (True, False):
        gate = Gate(Only("read", by_signature=by_signature), Principal(id="ada"))
        with pytest.raises(PartialViewError):
            await export_scope(scoped, path, gate=gate)
        assert not path.exists()
    member = Principal(id="ada", projects=(scoped.scope,))
    with pytest.raises(PartialViewError):  # some is secret
        await export_scope(scoped, path, gate=Gate(CedarAuthorizer.default(), member))
    cedar = Gate(
        CedarAuthorizer.default(), Principal(id="ada", attributes={"see_private": True}, projects=(scoped.scope,))
    )
    await export_scope(scoped, path, gate=cedar)
    whole = path.read_bytes()
    await export_scope(scoped, path)
    assert path.read_bytes() == whole


async def test_who_imports_needs_to_write_everything(other, tmp_path):
    team = other("memory")
    await engine_over(team)
    path = tmp_path / "scope.jsonl"
    await export_scope(team, path)
    for kind in ("memory", "postgres"):
        store = other(kind)
        with pytest.raises(AccessDeniedError):
            await import_scope(store, path, gate=Gate(Only("read"), Principal(id="ada")))
        with pytest.raises(UnknownScopeError):
            await store.statistics()
        writer = Gate(Only("write"), Principal(id="ada"))
        await import_scope(store, path, gate=writer)
        assert (await store.get_entities([PRIYA.id]))[0].name == PRIYA.name
        before = await everything(store)
        with pytest.raises(AccessDeniedError):
            await import_scope(store, path, gate=writer, replace=True)
        assert await everything(store) == before


async def test_merges_and_outcomes_need_their_own_permission(sample, other):
    for action in ("merge", "feedback"):
        allowed = {"write", "merge", "feedback"} - {action}

        class Unless(Only):
            async def authorize(self, principal, action, resources, *, scope):
                del principal, scope
                return [action in self.actions] * len(resources)

        with pytest.raises(AccessDeniedError) as raised:
            await import_scope(other("memory"), sample, gate=Gate(Unless(*allowed), Principal(id="ada")))
        assert raised.value.action == action


async def test_objects_have_one_form_in_every_store(other, tmp_path):
    odd = {"small": 1e-7, "none": None, "list": [1.0, {"b": 1, "a": True}], "z": 1, "a": "ä"}
    written = []
    for kind in ("memory", "postgres"):
        store = other(kind)
        entity = Entity(type="tool", name="x", attributes=odd, importance_weight=1.0)
        await store.write(Batch(entities=(entity,), vectors={}))
        await export_scope(store, tmp_path / kind)
        written.append((tmp_path / kind).read_bytes())
        again = other("memory" if kind == "postgres" else "postgres")
        await import_scope(again, tmp_path / kind)
        await export_scope(again, tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == written[-1]
    assert written[0] == written[1]
