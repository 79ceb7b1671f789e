"""What a caller of `GraphSearchEngine.search` can ask for, and its result: triplets, what explains them, a summary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from uuid import UUID

import attrs

from graphsearch.access.reader import ReadingOptions, Request
from graphsearch.display.printing import Displayed, hidden, print_listing
from graphsearch.model import ElementKind, ElementRef, Entity, Scope, Triplet
from graphsearch.model import validation as check
from graphsearch.protocols import Traversal
from graphsearch.question.analysis import Analysis, Anchor, analyse
from graphsearch.question.understanding import Interpretation
from graphsearch.ranking.triplet_relevance import CERTAIN
from graphsearch.ranking.triplet_score import LEAST_SHOWN, Connection, ends
from graphsearch.text.rendering import entity_name, safe_text
from graphsearch.traversal.paths import path_steps


class SearchMode(StrEnum):
    """The modes that graphsearch knows by name; `INSIGHTS` and `SUMMARIES` are other names of two of them."""

    GRAPH_COMPLETION = "graph_completion"
    TRIPLET_COMPLETION = "triplet_completion"
    NEIGHBORHOOD = "neighborhood"
    NATURAL_LANGUAGE = "natural_language"
    SUMMARY = "summary"
    INSIGHTS = "neighborhood"
    SUMMARIES = "summary"


def _names(field: str, given: object) -> str | None:
    are_names = isinstance(given, list | tuple | set | frozenset) and all(isinstance(each, str) for each in given)
    return None if are_names else f"{field} must be names, in a list"


@attrs.frozen(kw_only=True)
@check.checked(
    "search",
    lambda search: check.in_order("since", search.since, "as_of", search.as_of),
    seeds=check.within(1),
    depth=check.within(0, 10),
    max_hops=check.within(1, 10),
    skip_types=_names,
)
class SearchRequest(Request):
    """One search, checked.

    * ``mode``: a `SearchMode`, or the name of a mode of one's own.
    * ``seeds``: how many nearest entities to start from, and ``depth``: how many hops to go, 0 to 10; for modes that
      start from an embedding.
    * ``max_hops``: how many hops to go, 1 to 10; for modes that start from names.
    * ``since``: with it, what held at any moment from then to ``as_of`` counts, not only what held at ``as_of``.
    * ``min_edge_confidence``: relations less sure than this are left out, in [0, 1].
    * ``skip_types``: relations of these types are left out, in place of those of the types that the scope skips.
    * ``traversal``: "k_hop" or "pagerank" in place of the engine's traversal, or a `Traversal` of one's own.

    Results are triplets, and connections; those that score less than 1e-6 are left out. Modes that call a language
    model require a ``gate``: `ALLOW_ALL` if everything may be shown to it.
    """

    mode: str = SearchMode.GRAPH_COMPLETION
    seeds: int = 10
    depth: int = 2
    max_hops: int = 3
    since: datetime | None = None
    min_edge_confidence: float = 0.5
    skip_types: Collection[str] | None = None
    traversal: Traversal | str | None = None

    @property
    def floor(self) -> float:
        """The least score that is shown."""
        return max(self.min_score, LEAST_SHOWN)

    def reading(self) -> ReadingOptions:
        """What of it decides on the snapshot that answers it."""
        return {
            **super().reading(),
            "min_edge_confidence": self.min_edge_confidence,
            "skip_types": self.skip_types,
            "since": self.since,
        }


class Direction(StrEnum):
    """The direction in which relations are followed, from where a query starts."""

    OUT = "out"
    """From source to target: "whom does Ada know?"."""
    IN = "in"
    """From target to source: "who knows Ada?"."""
    BOTH = "both"


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, names)))


@attrs.frozen(kw_only=True)
class GraphQuery:
    """A query of the mode NATURAL_LANGUAGE.

    * ``anchors``: names of the entities that it starts from; without any, all entities of its types.
    * ``relation_types``: the only types of relations that are followed; any if empty.
    * ``direction``: in which they are followed. ``hops``: at most.
    * ``entity_types``: the types of the entities that a triplet leads to; any if empty.
    * ``since`` and ``until``: what held at any moment between the two; both open by default.
    * ``limit``: of triplets; None for the limit of the search.
    """

    anchors: tuple[str, ...] = attrs.field(default=(), converter=_distinct)
    relation_types: tuple[str, ...] = attrs.field(default=(), converter=_distinct)
    direction: Direction = Direction.BOTH
    hops: int = 1
    entity_types: tuple[str, ...] = attrs.field(default=(), converter=_distinct)
    since: datetime | None = None
    until: datetime | None = None
    limit: int | None = None


@attrs.frozen(kw_only=True)
class Source:
    """A citable relation or memory: its number, from 1, and the line shown to the model."""

    number: int
    element: ElementRef
    line: str


@attrs.frozen(kw_only=True)
class Sentence:
    """One sentence without its citations, and the sources that it cites, at least one, in order of their numbers."""

    text: str
    sources: tuple[Source, ...]

    @property
    def cites(self) -> tuple[int, ...]:
        """The numbers of its sources."""
        return tuple(source.number for source in self.sources)

    @property
    def citations(self) -> str:
        """As in ``[1][3]``."""
        return "".join(f"[{source.number}]" for source in self.sources)

    def __str__(self) -> str:
        return f"{self.text} {self.citations}"


@attrs.frozen(kw_only=True)
class Summary:
    """A summary of what was found, written by a language model.

    * ``sentences``: those that cite a source they were shown. Whether the source supports them is not checked.
    * ``unknown_citations``: cited numbers without a source, removed; the first 20 in order.
    * ``uncited``: sentences without a source, removed. ``beyond``: the number of sentences over the answer's budget.
    * ``sources``: everything that could be cited, by number: what fitted a prompt.
    * ``communities``: those that were summarised for it, or whose stored summary was shown. ``note``: why there are
      none, if they were searched for.
    * ``calls``: number of prompts, without repairs; ``prompt_tokens`` and ``answer_tokens``: those of the prompts, and
      of the sentences in the answers, by the mode's counter. `graphsearch.llms.metered` has the numbers that the model
      itself reports.
    """

    sentences: tuple[Sentence, ...]
    sources: tuple[Source, ...]
    unknown_citations: tuple[int, ...] = ()
    uncited: tuple[str, ...] = ()
    beyond: int = 0
    communities: tuple[UUID, ...] = ()
    note: str = ""
    calls: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def text(self) -> str:
        """The sentences, each followed by its citations: ``Ada leads Apollo. [1][3]``."""
        return " ".join(map(str, self.sentences))


def cited_lines(summary: Summary) -> list[str]:
    """The text of a summary, then what its sentences cite."""
    lines = {source.number: source.line for sentence in summary.sentences for source in sentence.sources}
    return [summary.text, *(f"[{number}] {line.removeprefix('- ')}" for number, line in sorted(lines.items()))]


@attrs.frozen(kw_only=True)
class SearchResult(Displayed):
    """The answer to one question.

    * ``triplets``: best first, or as they were picked to differ; equal scores always in the same order.
    * ``anchors``: the entities that the question names, where the mode looks for them.
    * ``connections``: the entities that all names in the question lead to, best first, at most as many as triplets.
    * ``found``: how many relations were scored, of which ``triplets`` are the best; ``below_floor``: how many of them
      scored less than was asked for.
    * ``reason``: why there is no triplet; empty where there is one. It never tells what is hidden from what is not
      there.
    * ``denied``: distinct elements that the gate hid, by kind. For the caller, never for a prompt. ``denied_by``: how
      many of them each policy hides by itself, behind a gate that ``explains``.
    * ``left_out``: relations of the seeds that the view left out, by reason (see `GraphStore.left_out`); empty behind a
      gate that may hide some.
    * ``timings``: milliseconds by stage.
    * ``prompt_order``: places of the ``triplets`` in the order to print them in, causes before effects; None where
      that is the order they have.
    * ``subjects``: the ids of the entities that the question is itself about, best first: those that it describes, or
      those that it names and asks nothing more of. Not all of them need be among the triplets.
    * ``interpretation``: the names, relations, kind and time that the question was understood to ask for; None for
      modes that do not interpret it.
    * ``graph_query``: what a language model made of the question, in the mode NATURAL_LANGUAGE.
    * ``summary``: what a language model wrote of what was found, in the mode SUMMARY; None where nothing was.
    * ``scopes``: those that were searched, of a `FederatedEngine`; else empty.
    """

    query: str
    mode: str
    triplets: tuple[Triplet, ...]
    anchors: tuple[Anchor, ...]
    connections: tuple[Connection, ...]
    as_of: datetime
    known_at: datetime
    found: int
    below_floor: int
    denied: Mapping[ElementKind, int]
    left_out: Mapping[str, int]
    reason: str
    timings: Mapping[str, float] = attrs.field(eq=False)
    prompt_order: tuple[int, ...] | None = None
    subjects: tuple[UUID, ...] = ()
    interpretation: Interpretation | None = None
    graph_query: GraphQuery | None = None
    summary: Summary | None = None
    scopes: tuple[Scope, ...] = ()
    denied_by: Mapping[str, int] = attrs.field(factory=dict)

    @property
    def entities(self) -> tuple[Entity, ...]:
        """The entities of the triplets, each once, the most relevant first; see `triplet_score.ends`."""
        named = {anchor.entity_id for anchor in self.anchors if anchor.confidence > CERTAIN}
        return ends(self.triplets, named=named, subjects=self.subjects)

    @property
    def provenance(self) -> Mapping[UUID, tuple[str, ...]]:
        """The memories behind each relation shown, by relation id."""
        return {triplet.relation.id: triplet.relation.evidence for triplet in self.triplets}

    @property
    def analysis(self) -> Analysis:
        """What the question asks, with the plan that follows from it and from the ``anchors``; made when asked for."""
        return analyse(self.query, as_of=self.as_of, anchors=self.anchors)

    def __str__(self) -> str:
        ways = (
            (each, "; ".join(" ".join(path_steps(path)) for path in each.paths.values())) for each in self.connections
        )
        return print_listing(
            self.query,
            f"{self.mode}, as of {self.as_of:%Y-%m-%d}",
            f"{len(self.triplets)} of the {self.found} relations found",
            hidden(self.denied),
            head=("source", "relation", "target", "fact"),
            rows=[(each.score, _cells(each)) for each in self.triplets],
            reason=self.reason,
            above=cited_lines(self.summary) if self.summary else (),
            below=[f"{entity_name(each.entity)}, {each.score:.4f}: {steps}" for each, steps in ways],
        )


def _cells(shown: Triplet) -> tuple[str, ...]:
    return entity_name(shown.source), safe_text(shown.relation.type), entity_name(shown.target), shown.relation.fact
