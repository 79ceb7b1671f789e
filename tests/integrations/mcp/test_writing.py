"""Every tool that writes, asked by the official client; and what is read before anything is written."""

import json
from datetime import datetime, timedelta
from typing import Any

import attrs
import pytest

from graphsearch.context import TiktokenCounter
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import StoreUnavailableError, UnknownScopeError
from graphsearch.ingest import IngestOptions, Ingestor, KnownName, TextExtractor
from graphsearch.integrations.mcp.server import make_server
from graphsearch.model import Memory
from graphsearch.operations.operation import Profile
from graphsearch.operations.service import Identity
from graphsearch.testing.fakes import HashEmbedder
from tests.curation.team import ACME, ADA, GLOBEX
from tests.integrations.mcp.conftest import EDITOR, STRANGER, asking, own, server_for, surface_over

GRACE = attrs.evolve(EDITOR, id="grace")
TURNS = [
    {"speaker": "Grace Hopper", "content": "I work at Globex.", "time": "2025-04-02T09:00:00"},
    {"role": "assistant", "content": "Noted: Grace Hopper built COBOL."},
]


@pytest.fixture
def asked(engine):
    return asking(server_for(engine))


async def test_a_transcript_becomes_part_of_the_graph(engine, asked):
    async with asked as ask:
        first = await ask("remember", turns=TURNS, session_id="chat-1", source="chat", labels=["draft"])
        found = await ask("graph_query", query="what did Grace Hopper build?", session_id="s1")
        known = await ask("recall_entity", entity="Grace Hopper")
    assert first == {"changed": 2, "memory_ids": [own("chat-1:0"), own("chat-1:1")]}
    assert "Grace Hopper --created--> COBOL" in found["text"]
    assert known["most_recent_role"]["entity"]["name"] == "Globex"
    one, other = await engine.store.get_memories(first["memory_ids"])
    assert (one.source, one.labels, one.attributes["owner"]) == ("chat", ("draft",), "ada")
    assert (one.speaker, one.occurred_at.isoformat()) == ("Grace Hopper", "2025-04-02T09:00:00+00:00")
    assert other.occurred_at is None


async def test_what_is_known_changes_nothing_and_a_longer_transcript_adds_its_end(asked):
    async with asked as ask:
        await ask("remember", turns=TURNS, session_id="chat-1")
        again = await ask("remember", turns=TURNS, session_id="chat-1")
        longer = await ask("remember", turns=[*TURNS, {"role": "user", "content": "Bye."}], session_id="chat-1")
    assert again["changed"] == 0
    assert longer == {"changed": 1, "memory_ids": [own(f"chat-1:{number}") for number in range(3)]}


async def test_a_note_is_known_by_its_text(engine, asked):
    note = {"text": "# Tools\n\nGlobex uses Kafka.", "occurred_at": "2025-04-02", "source": "notes.md"}
    async with asked as ask:
        first = await ask("remember", **note)
        assert (await ask("remember", **note))["changed"] == 0
    (memory,) = await engine.store.get_memories(first["memory_ids"])
    assert (memory.subject, memory.source, memory.occurred_at.day) == ("Tools", "notes.md", 2)


async def test_a_note_without_a_time_is_of_now_and_stays_so(engine, asked):
    written = engine.store.clock.now()
    note = {"text": "Globex uses Kafka.", "facts": [{**STATED[0], "since": "yesterday", "quote": ""}]}
    async with asked as ask:
        first = await ask("remember", **note)
        engine.store.clock.advance(days=30)
        assert (await ask("remember", **note))["changed"] == 0
        around = await ask("graph_neighbors", entity="Zoe Marsh")
    assert [each.occurred_at for each in await engine.store.get_memories(first["memory_ids"])] == [written]
    assert datetime.fromisoformat(around["triplets"][0]["valid_from"]).date() == written.date() - timedelta(days=1)


