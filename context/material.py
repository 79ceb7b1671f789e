"""The material of a block: the memories and triplets found for a question, rendered as lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final

import attrs

from graphsearch.access.gate import Gate
from graphsearch.claims.folding import CO_OCCURRENCE_TYPES
from graphsearch.context.sections import TripletText, labelled, share_of_observations
from graphsearch.engine import GraphSearchEngine
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import ElementKind, Scope, Triplet
from graphsearch.modes.options import SearchOptions, UngatedSearchOptions
from graphsearch.modes.result import SearchResult, Summary
from graphsearch.recall.options import RecallOptions
from graphsearch.recall.result import RecalledMemory, RecallResult
from graphsearch.text.rendering import memory_line, safe_text, short_triplet_line, triplet_line
from graphsearch.understanding.interpreting import Interpretation

MEMORIES: Final = 50
"""The number of memories requested: more than fit any default budget."""
WORDS: Final = 50
"""A longer memory is cut to an excerpt of this many words (65 tokens): fewer lose answers, more lose memories."""
ANSWERING: Final = 0.5
"""A triplet with at least this share of the best relevance is an answer, too, so that no single answer takes all."""
LEAST: Final = 0.2
"""The least relevance of an answer: that of one that lacks a third of the evidence of an ideal one."""
LONGEST_LABEL: Final = 40
"""Characters of the name of a project before a line."""
FAINT: Final = 0.01
"""Triplets with a lower score are left out when there are observations."""


@attrs.frozen(kw_only=True)
class Material:
    """Memories and triplets, best first, each with its line; memories of one line in several scopes share it.

    ``labels`` are those of scopes that lines begin with, none where one scope was searched. ``prompt_order`` is that of
    `SearchResult`. ``share`` is the part of the budget that memories get first.
    ``triplets_found`` includes triplets left out here. ``reason``: why nothing was found; otherwise empty.
    ``interpretation``: what was understood from the question, if the search interprets it.
    """

    memories: tuple[tuple[RecalledMemory, ...], ...] = ()
    memory_lines: tuple[str, ...] = ()
    triplets: tuple[Triplet, ...] = ()
    triplet_lines: tuple[TripletText, ...] = ()
    triplets_found: int = 0
    prompt_order: tuple[int, ...] | None = None
    labels: frozenset[str] = frozenset()
    share: float = 0.0
    summary: Summary | None = None
    denied: Mapping[ElementKind, int]
    reason: str = ""
    interpretation: Interpretation | None = None


async def material(
    engine: GraphSearchEngine | FederatedEngine,
    query: str,
    gate: Gate,
    options: UngatedSearchOptions,
    recalling: RecallOptions,
    *,
    observations: bool,
    graph: bool,
) -> Material:
    """Find the material for a question in one snapshot; ``observations`` and ``graph`` select what is searched.

    Gate and times are those of the search.
    """
    search: SearchOptions = {**options, "gate": gate}
    recall: RecallOptions = {
        "limit": MEMORIES,
        **recalling,
        "as_of": options.get("as_of"),
        "known_at": options.get("known_at"),
        "gate": gate,
    }
    terms = engine.stores[0].analyser.terms  # which is that of all
    if not observations:
        return _of_triplets(await engine.search(query, **search))
    if not graph:
        return _of_memories(await engine.recall(query, **recall), terms)
    found, recalled = await engine.search_and_recall(query, search=search, recall=recall)
    return _of_both(found, recalled, terms)


def _of_triplets(found: SearchResult) -> Material:
    return Material(
        triplets=found.triplets,
        triplet_lines=_texts(found.triplets, found.scopes),
        labels=frozenset(_label(each.scopes, found.scopes) for each in found.triplets) - {""},
        triplets_found=len(found.triplets),
        prompt_order=found.prompt_order,
        summary=found.summary,
        denied=found.denied,
        reason=found.reason,
        interpretation=found.interpretation,
    )


def _of_memories(recalled: RecallResult, terms: Terms) -> Material:
    lines: dict[str, dict[tuple[Scope, ...], RecalledMemory]] = {}
    for each in recalled.memories:
        text = excerpt(each.memory.text, recalled.rarity, terms, WORDS)
        if line := memory_line(attrs.evolve(each.memory, text=text), until=each.until):
            lines.setdefault(line, {}).setdefault(each.scopes, each)
    labels = [_label(chain.from_iterable(sorted(each)), recalled.scopes) for each in lines.values()]
    return Material(
        memories=tuple(tuple(each.values()) for each in lines.values()),
        memory_lines=tuple(map(labelled, lines, labels)),
        labels=frozenset(labels) - {""},
        denied=recalled.denied,
        reason=recalled.reason,
    )


def _label(scopes: Iterable[Scope], searched: Collection[Scope]) -> str:
    """The projects that a line comes from; empty where one scope was searched."""
    names = [safe_text(scope.project_id).replace("]", "")[:LONGEST_LABEL] for scope in scopes]
    return ", ".join(names) if len(searched) > 1 else ""


def _of_both(found: SearchResult, recalled: RecallResult, terms: Terms) -> Material:
    """Both; observations alone if the graph is sparse, that is if no triplet with a statement scores enough."""
    observed, graph = _of_memories(recalled, terms), _of_triplets(found)
    if not observed.memories:
        return graph
    counting = [
        place for place, triplet in enumerate(found.triplets) if triplet.score >= FAINT and _is_statement(triplet)
    ]
    return attrs.evolve(
        graph,
        memories=observed.memories,
        memory_lines=observed.memory_lines,
        labels=observed.labels | graph.labels,
        triplets=tuple(graph.triplets[place] for place in counting),
        triplet_lines=tuple(graph.triplet_lines[place] for place in counting),
        prompt_order=_among(counting, found.prompt_order),
        share=share_of_observations(recalled.analysis.plan, recalled.health),
    )


def _among(kept: Sequence[int], order: Sequence[int] | None) -> tuple[int, ...] | None:
    """An order of all triplets, restricted to the kept ones and renumbered."""
    if order is None:
        return None
    now = {place: row for row, place in enumerate(kept)}
    return tuple(now[place] for place in order if place in now)


def _texts(triplets: Sequence[Triplet], searched: Collection[Scope]) -> tuple[TripletText, ...]:
    best = max((each.breakdown.proximity for each in triplets), default=0.0)
    least = max(ANSWERING * best, LEAST)
    return tuple(_text(triplet, least, _label(triplet.scopes, searched)) for triplet in triplets)


def _text(triplet: Triplet, least: float, label: str) -> TripletText:
    statement = _is_statement(triplet)
    return TripletText(
        labelled(triplet_line(triplet, dated=statement), label),
        labelled(short_triplet_line(triplet, dated=statement), label),
        safe_text(triplet.relation.fact),
        answers=statement and triplet.breakdown.proximity >= least,
    )


def _is_statement(triplet: Triplet) -> bool:
    """Whether a triplet states more than that two names occur together, for which no period is worth a word."""
    return triplet.relation.type not in CO_OCCURRENCE_TYPES


REPEATED: Final = 0.3
"""The weight of a term that an earlier chosen sentence holds, relative to a new one."""
ADJACENT: Final = 0.02
"""The weight of being adjacent to a chosen sentence, as a share of the rarest term's: a tie-breaker."""
FIRST: Final = 0.01
"""The weight of being the first sentence, which introduces the topic; also as a share of the rarest term's."""
CUT: Final = "…"
_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])[\"'”’)\]]*+\s++|(?<!\s)[^\S\n]*+\n\s*+")
_CHARACTERS: Final = 8
"""The least characters of a word with its space, so that scripts without spaces have a size."""
Terms = Callable[[str], Sequence[str]]


