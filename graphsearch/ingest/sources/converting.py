"""Documents of other formats as text: HTML and Word as Markdown, PDF as it is, by the libraries of one extra.

A file can be made to exhaust the memory or the time of whoever parses it: so each is converted by a process of its own,
which has limits of both, opens no connection and starts no program.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Any, Final

from graphsearch._support.lazy import require
from graphsearch.model import validation as check

MAX_TEXT: Final = 20_000_000
"""Most characters of a text."""
SECONDS: Final = 60
_MEMORY: Final = 1 << 30
_FORBIDDEN: Final = ("socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.exec", "os.fork", "os.system")
_ASIDE: Final = ("head", "script", "style", "template", "noscript", "svg", "nav", "aside", "footer", "form", "button")
_BROKEN_WORD: Final = re.compile(r"(?<=[a-z])-\n(?=[a-z])")


def converted(name: str, content: bytes) -> str:
    """A document as text, by the suffix of its name. Raises `InvalidInputError` and `MissingExtraError`."""
    for package in ("bs4", "mammoth", "markdownify", "pypdf"):
        require(package, extra="documents", purpose="reading PDF, Word and HTML")
    command = [sys.executable, "-P", "-m", __name__, PurePosixPath(name).suffix.lower()]
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run(  # noqa: S603 - of this module
            command, input=content, env=found, capture_output=True, timeout=SECONDS, check=False
        )
        # it died if it says nothing, as it does without memory inside of a library
        answer = json.loads(done.stdout or '{"fault": "cannot be read: its reader ended without an answer"}')
    except subprocess.TimeoutExpired:
        answer = {"fault": f"takes more than {SECONDS} s to read"}
    check.refuse(name, answer.get("fault"))
    return str(answer["text"])


# -- in its own process -----------------------------------------------------------------------------------------------


def _html_text(content: bytes) -> str:
    """The main part of a page as Markdown, without scripts, menus, links and images."""
    from bs4 import BeautifulSoup  # noqa: PLC0415 - each format loads its own library
    from bs4.dammit import EncodingDetector  # noqa: PLC0415
    from markdownify import MarkdownConverter  # noqa: PLC0415

    whole = BeautifulSoup(_decoded(content, EncodingDetector), "html.parser")
    page = whole.find("main") or whole.find("article") or whole
    for each in page(_ASIDE):
        each.decompose()
    options: dict[str, Any] = {"heading_style": "ATX", "bullets": "-", "table_infer_header": True}
    plain: Any = dict.fromkeys(("escape_asterisks", "escape_underscores", "escape_misc"), False)
    return str(MarkdownConverter(strip=["a", "img"], **options, **plain).convert_soup(page))


def _decoded(content: bytes, detector: Any) -> str:
    """A page as text: by its byte order mark, as UTF-8, as it says itself, else as what western pages were."""
    content, marked = detector.strip_byte_order_mark(content)
    for encoding in (marked, "utf-8", detector.find_declared_encoding(content, is_html=True)):
        with suppress(LookupError, ValueError):
            if encoding:
                return content.decode(encoding)
    return content.decode("windows-1252", "replace")


def _docx_text(content: bytes) -> str:
    """A Word document as Markdown."""
    import mammoth  # noqa: PLC0415

    no_image = mammoth.images.img_element(lambda _: {})
    return _html_text(mammoth.convert_to_html(io.BytesIO(content), convert_image=no_image).value.encode())


def _pdf_text(content: bytes) -> str:
    """The text of a PDF, in which words that the end of a line broke are whole."""
    from pypdf import PdfReader  # noqa: PLC0415

    pdf = PdfReader(io.BytesIO(content))
    if pdf.is_encrypted and not pdf.decrypt(""):
        raise ValueError("it is encrypted: save it without a password")
    text = "\n\n".join(page.extract_text() for page in pdf.pages)
    if not text.strip():
        raise ValueError("it has no text, only images: recognise their characters first")
    return _BROKEN_WORD.sub("", text)


CONVERTERS: Final[Mapping[str, Callable[[bytes], str]]] = MappingProxyType(
    {".html": _html_text, ".htm": _html_text, ".docx": _docx_text, ".pdf": _pdf_text}
)
"""By suffix."""


def _forbid(event: str, _: object) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(f"a reader of documents does no {event}")


def main() -> None:
    """Convert the document in standard input, and answer in JSON."""
    with suppress(ImportError):  # of Windows, which has no such limits
        import resource  # noqa: PLC0415

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sys.addaudithook(_forbid)
    try:
        text = CONVERTERS[sys.argv[1]](sys.stdin.buffer.read())
        text = text.replace("\0", "").encode("utf-8", "replace").decode()
        answer = {"fault": f"has more than {MAX_TEXT:,} characters"} if len(text) > MAX_TEXT else {"text": text}
    except RecursionError:
        answer = {"fault": "is nested too deeply"}
    except MemoryError:
        answer = {"fault": f"takes more than {_MEMORY >> 30} GB of memory to read"}
    except Exception as error:  # noqa: BLE001 - whatever the libraries raise for a broken file
        answer = {"fault": f"is no {sys.argv[1][1:]} that can be read: {error or type(error).__name__}"[:500]}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