async def test_a_text_is_never_replaced(engine, asked):
    async with asked as ask:
        turn = {"id": "hired", "role": "user", "content": "Ada works at Acme."}
        first = await ask("remember", turns=[turn], session_id="s9")
        assert first["memory_ids"] == [own("hired")]
        turns = [{**turn, "id": own("hired"), "content": "Ada never worked at Acme."}]
        error = await ask.error("remember", turns=turns, session_id="s9")
        assert error["type"] == "InvalidInputError"
        assert f"{own('hired')!r} is known with another text: forget it first" in error["message"]
        (kept,) = await engine.store.get_memories([own("hired")])
        assert kept.text == "Ada works at Acme."
        await ask("forget", memory=own("hired"))
        assert (await ask("remember", turns=turns, session_id="s9"))["changed"] == 1


async def test_what_is_known_keeps_what_is_not_said_anew_and_what_is_replaced_is_listed(engine, asked):
    async with asked as ask:
        note = await ask("remember", text="Ada knows Kafka.", labels=["draft"], source="chat", occurred_at="2025-04-02")
        again = {"text": "Ada knows Kafka.", "occurred_at": "2025-04-02"}
        assert (await ask("remember", **again))["changed"] == 0
        other = await ask("remember", **again, labels=["final"], source="mail")
        assert other == {"changed": 1, "memory_ids": note["memory_ids"], "replaced": note["memory_ids"]}
        assert (await ask("remember", **again))["changed"] == 0
        later = await ask("remember", text="Ada knows Kafka.", occurred_at="2025-05-02")
        turn = {"id": "t", "role": "user", "content": "Ada knows Kafka."}
        assert "replaced" not in await ask("remember", turns=[turn], session_id="s9")
        dated = await ask("remember", turns=[{**turn, "time": "2025-05-02"}], session_id="s9")
        assert dated["replaced"] == [own("t")]
        assert (await ask("remember", turns=[turn], session_id="s9"))["changed"] == 0
    assert later["memory_ids"] != note["memory_ids"]
    [memory, turn] = await engine.store.get_memories([*note["memory_ids"], own("t")])
    assert (memory.labels, memory.source, memory.attributes["owner"]) == (("final",), "mail", "ada")
    assert turn.occurred_at.day == 2


@pytest.mark.parametrize("given", [{}, {"id": "t"}])
async def test_everybody_has_turns_and_notes_of_their_own(scoped, given):
    """Nobody keeps others from writing, learns what they wrote or takes it over, in one session or of one text."""
    engine = GraphSearchEngine(store=scoped)
    people = {who.id: attrs.evolve(who, projects=[scoped.scope]) for who in (EDITOR, GRACE)}
    said = {"ada": "We use Kafka.", "grace": "We use COBOL."}
    answers = {}
    for id_, who in people.items():
        async with asking(server_for(engine, who)) as ask:
            turns = [{"role": "user", "content": said[id_], "time": "2025-04-02T09:00:00", **given}]
            turn = await ask("remember", turns=turns, session_id="standup", labels=["personal"])
            note = await ask("remember", text="Deploy is done on Fridays.", labels=["personal"])
            answers[id_] = {**turn, "note": note["memory_ids"]}
            assert (turn["changed"], note["changed"]) == (1, 1)
            assert (await ask("remember", turns=turns, session_id="standup"))["changed"] == 0
    stored = {memory.id: memory for memory in await scoped.list_memories()}
    for id_, answer in answers.items():
        for each in (*answer["memory_ids"], *answer["note"]):
            assert (stored[each].attributes["owner"], stored[each].labels) == (id_, ("personal",))
        assert stored[answer["memory_ids"][0]].text == said[id_]
    assert len(stored) == 4
    turns = await scoped.list_memories(session_id="standup")
    assert [each.position for each in turns] == [0, 0]
    async with asking(server_for(engine, people["ada"])) as ask:
        await ask("forget", memory=answers["ada"]["note"][0])
    assert answers["grace"]["note"][0] in {each.id for each in await scoped.list_memories()}


class Stars:
    """Replaces the word swordfish, and records what it was given."""

    name = "stars"

    def __init__(self):
        self.given = []

    def redact(self, text):
        self.given.append(text)
        return text.replace("swordfish", "***")


