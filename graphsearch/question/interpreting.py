"""Until modes have moved to `graphsearch.question.understanding`."""

# mypy: ignore-errors
# ruff: noqa
from __future__ import annotations

import attrs

from graphsearch.question import understanding as _new
from graphsearch.question.understanding import *  # noqa: F403
from graphsearch.question.understanding import Interpretation as Interpretation
from graphsearch.question.understanding import PhraseVectors as PhraseVectors
from graphsearch.question.understanding import QuestionVectors, Understanding


async def read(question, time, profile, reader):
    """Link the names of a question in a snapshot, and interpret its words."""
    words = _new.tokens(question)
    found = await _new.look_up(question, words, reader)
    written = _new.surely_written(question)
    linked, named = await _new.linked_names(
        question, words, found, profile, reader, written, _new.dated_tokens(words, time)
    )
    meant = _new.interpreted(question, linked, profile, reader.analyser, time=time, written=written)
    return attrs.evolve(meant, named=named)


async def understand(found: Understanding, phrases: PhraseVectors | None) -> Understanding:
    """What a question asks for, by meaning too if there is an embedder."""
    return await _new.with_meaning(found, None if phrases is None else QuestionVectors(phrases))
