"""The labelled sets keep their promise, and the program that measures it counts right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.resolution import DATA, FILES, main, measure, pairwise, read
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.resolve.resolution import Stage


def lines(*rows: tuple[str, str, str]) -> str:
    return "".join(json.dumps({"surface": a, "type": b, "entity": c}) + "\n" for a, b, c in rows)


@pytest.mark.parametrize(
    ("labels", "predicted", "precision", "recall"),
    [("aab", "xxy", 1, 1), ("aaab", "xxyy", 0.5, 1 / 3), ("ab", "xy", 1, 1), ("ab", "xx", 0, 1)],
)
def test_pairs_are_counted(labels: str, predicted: str, precision: float, recall: float) -> None:
    report = pairwise(labels, predicted)
    assert (report["precision"], report["recall"]) == (pytest.approx(precision), pytest.approx(recall, abs=1e-4))
    assert report["forms"] == len(labels)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
async def test_names_are_resolved_as_well_as_promised(path: Path) -> None:
    report = await measure(path)
    assert report["precision"] >= 0.98
    assert report["recall"] >= 0.90
    assert report["met"]
    assert report["fail_rate"] < report["fail_rate_of_exact_ids"]


def test_the_labelled_sets_are_large_enough() -> None:
    sizes = {path.name: len(read(path)) for path in FILES}
    assert sizes["resolution.jsonl"] >= 300
    assert sizes["resolution_held_out.jsonl"] >= 150
    kinds = {line.surface.type for line in read(FILES[0])}
    assert kinds >= {"person", "organisation", "project", "tool", "file"}


async def test_one_by_one_is_measured_as_well(tmp_path: Path) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text("\n".join((DATA / "resolution.jsonl").read_text().splitlines()[:80]))
    report = await measure(file, one_by_one=True)
    assert report["batch"] == "one by one"
    assert report["precision"] >= 0.98
    assert report["recall"] >= 0.90


def test_reports_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text(
        lines(
            ("Ada Byron", "person", "ada"),
            ("Ada", "person", "ada"),
            ("Ada", "tool", "ada the language"),
            ("Adda", "tool", "ada the language"),
            ("Adaa", "tool", "other"),
        )
        + "\n"
    )
    main([str(file), "--json"])
    (printed,) = capsys.readouterr().out.splitlines()
    report = json.loads(printed)
    assert (report["file"], report["forms"], report["embedder"]) == ("labelled.jsonl", 5, None)
    assert set(report["by_type"]) == {"person", "tool"}
    assert report["by_type"]["person"]["recall"] == 1
    assert sum(stage["forms"] for stage in report["by_stage"].values()) == 5
    assert set(report["by_stage"]) <= set(Stage)
    assert report["mistakes"]["together"] == []
    assert report["mistakes"]["apart"] == ["Ada [create] | Adda [create]"]
    assert not report["met"]


def test_every_bad_line_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "labelled.jsonl"
    file.write_text('{"surface": "Ada"}\n' + lines(("Ada", "person", "ada")) + "nothing\n[1]\n")
    with pytest.raises(InvalidInputError) as raised:
        read(file)
    assert [fault.split(":")[0] for fault in raised.value.faults] == ["line 1", "line 3", "line 4"]
