"""Growth of the processor time to read 390 shapes as text, subject, speaker, session, document, code and question.

    python -m benchmarks.shapes [N …] [--json]

62 more are read as text alone. Each shape has a beginning, a part that is repeated up to 1, 2, 4 and 8 × N
characters, and an end that fits neither. The exponent is that of the processor time from the second size to the last;
one of less than 20 ms says nothing and is left out. An input that is refused takes no time. With fewer ``--runs`` there
are fewer shapes, 8 per run.
"""

from __future__ import annotations

import asyncio
import math
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from benchmarks.asking import SCOPE
from benchmarks.command import Setting, machine, run
from benchmarks.reading_shapes import SHAPES, text_of
from graphsearch import ALLOW_ALL
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor, document_memories
from graphsearch.model import Memory
from graphsearch.protocols import Embedder
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import HashEmbedder

SIZES: Final = (1, 2, 4, 8)
LIMIT: Final = 1.4
LEAST: Final = 0.02
"""Seconds of the largest input that tell a growth."""
SHAPES_A_RUN: Final = 8
WORST: Final = 12
_AT: Final = datetime(2024, 5, 15, 14, 30, tzinfo=UTC)

_MARKS: Final = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…–—•“”‘’«»。！？、"
_SPACES: Final = " \t\n\r\v\f\u00a0\u2003\u2028\u200b\u200d\ufeff\u3000"
_LETTERS: Final = "aAzé0９ßñжΩشअ漢あ한ก🙂👩‍\u0301\u0338"
_PHRASES: Final = (
    "a; an; the; and; or; of; to; in; is; was; new; no,; well,; then; also; not; if; whether; I; my; we; you; he; "
    "she; it; his; who; which; where; when; what; why; how; since; until; from; for; about; last; two; years; "
    "ago; May; 2019; 1000,; team; project; called; known as; head; chief; senior; member; friend of; colleague; "
    "boss of; works at; lives in; moved from; replaced; uses; excel; sorry; actually; scratch that; never; Ada; "
    "Ada,; Ada and; Ada and Bo and; Ada (Bo); Dr.; J.; X X X; O'X; A-; Mr. X; Acme Inc.; van; de la; @a; #a"
)
_WORDS: Final = _PHRASES.split("; ")
_PARTS: Final = (
    "a@", "a@b.", "@a@", "a.b.", "a/b/", "../", "C:\\", "http://", "https://a/", "www.", "[a](", "![a](", "[[",
    "]]", "](", "**a", "__a", "`a`", "``` ", "```\n", "~~~\n", "# ", "## a\n", "#a ", "- ", "* a\n", "1. ",
    "1) a\n", "- [ ] a\n", "> ", "| a ", "|---", "---\n", "===\n", "a\n\n", "\n a", " \n", "\r\n", "A: ",
    "A: A: ", "A: a\n", "user: ", "[10:00] A: ", "2024-05-01 ", "2024-05-01T10:00 ", "1/2/", "10:00 ", "1,",
    "1.", "1-", "1:0:", "v1.2.", "$1 ", "5% ", "(a ", "(a) ", "((a)", "<a ", "<a>", "</a>", "{a", '{"a":',
    "[1,", '"a" ', '"A ', "'a' ", "“A ", "“A” ", "a's ", "n't ", "A.", "A.B.", "A B ", "Aa", "aA", "A_", "a_b",
    "a-b-", "a::", "f()", "f(", "x=", "==", "->", "a;b;", "&amp;", "%20", "\\n", "...", ". . ", "! ", "?! ",
    "a. ", "a.) ", "..a", "!a", "… ", "é", "a\u200b", "漢字。", "漢、", "مرحبا ", "🙂 ", ":0", "#L1", "A (",
    "A, or B ", "A is B's ", "the A of ", "of you ", "no, ", "its own ", "anyone else ",
)  # fmt: skip


def pumps() -> Mapping[str, tuple[str, str, str]]:
    """The shapes by name: a beginning, what is repeated, and an end."""
    repeated = [*_MARKS, *_SPACES, *_LETTERS, *(f"{word} " for word in _WORDS), *_PARTS]
    repeated += [f"{mark} " for mark in _MARKS]
    found = {f"{each!r}…x": ("", each, "x") for each in repeated}
    found |= {f"# a{each!r}…x": ("# a", each, "x") for each in (*_SPACES, "#", " #", "*", "_", "[")}
    found |= {f"Ada{each!r}…": ("Ada works at Acme", each, "\x01 ") for each in (*_SPACES, *_MARKS)}
    return found


