"""The tool that fits the confidence of the reader of texts to judged statements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.calibrate_reader.__main__ import main

TEXTS = ("Bo Lind works at Acme Foods.", "I heard that Bo Lind works at Acme Foods.")


def test_a_part_of_which_less_is_right_has_a_smaller_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts, judged = tmp_path / "texts.jsonl", tmp_path / "judged.jsonl"
    rows = [{"id": f"{kind}{n}", "set": f"s{n % 2}", "text": TEXTS[kind]} for n in range(20) for kind in (0, 1)]
    found = {"source": "Bo Lind", "type": "works_at", "target": "Acme Foods"}
    verdicts = [found | {"id": row["id"], "right": row["text"] == TEXTS[0]} for row in rows]
    texts.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    judged.write_text("".join(f"{json.dumps(row)}\n" for row in verdicts))
    main(str(texts), str(judged))
    shares = dict(line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("_"))
    assert float(shares["_CLEAR"]) > 0.9
    assert float(shares["_HEARSAY"]) < 0.5
    assert float(shares["_PARTED"]) > 0.8
