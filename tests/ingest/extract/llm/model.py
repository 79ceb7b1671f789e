"""Fake language models, which see the prompt and return scripted answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from graphsearch.ingest.extract.llm.extractor import LLMExtractor
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory
from graphsearch.protocols import LLM

Json = Mapping[str, Any]
Answer = Callable[[Json], Json]
"""From a passage, as the question shows it, to what is stated of it."""

AT = datetime(2024, 5, 15, 9, tzinfo=UTC)


def passages(question: str) -> list[dict[str, Any]]:
    """The passages of a question."""
    _, _, rest = question.partition("\nBEGIN PASSAGES\n")
    lines, _, _ = rest.partition("\nEND PASSAGES")
    return [json.loads(line) for line in lines.splitlines()]


def entity(name: str, type: str = "") -> Json:
    return {"name": name, "type": type}


def relation(source: str, type: str, target: str, quote: str, **changed: Any) -> Json:
    given = {"confidence": 0.9, "state": "holds", "since": "", "until": ""}
    return {"source": source, "type": type, "target": target, "quote": quote, **given, **changed}


def saying(*relations: Json, entities: Sequence[Json] = ()) -> Json:
    return {"entities": list(entities), "relations": list(relations)}


def states(passage: Json) -> Json:
    """What a good model says of "A <verb> B." sentences."""
    sentences = [sentence for sentence in passage["text"].split(". ") if len(sentence.split()) == 3]
    found = [relation(a, verb, b.rstrip("."), sentence) for sentence in sentences for a, verb, b in [sentence.split()]]
    return saying(*found)


class Model:
    """Answers each passage of a question by a function; ``failing`` questions, by their count from 1, are not."""

    def __init__(self, answer: Answer = states, failing: Callable[[int, list[Json]], str | None] | None = None) -> None:
        self._answer = answer
        self._failing = failing or (lambda _, __: None)
        self.questions: list[str] = []

    @property
    def asked(self) -> list[list[str]]:
        """The texts of each question."""
        return [[passage["text"] for passage in passages(question)] for question in self.questions]

    async def ask(self, text: str) -> str:
        self.questions.append(text)
        given: list[Json] = [*passages(text)]
        broken = self._failing(len(self.questions), given)
        if broken is not None:
            return broken
        return json.dumps({"passages": [{"passage": each["passage"], **self._answer(each)} for each in given]})


def memory(text: str, id: str = "m", **fields: Any) -> Memory:
    return Memory(id=id, text=text, **{"occurred_at": AT, **fields})


def extractor(llm: LLM, **options: Any) -> LLMExtractor:
    """One with some options."""
    return LLMExtractor(llm, **options)


async def read(text: str, answer: Json, **fields: Any) -> ExtractedMemory:
    """What is made of one memory, if a model says this of it."""
    (extracted,) = await extractor(Model(lambda _: answer)).extract([memory(text, **fields)])
    return extracted


def triples(extracted: ExtractedMemory) -> list[tuple[str, str, str]]:
    return [(each.source.name, each.type, each.target.name) for each in extracted.statements]