async def test_texts_are_read_with_the_names_and_the_user_of_the_server(engine):
    rules = TextExtractor(known=[KnownName(name="Keelbook", type="tool", aliases=("kb",))], user="Grace Hopper")
    async with asking(server_for(engine, extractor=rules)) as ask:
        turns = [{"role": "user", "content": "i use kb on every watch"}]
        await ask("remember", turns=turns, session_id="watch")
    [used] = [each for each in await engine.store.list_relations() if each.type == "uses"]
    ends = {each.id: each.name for each in await engine.store.get_entities([used.source_id, used.target_id])}
    assert (ends[used.source_id], ends[used.target_id]) == ("Grace Hopper", "Keelbook")


async def test_each_text_is_redacted_once_and_nothing_is_stored_unredacted(engine):
    stars, text = Stars(), "Grace Hopper built swordfish."
    turns = [{"speaker": "swordfish", "content": text}]
    async with asking(server_for(engine, ingest=IngestOptions(redact=stars))) as ask:
        first = await ask("remember", turns=turns, session_id="c", source="chat")
        assert stars.given.count(text) == 1
        assert (await ask("remember", turns=turns, session_id="c"))["changed"] == 0
        assert stars.given.count(text) == 2
        changed = [{**turns[0], "content": "Grace Hopper sold swordfish."}]
        assert "known with another text" in (await ask.error("remember", turns=changed, session_id="c"))["message"]
        note = await ask("remember", text="# swordfish\n\nAda knows swordfish.")
    memories = await engine.store.get_memories([*first["memory_ids"], *note["memory_ids"]])
    assert [each.text for each in memories] == ["Grace Hopper built ***.", "Ada knows ***."]
    everything = (await engine.store.list_entities(), await engine.store.list_relations(), memories)
    assert "swordfish" not in repr(everything)


READS: dict[str, dict[str, Any]] = {
    "graph_query": {"query": "anything?", "session_id": "s", "details": True},
    "recall": {"query": "anything?"},
    "search": {"query": "anything?"},
    "rank_entities": {"query": "anything?"},
    "search_entities": {"query": "Grace"},
    "find_duplicates": {},
    "find_ambiguous": {},
    "contradictions": {},
    "communities": {},
    "merges": {},
}


ASKED = {"graph_query", "recall", "search", "rank_entities"}


async def test_a_new_project_is_empty_and_says_what_to_do_first(scoped):
    engine = GraphSearchEngine(store=scoped, embedder=HashEmbedder(16))
    who = Identity(attrs.evolve(EDITOR, projects=[scoped.scope]), scoped.scope)
    async with asking(make_server(surface_over(engine, profile=Profile.ALL), who)) as ask:
        for tool, arguments in READS.items():
            answer = await ask(tool, **arguments)
            assert not any(value for value in answer.values() if isinstance(value, list)), tool
            hint = f"until something is remembered; is it the right one, {scoped.scope}?"
            assert answer.get("reason", "").endswith(hint) is (tool in ASKED), tool
        assert (await ask("stats"))["memories"] == 0
        assert (await ask("feedback", session_id="s", outcome="accepted"))["moved"] == 0
        assert json.loads(await ask.resource("graphsearch://schema"))["entity_types"] == []
        assert "Nothing is known." in await ask.prompt(task="anything")
        assert (await ask.error("recall_entity", entity="Grace"))["type"] == "UnknownElementError"
        with pytest.raises(UnknownScopeError):  # reading it made nothing
            await scoped.embedder_name()
        await ask("remember", text="Grace Hopper built COBOL.")
        found = await ask("graph_query", query="what did Grace Hopper build?")
    assert "COBOL" in found["text"]
    assert "reason" not in found


