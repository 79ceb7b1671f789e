"""Documents and exports that tests make themselves, each as small as its format lets it be."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

_OFFICE = "http://schemas.openxmlformats.org"
_PARTS = {
    "[Content_Types].xml": f'<Types xmlns="{_OFFICE}/package/2006/content-types"/>',
    "_rels/.rels": f'<Relationships xmlns="{_OFFICE}/package/2006/relationships"><Relationship Id="r1" Target='
    f'"word/document.xml" Type="{_OFFICE}/officeDocument/2006/relationships/officeDocument"/></Relationships>',
}


def zipped(parts: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return file.getvalue()


def docx(body: str, before: str = "") -> bytes:
    space = f'xmlns:w="{_OFFICE}/wordprocessingml/2006/main"'
    return zipped({**_PARTS, "word/document.xml": f"{before}<w:document {space}><w:body>{body}</w:body></w:document>"})


def paragraph(text: str, style: str = "") -> str:
    styled = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{styled}<w:r><w:t>{text}</w:t></w:r></w:p>"


def pdf(*pages: list[str]) -> bytes:
    """A PDF with pages of lines."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for lines in pages:
        shown = " T* ".join(f"({line}) Tj" for line in lines)
        stream = f"BT /F1 12 Tf 14 TL 72 700 Td {shown} ET".encode()
        objects += [
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {len(objects) + 2} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>".encode(),
            b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        ]
    file, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        places.append(len(file))
        file += b"%d 0 obj%s endobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(file))
    return file + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + end


SLACK: dict[str, Any] = {
    "users.json": [{"id": "U1", "name": "ada", "profile": {"real_name": "Ada Lovelace"}}, {"id": "U2", "name": "bob"}],
    "channels.json": [{"id": "C1", "name": "general"}],
    "general/2024-05-01.json": [
        {
            "type": "message",
            "user": "U1",
            "text": "<@U2> reports to me &amp; <#C1|general>.",
            "ts": "1714554000.000100",
        },
        {"type": "message", "subtype": "channel_join", "user": "U2", "text": "<@U2> has joined", "ts": "1714554001.0"},
        {"type": "message", "user": "U2", "text": "See <https://acme.example/x|the page>.", "ts": "1714554002.000200"},
    ],
    "general/2024-05-02.json": [
        {"type": "message", "username": "deploys", "subtype": "bot_message", "text": "Done.", "ts": "1714640400.0"}
    ],
}


def _message(role: str, *parts: Any, at: float = 1714554000.0) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"author": {"role": role}, "content": content, "create_time": at}


CHATGPT: list[dict[str, Any]] = [
    {
        "title": "Team",
        "conversation_id": "c1",
        "current_node": "n4",
        "mapping": {
            "n0": {"message": None, "parent": None},
            "n1": {"message": _message("system", ""), "parent": "n0"},
            "n2": {"message": _message("user", "Ada Lovelace works at Acme.", {"image": 1}), "parent": "n1"},
            "n3": {"message": _message("assistant", "An answer that was asked for again."), "parent": "n2"},
            "n4": {"message": _message("assistant", "Noted.", at=1714554060.0), "parent": "n2"},
        },
    }
]


def slack_zip(prefix: str = "") -> bytes:
    return zipped({f"{prefix}{name}": json.dumps(content) for name, content in SLACK.items()})