def size(text: str) -> int:
    """Words of a text; an eighth of its characters if it has no spaces or very long words."""
    return max(len(text.split()), len(text) // _CHARACTERS)


@attrs.frozen(eq=False)
class _Sentence:
    text: str
    size: int
    held: frozenset[str]


def excerpt(text: str, weights: Mapping[str, float], terms: Terms, words: int) -> str:
    """Shorten a text to at most about ``words`` words: the sentences that hold most of the question, in their order.

    Other sentences are included if they are adjacent to one that holds some of it, or begin the text; if none holds
    any, all sentences are eligible. ``weights`` are the weights of the question's terms, as made by ``terms``. An
    omission is marked by "…". A text that is short enough is returned unchanged.
    """
    if size(text) <= words:
        return text
    sentences = [_Sentence(each, size(each), frozenset(terms(each)) & weights.keys()) for each in _split(text, words)]
    taken = _chosen(sentences, weights, words)
    parts = [sentences[row].text if row == 0 or row - 1 in taken else f"{CUT} {sentences[row].text}" for row in taken]
    return " ".join([*parts, CUT] if taken[-1] != len(sentences) - 1 else parts)


def _split(text: str, words: int) -> list[str]:
    """The sentences of a text; those longer than ``words`` are cut into pieces of that many."""
    pieces: list[str] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        pieces += _pieces(sentence, words) if size(sentence) > words else [sentence]
    return pieces


def _pieces(sentence: str, words: int) -> list[str]:
    parts = sentence.split()
    if size(sentence) > len(parts):  # hardly any spaces
        length = words * _CHARACTERS
        return [sentence[start : start + length] for start in range(0, len(sentence), length)]
    return [" ".join(parts[start : start + words]) for start in range(0, len(parts), words)]


def _chosen(sentences: Sequence[_Sentence], weights: Mapping[str, float], words: int) -> list[int]:
    """Choose greedily the rows of the sentences that add most of the question, as long as they fit."""
    rarest = max(weights.values(), default=1.0)
    taken: set[int] = set()
    known: set[str] = set()
    left = words
    open_ = _worth_showing(sentences)
    while True:
        gains = {
            row: _gain(each, known, weights)
            + rarest * (ADJACENT * bool({row - 1, row + 1} & taken) + FIRST * (row == 0))
            for row, each in enumerate(sentences)
            if row not in taken and row in open_ and each.size <= left
        }
        if not gains:
            return sorted(taken)
        best = max(gains, key=lambda row: (gains[row], -row))
        taken.add(best)
        known |= sentences[best].held
        left -= sentences[best].size


def _worth_showing(sentences: Sequence[_Sentence]) -> set[int]:
    """The rows of the sentences that hold some of the question, their neighbours, and the first; if none does, all."""
    around = {row + step for row, each in enumerate(sentences) if each.held for step in (-1, 0, 1)}
    return around | {0} if around else set(range(len(sentences)))


def _gain(sentence: _Sentence, known: set[str], weights: Mapping[str, float]) -> float:
    return sum(weights[term] * (REPEATED if term in known else 1.0) for term in sorted(sentence.held))