async def test_who_may_see_nothing_does_not_learn_whether_anything_was_written(scoped):
    engine = GraphSearchEngine(store=scoped, embedder=HashEmbedder(16))
    tools: dict[str, dict[str, Any]] = {
        **READS,
        "forget": {"session_id": "x"},
        "merge_entities": {"source": "a", "target": "b"},
    }
    del tools["communities"]  # made of the whole graph: refused, with that reason, to whoever sees a part of it
    stranger = make_server(surface_over(engine, profile=Profile.ALL), Identity(STRANGER, scoped.scope))
    answers = []
    for _ in range(2):
        async with asking(stranger) as ask:
            answers.append([await ask._called(tool, arguments) for tool, arguments in tools.items()])
        await Ingestor(engine).remember([Memory(id="m", text="Grace Hopper built COBOL.")])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({}, "give either turns or text"),
        ({"text": "x", "turns": TURNS, "session_id": "s"}, "give either turns or text"),
        ({"turns": TURNS}, "session_id is needed with turns"),
        ({"turns": TURNS, "session_id": "s", "occurred_at": "2025-01-01"}, "occurred_at comes with text"),
        ({"turns": [{"content": "x"}], "session_id": "s"}, "needs a role or a speaker"),
        ({"turns": [{"content": "a\0b", "role": "user"}], "session_id": "s"}, "must not contain NUL"),
        ({"turns": [{"content": "x", "role": "user", "owner": "eve"}], "session_id": "s"}, "turns.0.owner: is unknown"),
    ],
)
async def test_what_cannot_be_ingested_is_reported_and_nothing_is_written(engine, asked, arguments, fault):
    before = await engine.store.statistics()
    async with asked as ask:
        error = await ask.error("remember", **arguments)
    assert error["type"] == "InvalidInputError"
    assert fault in error["message"]
    assert await engine.store.statistics() == before


async def test_an_outcome_moves_what_was_surfaced_once(engine, asked):
    async with asked as ask:
        found = await ask("graph_query", query="where does Ada Lovelace live, in Paris?", session_id="s1")
        first = await ask("feedback", session_id="s1", outcome="accepted")
        again = await ask("feedback", session_id="s1", outcome="accepted")
        other = await ask("feedback", session_id="s1", outcome="rejected")
        unknown = await ask("feedback", session_id="nobody's", outcome="rework")
    assert first["moved"] == again["repeated"] == other["moved"] > len(found["triplets"])
    assert again["moved"] == 0
    assert unknown.pop("reason").startswith("nothing was shown")
    assert unknown == {"moved": 0, "repeated": 0, "missing": 0}
    (relation,) = await engine.store.list_relations(type="lives_in")
    assert relation.feedback_weight == pytest.approx(0.45)


async def test_an_entity_is_corrected(engine, asked):
    async with asked as ask:
        now = await ask(
            "update_entity",
            entity="Ada Lovelace",
            name="Augusta Ada King",
            description="Wrote the first program.",
            labels=["pioneer"],
            importance_weight=0.9,
        )
        same = await ask("recall_entity", entity="Ada Lovelace")
    assert now["id"] == str(ADA.id)
    assert now["name"] == same["entity"]["name"] == "Augusta Ada King"
    assert "Ada Lovelace" in now["aliases"]
    (stored,) = await engine.store.get_entities([ADA.id])
    assert (stored.labels, stored.importance_weight) == (("pioneer",), 0.9)


async def test_two_entities_become_one(engine, asked):
    async with asked as ask:
        planned = await ask("merge_entities", source="Acme", target="Globex", dry_run=True)
        assert [each.merged_into for each in await engine.store.get_entities([ACME.id])] == [None]
        done = await ask("merge_entities", source=str(ACME.id), target="Globex")
        other = await ask.error("merge_entities", source="Paris", target="Globex")
    assert planned["claims"] == done["claims"] == 2
    assert [each.merged_into for each in await engine.store.get_entities([ACME.id])] == [GLOBEX.id]
    assert other["type"] == "InvalidInputError"


async def test_memories_are_linked_once(asked):
    async with asked as ask:
        assert await ask("link_memories", from_id="moved", to_id="home") == {"new": True}
        assert await ask("link_memories", from_id="moved", to_id="home") == {"new": False}
        assert (await ask.error("link_memories", from_id="moved", to_id="gone"))["type"] == "UnknownElementError"


