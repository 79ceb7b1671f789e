"""The entities that a question names, each with its probability, linked as by a search.

A search learns from the facts of a scope which words are names. A recall learns it from the memories, which are more:
here every word may be a name, and `graphsearch.recall.leads` keeps those that are.
"""

from __future__ import annotations

from typing import Final

from graphsearch.access.reader import Reader
from graphsearch.query.anchor_candidates import Anchor
from graphsearch.understanding.anchors import anchors_of
from graphsearch.understanding.linking import link
from graphsearch.understanding.name_lookup import candidate_ids, nameable
from graphsearch.understanding.question_tokens import tokens
from graphsearch.understanding.wording import Wording

_NOTHING_KNOWN: Final = Wording(naming={}, telling={}, type_terms=frozenset())


async def named_in(question: str, reader: Reader) -> tuple[Anchor, ...]:
    """The visible entities that hold and are named in whole or in part, in the order of the question."""
    words = tokens(question)
    known = await nameable(await candidate_ids(question, words, reader), reader)
    return anchors_of(question, link(question, words, known, _NOTHING_KNOWN, reader.store.analyser.terms).links)
