"""The tagger is learned from sentences at hand, and the same ones give the same bytes."""

import gzip
import json
from pathlib import Path

import pytest

from graphsearch.names.tagger import read_model
from tools.train_tagger import __main__ as command
from tools.train_tagger.lexicon import build
from tools.train_tagger.scoring import score, spans
from tools.train_tagger.training import Sentence, in_small_letters, learn, read_sentences, write

PEOPLE = ("Olga", "Marek", "Jorun", "Tiwa", "Ines", "Bartosz")
TOWNS = ("Lagos", "Porto", "Bergen", "Lodz", "Accra", "Turku")


def corpus() -> list[Sentence]:
    said = [f"{person} lives in {town} with her sister ." for person in PEOPLE for town in TOWNS]
    said += [f"I met {person} when we were in {town} ." for person in PEOPLE for town in TOWNS]
    return [(words, [tag(word) for word in words]) for words in map(str.split, said)]


def tag(word: str) -> str:
    return "B-person" if word in PEOPLE else "B-place" if word in TOWNS else "O"


def sources(folder: Path) -> Path:
    """A folder with all files that the command reads."""
    (folder / "american-english").write_text("table\ntables\ncafé\ntable's\nmark\nOslo\nNorway\nNorwegian\n")
    (folder / "british-english").write_text("colour\nBasque\nMark\n")
    (folder / "dist.female.first").write_text("OLGA 1.0 1.0 1\nTABLE 0.9 1.9 2\n")
    (folder / "dist.male.first").write_text("MAREK 1.0 1.0 1\nMARK 0.9 1.9 2\n")
    (folder / "dist.all.last").write_text("BRANDVIK 1.0 1.0 1\n")
    cities = {"1": {"name": "Lagos", "population": 9_000_000}, "2": {"name": "Hamlet", "population": 20_000}}
    (folder / "cities15000.json").write_text(json.dumps(cities))
    (folder / "countries.json").write_text(json.dumps({"NO": {"name": "Norway"}, "CR": {"name": "Costa Rica"}}))
    (folder / "us_states.json").write_text(json.dumps({"OH": {"name": "Ohio"}}))
    text = "\n\n".join("\n".join(map("\t".join, zip(*sentence, strict=True))) for sentence in corpus())
    for name in (*command.LEARNED, *command.TESTED):
        (folder / f"{name}.conll.gz").write_bytes(gzip.compress(f"{text}\n\n".encode()))
    return folder


def test_the_same_sentences_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("once", "twice"):
        write(learn(corpus(), epochs=2), tmp_path / name)
    assert (tmp_path / "once").read_bytes() == (tmp_path / "twice").read_bytes()


def test_names_are_learned_in_any_case(tmp_path: Path) -> None:
    write(learn(corpus()), tmp_path / "model")
    with (tmp_path / "model").open("rb") as file:
        model = read_model(file)
    for sentences in (corpus(), [*map(in_small_letters, corpus())]):
        assert min(score(sentences, model).values()) > 0.9


def test_names_that_tags_say() -> None:
    tags = ["B-person", "I-person", "O", "B-place", "B-place", "O", "B-thing"]
    assert [*spans(tags)] == [(0, 2, "person"), (3, 4, "place"), (4, 5, "place"), (6, 7, "thing")]


def test_the_lexicon_has_words_of_each_source(tmp_path: Path) -> None:
    lines = [line.partition(": ") for line in build(sources(tmp_path)).splitlines() if line[0] != "#"]
    flags = {word: set(letters) for letters, _, words in lines for word in words.split()}
    assert flags["table"] == {"o"}
    assert flags["olga"] == flags["marek"] == {"g"}
    assert flags["mark"] == {"o", "c", "g"}
    assert flags["brandvik"] == {"s"}
    assert flags["oslo"] == {"c"}
    assert flags["lagos"] == flags["costa_rica"] == flags["ohio"] == {"p"}
    assert flags["norwegian"] == {"c", "d"}
    assert flags["the"] == {"o", "f"}
    assert not flags.keys() & {"café", "table's", "hamlet"}


def test_the_command_writes_the_data_unless_a_set_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(command, "NAMES", out)
    monkeypatch.setitem(command.LEARNED, "wnut17-train", 10)
    command.main([str(sources(tmp_path)), "--without", "redocred"])
    assert [*out.iterdir()] == []
    assert "redocred-1 in small letters: precision" in capsys.readouterr().out
    command.main([str(tmp_path)])
    assert {file.name for file in out.iterdir()} == {"lexicon.txt", "tagger.npz"}
    assert [*read_sentences(tmp_path / "btc-f.conll.gz")] == corpus()