async def test_communities_are_found_and_kept(engine, asked):
    async with asked as ask:
        found = await ask("detect_communities", limit=1)
    kept = await engine.store.communities()
    assert len(kept) == 2
    assert [each["size"] for each in found["communities"]] == [kept[0].size]


async def test_a_memory_a_session_or_a_source_is_forgotten(engine, asked):
    async with asked as ask:
        assert (await ask("forget", memory="friends"))["memories"] == 1
        assert (await ask("forget", memory="friends"))["memories"] == 0
        assert (await ask("forget", session_id="s2"))["memories"] == 2
        assert (await ask("forget", source="notes"))["memories"] == 2
        for wrong in ({}, {"memory": "home", "source": "chat"}):
            assert (
                "give one of memory, session_id, source, subject, owner, label"
                in (await ask.error("forget", **wrong))["message"]
            )
    assert await engine.store.list_memories() == []


async def test_what_the_tool_context_showed_is_no_new_evidence(engine, asked):
    async with asked as ask:
        await ask("remember", turns=TURNS, session_id="chat-1")
        shown = await ask("graph_query", query="what did Grace Hopper build?")
        session, [*_, line] = shown["session_id"], [each for each in shown["text"].splitlines() if "Noted" in each]
        before = await engine.store.statistics()
        note = await ask("remember", text=f"You said: {line}", context_session=session)
        assert (note["changed"], "memory_ids" in note, len(note["echoes"])) == (0, False, 1)
        assert await engine.store.statistics() == before
        turn = {"role": "assistant", "content": f"{line}\n\nAda Lovelace works at Initech."}
        more = await ask("remember", turns=[turn], session_id="chat-2", context_session=session)
        assert more == {"changed": 1, "memory_ids": [own("chat-2:0")], "echoes": [own("chat-2:0")]}
    claims = await engine.store.list_claims(memory_ids=more["memory_ids"])
    assert [each.type for each in claims] == ["works_at"]


NOTE = "Zoe Marsh leads Plumbline since 2 March. Omar Haddad reports to Zoe Marsh."
STATED = [
    {
        "subject": "Zoe Marsh",
        "relation": "leads",
        "object": "Plumbline",
        "since": "2 March",
        "quote": "Zoe Marsh leads",
    },
    {"subject": "Zoe Marsh", "relation": "reports to", "object": "Omar Haddad", "quote": "Omar Haddad reports to Zoe"},
]


async def test_facts_are_stated_with_a_note_and_the_answer_says_what_became_of_each(engine, asked):
    entities = [{"name": "Plumbline", "type": "project", "aliases": ["PL"]}]
    note = {"text": NOTE, "occurred_at": "2026-03-05"}
    async with asked as ask:
        first = await ask(
            "remember", **note, facts=json.dumps([*STATED, {**STATED[0], "object": "Okta"}]), entities=entities
        )
        right = {"subject": "Omar Haddad", "relation": "reports to", "object": "Zoe Marsh", "until": None, "quote": ""}
        again = await ask("remember", **note, facts=[STATED[0], right])
        known = await ask("remember", **note, facts=[STATED[0], right])
        around = await ask("graph_neighbors", entity="Zoe Marsh", as_of="2026-04-01")
    assert [each.split()[:2] for each in first["facts"]] == [["1", "new"], ["2", "contradicts;"], ["3", "new;"]]
    assert "not grounded" in first["facts"][2]
    assert again["memory_ids"] == first["memory_ids"]
    assert known == {"changed": 0, "memory_ids": first["memory_ids"], "facts": ["1 known", "2 known"]}
    since = {each["line"].partition(" (")[0].partition(" — ")[0]: each.get("valid_from") for each in around["triplets"]}
    assert since["Zoe Marsh --leads--> Plumbline"] == "2026-03-02T00:00:00+00:00"
    assert "Omar Haddad --reports_to--> Zoe Marsh" in since
    assert not [line for line in since if "Okta" in line], "what is stated anew takes the place of what was"


