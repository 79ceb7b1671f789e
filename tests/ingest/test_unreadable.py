"""Files that cannot be read are named, counted and left out; WRITE is asked before anything is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graphsearch.access.gate import Gate
from graphsearch.errors import AccessDeniedError, InvalidInputError
from graphsearch.ingest import IngestOptions, Ingestor
from graphsearch.ingest.extract.code.definitions import Index, outline
from graphsearch.model import EdgeKind, Memory, Span
from graphsearch.model.extracted import ExtractedMemory, ExtractedName, Statement
from graphsearch.stores.graph import GraphStore
from tests.gates import allowing
from tests.ingest.folders import Parts, put

CODECS = (
    "rot13",
    "rot_13",
    "zlib",
    "zlib_codec",
    "bz2",
    "hex",
    "base64",
    "uu",
    "quopri",
    "punycode",
    "idna",
    "undefined",
)
BROKEN: dict[str, bytes] = {
    **{f"codec_{name}.py": f"# coding: {name}\nx = 1\n".encode() for name in (*CODECS, "unicode_escape", "nosuch")},
    "utf16.py": b"# coding: utf-16\nx = 1\n",
    "utf7.py": b"# coding: utf-7\nx = '+2AA-'\n",
    "nul.py": b"x = '\0'\n",
    "latin.py": b"# \xff\nx = 1\n",
    "brackets.py": b"x = " + b"[" * 5_000 + b"]" * 5_000,
    "minus.py": b"x = " + b"-" * 50_000 + b"1",
    "attributes.py": b"x = a" + b".b" * 50_000 + b"()",
    "calls.py": b"def f():\n    return a" + b"()" * 50_000,
    "number.py": b"x = " + b"9" * 5_000,
    "default.py": b"def f(x=0x" + b"f" * 5_000 + b"): pass",
    "large.py": b"x = 1\n" * 400_000,
    "name.py": b"def " + b"f" * 10_001 + b"(): pass",
    "classes.py": b"".join(b" " * depth + b"class " + b"C" * 150 + b":\n" for depth in range(90)) + b" " * 90 + b"pass",
    "bytes.md": b"\xff\xfe text",
    "nul.txt": b"a\0b",
    "large.md": b"text\n" * 4_100_000,
    "deep.jsonl": b"[" * 10_000,
    "attributes.jsonl": b'{"memory": {"id": "m", "text": "x", "attributes": ' + b'{"a":' * 400 + b"1" + b"}" * 403,
    "line.jsonl": b'{"memory": {"id": "n", "text": "' + b"x" * 2_000_000 + b'"}}',
}


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped, embedder=None)


class Recording:
    """An extractor that finds what it is told to and records what it was given."""

    name = "recording"
    batch = None

    def __init__(self, *names: str) -> None:
        self.names = names
        self.read: list[str] = []

    async def extract(self, memories: Sequence[Memory]) -> list[ExtractedMemory]:
        self.read += [memory.id for memory in memories]
        return [self._extracted(memory) for memory in memories]

    def _extracted(self, memory: Memory) -> ExtractedMemory:
        found = [ExtractedName(name=name, type="person", span=None, confidence=0.9, pattern="x") for name in self.names]
        stated = [
            Statement(
                source=found[0], type="knows", target=other, confidence=0.9, kind=EdgeKind.SEMANTIC, valid_from=None,
                valid_to=None, fact="…", span=Span(start=0, end=1), pattern="x",
            )
            for other in found[1:]
        ]  # fmt: skip
        return ExtractedMemory(memory_id=memory.id, surfaces=tuple(found), statements=tuple(stated))


async def test_each_file_that_cannot_be_read_is_named_and_the_rest_is_added(parts: Parts, tmp_path: Path) -> None:
    put(tmp_path, good="def works(): pass\n")
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "broken_link.py").symlink_to("nowhere.py")
    os.mkfifo(tmp_path / "pipe.py")
    for name, content in BROKEN.items():
        (tmp_path / name).write_bytes(content)
    report = await Ingestor(parts, extractor=Recording()).add(tmp_path)
    assert {fault.path for fault in report.faults} == {*BROKEN, "pipe.py"}
    assert "not a regular file" in next(each.message for each in report.faults if each.path == "pipe.py")
    assert all(0 < len(fault.message) < 3_000 for fault in report.faults)
    assert report.files == len(BROKEN) + 2
    assert {entity.name for entity in await parts.store.list_entities()} == {"good", "good.works"}
    again = await Ingestor(parts, extractor=Recording()).add(tmp_path)
    assert (again.faults, again.changed) == (report.faults, 0)


@pytest.mark.parametrize("where", ["open", "lstat"])
async def test_a_file_or_a_folder_that_vanishes_or_is_closed_is_a_fault_and_its_content_is_kept(
    where: str, parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, a="x = 1", closed__b="x = 1")
    await parts.add(tmp_path)
    before = {entity.name for entity in await parts.store.list_entities()}
    original: Any = getattr(Path, where)

    def refusing(path: Path, *given: Any, **options: Any) -> Any:
        if path.name == "a.py":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return original(path, *given, **options)

    def walk(place: Path, onerror: Any) -> Any:
        onerror(PermissionError(13, "Permission denied", str(place / "closed")))
        yield str(place), ["closed"], ["a.py"]

    monkeypatch.setattr(Path, where, refusing)
    monkeypatch.setattr(os, "walk", walk)
    report = await parts.add(tmp_path)
    assert {fault.path for fault in report.faults} == {"a.py", "closed"}
    assert {entity.name for entity in await parts.store.list_entities()} == before


def test_modules_that_import_everything_of_each_other_are_followed_a_few_steps() -> None:
    index = Index()
    names = [f"m{number}" for number in range(12)]
    for name in names:
        index.add(outline(f"{name}.py", "\n".join(f"from {other} import *" for other in names if other != name)))
    assert index.resolve("m0.nothing") is None
    assert index.resolve("m0") is not None


async def test_a_name_that_is_too_long_is_refused_and_the_rest_of_its_text_is_read(parts: Parts) -> None:
    ingestor = Ingestor(parts, extractor=Recording("Ada", "x" * 10_001, "Bob", "y " * 1_001))
    report = await ingestor.remember([Memory(id="m", text="Ada and Bob")])
    assert {entity.name for entity in await parts.store.list_entities()} == {"Ada", "Bob"}
    assert len(await parts.store.list_relations()) == 1
    assert len(report.refused) == 2
    assert report.unread == ()


# -- WRITE comes first ------------------------------------------------------------------------------------------------


def nobody() -> Gate:
    return allowing(lambda _: False)


class Never:
    """A redaction that must not be reached."""

    name = "never"

    def redact(self, text: str) -> str:
        raise AssertionError(text)


@pytest.mark.parametrize("options", [None, IngestOptions(labels=["x"]), IngestOptions(redact=Never())])
async def test_who_may_not_write_has_no_text_read(options: IngestOptions | None, parts: Parts, tmp_path: Path) -> None:
    extractor = Recording("Ada")
    (tmp_path / "a.md").write_text("# a\nAda\n")
    put(tmp_path, b="x = 1")
    ingestor = Ingestor(parts, extractor=extractor, gate=nobody(), options=options)
    with pytest.raises(AccessDeniedError):
        await ingestor.remember([Memory(id="m", text="Ada")])
    assert extractor.read == []


async def test_who_may_not_write_has_no_file_read(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text("# a\nAda\n")
    put(tmp_path, b="x = 1")

    def never(*_: object, **__: object) -> None:
        raise AssertionError

    monkeypatch.setattr("graphsearch.ingest.sources.documents.document_memories", never)
    monkeypatch.setattr("graphsearch.ingest.sources.python_files.outline", never)
    with pytest.raises(AccessDeniedError):
        await Ingestor(parts, extractor=Recording(), gate=nobody()).add(tmp_path)


async def test_a_text_that_is_too_long_is_refused_before_it_is_read(parts: Parts) -> None:
    with pytest.raises(InvalidInputError, match="text must have at most 5,000,000"):
        Memory(id="m", text="x" * 5_000_001)
    assert (await Ingestor(parts, extractor=Recording()).remember([])).memories == 0
