"""What the hooks of coding agents do, on transcripts in the format of each."""

import asyncio
import json
import sys
import time
from datetime import UTC, datetime
from typing import Any

import pytest

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.cli.agent_hooks import record, run, turns_of
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import ForeignSessionError
from graphsearch.ingest import Ingestor
from graphsearch.model import Memory, Principal
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder

AT = "2026-05-04T09:00:00.000Z"


def of_claude(role, *content, **more):
    message = {"role": role, "content": content[0] if isinstance(content[0], str) else content}
    return {"type": role, "uuid": "u", "timestamp": AT, "message": message, **more}


def text(value):
    return {"type": "text", "text": value}


CLAUDE = [
    {"type": "summary", "summary": "Of an earlier session", "leafUuid": "x"},
    of_claude("user", "Caveat: what follows was not typed", isMeta=True),
    of_claude("user", "<command-name>/clear</command-name>"),
    of_claude("user", "Priya Sharma leads Apollo.\0"),
    of_claude("assistant", {"type": "thinking", "thinking": "Who is Priya?"}),
    of_claude("assistant", text("I look it up."), {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}),
    of_claude("user", {"type": "tool_result", "tool_use_id": "t", "content": [text("a secret file")]}),
    of_claude("assistant", text("A sub-agent says so."), isSidechain=True),
    of_claude("user", text("<system-reminder>Be brief</system-reminder>"), text("See this \ud83d"), {"type": "image"}),
    of_claude("user", "This session is being continued: Priya left.", isCompactSummary=True),
    of_claude("assistant", text("API Error: 529"), isApiErrorMessage=True),
    of_claude("assistant", text("Noted."), timestamp="yesterday"),
    of_claude("assistant", text("Noted."), timestamp="2026-05-04T09:00:00"),
    {"type": "file-history-snapshot", "snapshot": {}},
]
CODEX = [
    {"timestamp": AT, "type": "session_meta", "payload": {"id": "s"}},
    {"timestamp": AT, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [text("x")]}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": "Who leads Apollo?"}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "agent_reasoning", "text": "Hm"}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "agent_message", "message": "Priya Sharma."}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "token_count", "info": None}},
]
CURSOR = [
    {
        "role": "user",
        "message": {"content": [text("<timestamp>Monday</timestamp>\n<user_query>\nWho leads it?\n</user_query>")]},
    },
    {"role": "assistant", "message": {"content": [text("Priya Sharma."), {"type": "tool_use", "name": "Read"}]}},
    {"type": "status", "status": "completed"},
]


def lines(entries):
    return [json.dumps(each) for each in entries]


def said(entries):
    return [(turn["role"], turn["content"]) for turn in turns_of(lines(entries))[0]]


def test_turns_of_claude_code():
    turns, outcome = turns_of(["{ not json", "[]", "7", *lines(CLAUDE), '{"type": "user", "mess'])
    assert [(turn["role"], turn["content"], turn.get("time")) for turn in turns] == [
        ("user", "Priya Sharma leads Apollo.", datetime(2026, 5, 4, 9, tzinfo=UTC)),
        ("assistant", "I look it up.", datetime(2026, 5, 4, 9, tzinfo=UTC)),
        ("user", "See this ?", datetime(2026, 5, 4, 9, tzinfo=UTC)),
        ("assistant", "Noted.", None),
        ("assistant", "Noted.", None),
    ]
    assert outcome is None


def test_turns_of_codex_and_cursor():
    assert said(CODEX) == [("user", "Who leads Apollo?"), ("assistant", "Priya Sharma.")]
    assert said(CURSOR) == [("user", "Who leads it?"), ("assistant", "Priya Sharma.")]


def test_a_turn_has_a_length():
    assert [len(content) for _, content in said([of_claude("user", "ab " * 50_000)])] == [100_000]


@pytest.mark.parametrize(
    ("typed", "outcome"),
    [
        (["graphsearch: accepted"], "accepted"),
        (["Graphsearch: Rework ", "thanks"], "rework"),
        (["graphsearch: accepted", "graphsearch: rejected"], "rejected"),
        (["graphsearch: accepted?"], None),
        (["Thanks, perfect, accepted!"], None),
        (["graphsearch: great"], None),
    ],
)
def test_only_the_word_of_a_person_is_an_outcome(typed, outcome):
    entries = [of_claude("user", each) for each in typed]
    assert turns_of(lines(entries))[1] == outcome
    assert (("user", typed[0]) in said(entries)) == (outcome is None)  # an outcome is not remembered
    assert turns_of(lines([of_claude("assistant", each) for each in typed]))[1] is None


@pytest.mark.parametrize("name", ["SessionStart", "sessionStart"])
def test_an_agent_is_told_the_id_of_its_session(tmp_path, name, capfd):
    key = "session_id" if name == "SessionStart" else "conversation_id"
    answer = json.loads(run(json.dumps({"hook_event_name": name, key: "s1"}), again=["never"], log=tmp_path / "log"))
    assert "'s1'" in (answer.get("additional_context") or answer["hookSpecificOutput"]["additionalContext"])
    assert ("additional_context" in answer) == (name == "sessionStart")
    assert capfd.readouterr().err == ""