async def _text(given: str) -> None:
    await _remember(Memory(id="m", text=given, occurred_at=_AT))


async def _subject(given: str) -> None:
    await _remember(Memory(id="m", text="It is by Ada. I like it.", subject=given, occurred_at=_AT))


async def _speaker(given: str) -> None:
    await _remember(Memory(id="m", text="I work at Acme with Bo.", speaker=given, occurred_at=_AT))


async def _session(given: str) -> None:
    await _remember(Memory(id="m", text="I work at Acme with Bo.", session_id=given, occurred_at=_AT))


async def _document(given: str) -> None:
    await _remember(*document_memories(given, document_id="d"))


async def _code(given: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        text = given.replace("\\", "").replace('"', "")
        file = Path(folder, "a.py")
        await asyncio.to_thread(file.write_text, f'def f():\n    """{text}"""\n    # {given}\n', encoding="utf-8")
        await Ingestor(_engine()).add(Path(folder))


async def _question(given: str) -> None:
    engine = _engine(HashEmbedder(8))
    await Ingestor(engine).remember([Memory(id="m", text="Ada Smith works at Acme. Ada uses Redis.", occurred_at=_AT)])
    for ask in (engine.search, engine.recall, engine.rank_entities):
        await ask(given)
    await ContextBuilder(engine).build(given, gate=ALLOW_ALL, session_id="s")


async def _remember(*memories: Memory) -> None:
    await Ingestor(_engine()).remember(memories)


def _engine(embedder: Embedder | None = None) -> GraphSearchEngine:
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    return GraphSearchEngine(store=store, embedder=embedder)


READERS: Final[Mapping[str, Callable[[str], Awaitable[None]]]] = {
    "text": _text,
    "subject": _subject,
    "speaker": _speaker,
    "session": _session,
    "document": _document,
    "code": _code,
    "question": _question,
}


def made(shape: tuple[str, str, str], size: int) -> str:
    """A text of a shape, with about ``size`` characters."""
    beginning, repeated, end = shape
    return beginning + repeated * max(1, size // len(repeated)) + end


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """The exponents of the slowest growth, and how many shapes each reader was given."""
    return {"benchmark": "shapes", "n": n, **await asyncio.to_thread(_measured, n, setting.runs)}


def _measured(n: int, runs: int) -> dict[str, Any]:
    shapes = pumps()
    some = list(shapes)[:: math.ceil(len(shapes) / (SHAPES_A_RUN * runs))]
    given: dict[tuple[str, str], Callable[[int], str]] = {
        (reader, name): lambda size, name=name: made(shapes[name], size)  # type: ignore[misc]
        for reader in READERS
        for name in some
    }
    given |= {("text", name): lambda size, name=name: text_of(name, size) for name in SHAPES[: SHAPES_A_RUN * runs]}  # type: ignore[misc]
    seconds("text", "Ada knows Bo.")  # what is loaded at the first use
    grown: dict[str, float] = {}
    slowest: dict[str, float] = {}
    for (reader, name), text in given.items():
        _, second, _, last = (seconds(reader, text(size * n)) for size in SIZES)
        slowest[f"{reader} {name}"] = last
        if last > LEAST:
            grown[f"{reader} {name}"] = math.log(last / second) / math.log(SIZES[-1] / SIZES[1])
    return {
        "characters": [size * n for size in SIZES],
        "shapes": len(given),
        "runs": 1,
        "machine": machine(),
        "exponents": _largest(grown),
        "seconds": _largest(slowest),
        "target": f"<= {LIMIT}",
        "met": max(grown.values(), default=0.0) <= LIMIT,
    }


def _largest(found: Mapping[str, float]) -> dict[str, float]:
    return {each: round(found[each], 2) for each in sorted(found, key=lambda each: -found[each])[:WORST]}


def seconds(reader: str, text: str) -> float:
    """Processor time to read a text."""
    started = time.process_time()
    try:
        asyncio.run(_read(reader, text))
    except InvalidInputError:
        return 1e-6
    return max(time.process_time() - started, 1e-6)


async def _read(reader: str, text: str) -> None:
    await READERS[reader](text)


if __name__ == "__main__":
    run(measure, __doc__)