async def test_facts_find_their_turn_and_need_no_text(engine):
    turns = [{"speaker": "Zoe Marsh", "content": "I moved to Oslo."}, {"speaker": "Tom Reed", "content": "I use Vim."}]
    facts = [{"subject": "Tom Reed", "relation": "uses", "object": "Vim"}]
    moved = {"subject": "I", "relation": "lives in", "object": "Oslo", "quote": "moved to Oslo"}
    alone = ["Zoe Marsh | is allergic to | nuts"]
    async with asking(server_for(engine, extractor=None)) as ask:
        said = await ask("remember", turns=turns, session_id="s", facts=[*facts, moved])
        noted = await ask("remember", facts=alone)
        ended = await ask("remember", facts=[{**facts[0], "ended": True}])
    claims = await engine.store.list_claims(memory_ids=[*said["memory_ids"], *noted["memory_ids"]])
    assert sorted((claim.memory_id, claim.type) for claim in claims) == sorted(
        [(said["memory_ids"][0], "lives_in"), (said["memory_ids"][1], "uses"), (noted["memory_ids"][0], "allergic_to")]
    )
    (memory,) = await engine.store.get_memories(noted["memory_ids"])
    assert (memory.text, memory.attributes["owner"]) == ("Zoe Marsh is allergic to nuts.", "ada")
    assert noted["facts"] == ["1 new; as Zoe Marsh --allergic_to--> nuts; relation in your words"]
    assert ended["facts"][0].startswith("1 ends Tom Reed")


async def test_bad_facts_are_named_and_nothing_is_written(engine):
    strict = server_for(engine, ingest=IngestOptions(refuse_ungrounded=True))
    bad = [
        {"subject": "Tom Reed", "relation": "uses"},
        {"subject": "a", "relation": "b", "object": "c"},
    ]
    async with asking(strict) as ask:
        errors = [
            await ask.error("remember", text=NOTE, facts=bad),
            await ask.error("remember", text=NOTE, facts=[{"subject": "a", "verb": "b"}]),
            await ask.error("remember", facts=bad[1:]),
            await ask.error("remember", text=NOTE, facts=["Tom Reed uses Vim"]),
        ]
    faults = ("'uses' '': object must not be empty", "verb: is unknown", "the text that prove", "subject | relation |")
    assert [fault for error, fault in zip(errors, faults, strict=True) if fault not in error["message"]] == []
    assert not [each for each in await engine.store.list_memories(limit=100) if each.text.startswith("Zoe")]


async def test_the_tool_teaches_what_a_good_fact_is_with_the_types_of_the_scope(engine, monkeypatch, caplog):
    async def broken(*_, **__):
        raise StoreUnavailableError("db:5432 is down")

    facts = [{"subject": "Tom Reed", "relation": "eyes", "object": name} for name in ("Vim", "Git", "Make", "Tig")]
    async with asking(server_for(engine, profile=Profile.ALL)) as ask, asking(server_for(engine, STRANGER)) as strange:
        tool = (await ask.tools())["remember"][0]
        listed = [tool.description or ""]
        await ask("register_type", name="blocked_by")
        await ask("remember", text="Tom Reed eyes all.", facts=facts)
        listed += [(await each.tools())["remember"][0].description or "" for each in (ask, strange)]
        monkeypatch.setattr(engine.store, "relation_types", broken)
        listed.append((await ask.tools())["remember"][0].description or "")
    _, after, stranger, unread = listed
    assert [text.partition("Relations used here: ")[2].startswith("eyes, ") for text in listed] == [
        False,
        True,
        False,
        False,
    ]
    assert "blocked_by" in after
    assert "blocked_by" not in stranger, "who may see nothing gets the usual types"
    assert "reports_to" in stranger
    assert "The words that prove it." in str(tool.input_schema)
    assert [TiktokenCounter().count(text) for text in listed if TiktokenCounter().count(text) > 200] == []
    assert "the types of a scope are not listed: db:5432 is down" in caplog.text
    assert "works_at" in unread