@pytest.mark.filterwarnings("ignore:subprocess")
@pytest.mark.parametrize("name", ["Stop", "SessionEnd", "stop", "sessionEnd"])
def test_the_end_of_a_turn_is_handed_over(tmp_path, name):
    script = (
        "import sys, time; given = sys.stdin.read(); time.sleep(.2); open(sys.argv[1], 'w').write(given);"
        " sys.stderr.write('failed')"
    )
    event = json.dumps({"hook_event_name": name, "session_id": "s1", "transcript_path": "/t", "last": "é" * 100})
    copy, log = tmp_path / "copy", tmp_path / "state" / "hooks.log"
    assert run(event, again=[sys.executable, "-c", script, str(copy)], log=log) == "{}"
    assert not copy.exists()  # nobody waits for it
    until = time.monotonic() + 20
    while not (log.exists() and log.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    assert (copy.read_text(), log.read_text()) == (event, "failed")


@pytest.mark.parametrize(
    "given",
    [
        "",
        "{",
        "[]",
        '{"hook_event_name": "Stop"}',
        '{"hook_event_name": 3, "session_id": "s"}',
        '{"hook_event_name": "Stop", "session_id": "s", "transcript_path": "/t"}',
    ],
)
def test_what_fails_is_a_line(tmp_path, given, capfd):
    assert run(given, again=[str(tmp_path / "missing")], log=tmp_path / "log") == "{}"
    assert capfd.readouterr().err.startswith("graphsearch: the hook did nothing: ")


@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_an_event_without_a_transcript_is_nothing_to_do(tmp_path, event, capfd):
    given = json.dumps({"hook_event_name": event, "session_id": "s", "transcript_path": None})
    assert run(given, again=["never"], log=tmp_path / "log") == "{}"
    assert capfd.readouterr().err == ""


@pytest.fixture
def engine():
    store = InMemoryGraphStore().with_scope(org_id="acme", project_id="web")
    return GraphSearchEngine(store=store, embedder=HashEmbedder())


def gate_of(name, engine):
    return Gate(CedarAuthorizer.default(), Principal(id=name, projects=[engine.store.scope]))


def event_of(path, entries):
    path.write_text("\n".join(lines(entries)), encoding="utf-8")
    return json.dumps({"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(path)})


async def test_a_session_is_remembered_once_and_goes_on(tmp_path, engine):
    ada, ingestor = gate_of("ada", engine), Ingestor(engine)
    parts = {"agent": "claude-code", "engine": engine, "ingestor": ingestor, "gate": ada}
    await record(event_of(tmp_path / "t", CLAUDE), **parts)
    remembered = await engine.store.get_memories([f"s1:{place}" for place in range(9)])
    assert [(each.speaker, each.position, each.source) for each in remembered[:2]] == [
        ("user", 0, "claude-code"),
        ("assistant", 1, "claude-code"),
    ]
    assert len(remembered) == 5
    version = await engine.store.version()
    await record(event_of(tmp_path / "t", CLAUDE), **parts)
    assert await engine.store.version() == version
    await record(event_of(tmp_path / "t", [*CLAUDE, of_claude("user", "Ada leads Zeus.")]), **parts)
    assert [each.text for each in await engine.store.get_memories(["s1:4", "s1:5"])] == ["Noted.", "Ada leads Zeus."]
    assert "leads" in str(await engine.search("Who leads Apollo?"))


async def test_the_outcome_is_that_of_the_person_whose_session_it_is(tmp_path, engine):
    ada = gate_of("ada", engine)
    await Ingestor(engine).remember([Memory(id="n", text="Priya Sharma leads Apollo.")])
    await ContextBuilder(engine).build("Who leads Apollo?", gate=ada, session_id="s1")
    parts = {"agent": "codex", "engine": engine, "ingestor": Ingestor(engine)}

    async def weight():
        return [each.feedback_weight for each in await engine.store.get_memories(["n"])]

    before = await weight()
    await record(event_of(tmp_path / "t", CODEX), gate=ada, **parts)
    assert await weight() == before
    rejected = event_of(tmp_path / "t", [*CODEX, of_claude("user", "graphsearch: rejected")])
    with pytest.raises(ForeignSessionError):
        await record(rejected, gate=gate_of("eve", engine), **parts)
    await record(rejected, gate=ada, **parts)
    after = await weight()
    assert after < before
    await record(rejected, gate=ada, **parts)
    assert await weight() == after


async def test_remembering_has_a_time_limit(tmp_path, engine):
    class Slow:
        async def remember(self, memories):
            await asyncio.sleep(60)

    slow: Any = Slow()
    with pytest.raises(TimeoutError):
        await record(
            event_of(tmp_path / "t", CODEX), agent="codex", engine=engine, ingestor=slow, gate=ALLOW_ALL, seconds=0.05
        )
