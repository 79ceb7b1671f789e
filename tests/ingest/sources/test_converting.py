"""Documents of other formats: what of them is read, and that a file made to do harm does none."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from graphsearch.errors import InvalidInputError, MissingExtraError
from graphsearch.ingest.sources import converting
from graphsearch.ingest.sources.memory_files import read_memories
from tests.ingest.folders import Parts
from tests.ingest.sources.made import docx, paragraph, pdf
from tests.waiting import LONGEST

PAGE = """<!doctype html><html><head><title>T</title><style>p {}</style></head><body><nav>Home</nav><main>
<h1>Team</h1><p>Ada <a href="https://acme.example">Lovelace</a> works at <b>Acme</b>; see my_name.</p>
<script>alert(1)</script><table><tr><th>who</th></tr><tr><td>Bob</td></tr></table></main><footer>©</footer></body>"""


def put(folder: Path, name: str, content: bytes) -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def test_of_a_page_its_main_part_is_read_without_menus_scripts_and_links(tmp_path: Path) -> None:
    (memory,) = read_memories(put(tmp_path, "a.HTML", PAGE.encode()))
    assert memory.text == "Ada Lovelace works at **Acme**; see my_name.\n\n| who |\n| --- |\n| Bob |"
    assert (memory.subject, memory.source) == ("Team", "a.HTML")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("<p>Gdańsk".encode("utf-16"), "Gdańsk"),
        ("<p>Gdańsk".encode(), "Gdańsk"),
        ('<meta charset="iso-8859-2"><p>Gdańsk'.encode("iso-8859-2"), "Gdańsk"),
        (b'<meta charset="nosuch"><p>caf\xe9', "café"),
    ],
)
def test_a_page_is_decoded_as_its_bytes_or_itself_say(content: bytes, text: str) -> None:
    assert converting.converted("a.htm", content).strip() == text


def test_a_word_document_has_headings_and_paragraphs(tmp_path: Path) -> None:
    body = paragraph("Team", "Heading1") + paragraph("Ada Lovelace works at Acme.") + paragraph("Bob lives in Leeds.")
    (memory,) = read_memories(put(tmp_path, "a.docx", docx(body)))
    assert (memory.subject, memory.text) == ("Team", "Ada Lovelace works at Acme.\n\nBob lives in Leeds.")


def test_words_that_a_line_of_a_pdf_breaks_are_whole(tmp_path: Path) -> None:
    path = put(tmp_path, "a.pdf", pdf(["Ada Lovelace works at Acme, a manu-", "facturer."], ["Bob lives in Leeds."]))
    (memory,) = read_memories(path)
    assert memory.text == "Ada Lovelace works at Acme, a manufacturer.\n\nBob lives in Leeds."


async def test_documents_of_a_folder_are_read_once(tmp_path: Path) -> None:
    put(tmp_path, "a.pdf", pdf(["Ada Lovelace works at Acme."]))
    put(tmp_path, "b.docx", docx(paragraph("Bob Miller reports to Ada Lovelace.")))
    parts = Parts()
    report = await parts.add(tmp_path)
    assert (report.files, report.changed, report.faults) == (2, 2, ())
    assert {each.type for each in await parts.store.list_relations(limit=9)} >= {"works_at", "reports_to"}
    assert (await parts.add(tmp_path)).changed == 0


def _encrypted() -> bytes:
    writer, file = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf(["Secret."])))), io.BytesIO()
    writer.encrypt("password", algorithm="RC4-128")
    writer.write(file)
    return file.getvalue()


LOL = "".join(
    f'<!ENTITY {name} "{f"&{of};" * 10}">' for of, name in zip("abcdefgh", "bcdefghi", strict=True)
)  # a billion of what "a" is


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("a.pdf", b"hello", "is no pdf that can be read"),
        ("a.pdf", _encrypted(), "it is encrypted: save it without a password"),
        ("a.pdf", pdf([]), "has no text, only images"),
        ("a.docx", b"hello", "is no docx that can be read: File is not a zip file"),
        ("a.docx", docx(paragraph("&i;"), f'<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa">{LOL}]>'), "amplification"),
        ("a.html", b"<div>" * 20_000, "is nested too deeply"),
        ("a.html", b"<p " + b"a=1 " * 3_000_000 + b">", "takes more than 1 GB of memory"),
    ],
)
def test_a_broken_or_hostile_document_is_a_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, fault: str
) -> None:
    monkeypatch.setattr(converting, "SECONDS", LONGEST)
    put(tmp_path, name, content)
    with pytest.raises(InvalidInputError, match=fault):
        read_memories(tmp_path / name)


async def test_a_folder_is_read_beside_what_is_broken_in_it(tmp_path: Path) -> None:
    put(tmp_path, "a.pdf", b"hello")
    put(tmp_path, "b.html", b"<p>Ada works at Acme.")
    report = await Parts().add(tmp_path)
    assert [(each.path, "is no pdf" in each.message) for each in report.faults] == [("a.pdf", True)]
    assert (report.files, report.changed) == (2, 1)


def test_a_document_that_takes_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(converting, "SECONDS", 0.5)
    with pytest.raises(InvalidInputError, match=r"takes more than 0\.5 s"):
        converting.converted("a.html", b"<!-- " * 20_000)


def test_a_reader_opens_no_connection_and_starts_no_program() -> None:
    """As a library's part would that had a hole."""
    for attempt in ("socket.create_connection(('127.0.0.1', 9))", "subprocess.run(['true'])", "os.system('true')"):
        script = f"""
import os, socket, subprocess, sys
from graphsearch.ingest.sources import converting
def read(content): {attempt}
converting.CONVERTERS = {{".html": read}}
sys.argv = ["", ".html"]
converting.main()"""
        done = subprocess.run([sys.executable, "-c", script], input=b"", capture_output=True, check=True)
        assert b"a reader of documents does no" in done.stdout, attempt


async def test_a_missing_extra_is_a_fault_of_each_file_and_what_was_read_of_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, "a.pdf", pdf(["Ada Lovelace works at Acme."]))
    parts = Parts()
    await parts.add(tmp_path)
    put(tmp_path, "a.pdf", pdf(["Ada Lovelace works at Acme Corp."]))

    def missing(*_: object, **options: str) -> None:
        raise MissingExtraError(options["extra"], options["purpose"])

    monkeypatch.setattr(converting, "require", missing)
    report = await parts.add(tmp_path)
    assert "pip install 'graphsearch[documents]'" in report.faults[0].message
    assert report.forgotten == 0
    assert [each.text for each in await parts.store.list_memories(limit=9) if each.text] == [
        "Ada Lovelace works at Acme."
    ]
