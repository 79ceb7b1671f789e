"""The meaning of one question in one scope, found before the search: names, relation, kind and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

import attrs
import numpy as np

from graphsearch.columns import Floats
from graphsearch.model import Vector
from graphsearch.query.written_names import Named, NameKind, named
from graphsearch.understanding.asked_time import PRESENT, AskedTime
from graphsearch.understanding.linking import Linked
from graphsearch.understanding.question_tokens import Token
from graphsearch.understanding.type_profile import TypeProfile


@attrs.frozen(kw_only=True)
class AskedRelation:
    """A relation type that a question asks for: its affinity, in standard deviations over the types of the scope."""

    type: str
    affinity: float


@attrs.frozen(kw_only=True)
class AskedName:
    """A name in a question, with the probability in (0, 1] of each entity it may mean; without any if it is unknown."""

    written: str
    start: int
    end: int
    entities: Mapping[UUID, float]


@attrs.frozen(kw_only=True)
class Asked:
    """What a question was understood to ask for.

    * ``names`` in order, unknown ones last. ``relations``: the types asked for, best first; empty if the question does
      not indicate any.
    * ``kind``: what "who", "where" or "which service" wants, in words; empty if not stated.
    * ``time``: the time that the question names. Explicit options of the caller take precedence: the answer's moments
      are in `SearchResult.as_of`.
    """

    names: tuple[AskedName, ...]
    relations: tuple[AskedRelation, ...]
    kind: str
    time: AskedTime


@attrs.frozen(eq=False, kw_only=True)
class Understanding:
    """The meaning of a question.

    * ``candidates``: the visible entities, whether they hold or not, considered for its names.
    * ``linked``: its names; ``terms``: those of its other words, which ask for something about them. Empty if the
      question is names and nothing else: "what of Ada?".
    * ``unknown``: written names that are not visible ones; ``strange_names``: the idf of their terms.
    * ``profile``: the relation types of the scope. ``affinity`` of each of them, ``direction`` of some: 1 if the name
      in the question is the source, -1 if it is the target.
    * ``kind``: how much each kind of entity of the profile is asked for, in standard deviations.
    * ``kind_asked``: the words of the question that state it.
    * ``between``: rows of the kinds that the question mentions besides the one that it asks for.
    * ``time``: the time that the question names.
    * ``vector`` of the whole question, if there is an embedder.
    """

    question: str
    tokens: tuple[Token, ...]
    candidates: tuple[UUID, ...]
    linked: Linked
    terms: tuple[str, ...]
    unknown: tuple[Named, ...]
    profile: TypeProfile
    affinity: Floats
    direction: Mapping[int, int]
    kind: Floats
    kind_asked: str
    between: tuple[int, ...]
    strange_names: tuple[Mapping[str, float], ...] = ()
    time: AskedTime = PRESENT
    vector: Vector | None = None

    @property
    def names(self) -> tuple[AskedName, ...]:
        """The names in order: those that are linked, then those that are unknown."""
        found: dict[tuple[int, int], dict[UUID, float]] = {}
        for link in self.linked.links:
            found.setdefault((link.start, link.end), {})[link.entity_id] = link.probability
        linked = [
            AskedName(written=self.question[start:end], start=start, end=end, entities=entities)
            for (start, end), entities in sorted(found.items())
        ]
        unknown = [AskedName(written=each.text, start=each.start, end=each.end, entities={}) for each in self.unknown]
        return (*linked, *unknown)

    @property
    def asked(self) -> Asked:
        """A readable form of the same."""
        return Asked(names=self.names, relations=self.relations(), kind=self.kind_asked, time=self.time)

    def relations(self, count: int = 3) -> tuple[AskedRelation, ...]:
        """The relation types that are asked for most, best first: those above the average of the scope."""
        order = np.argsort(-self.affinity, kind="stable")[:count].tolist()
        return tuple(
            AskedRelation(type=self.profile.types[row], affinity=float(self.affinity[row]))
            for row in order
            if self.affinity[row] > 0
        )


def residue_of(tokens: Sequence[Token], masked: Sequence[bool]) -> str:
    """The words of the question that are part of no name."""
    return " ".join(token.text for token, part in zip(tokens, masked, strict=True) if not part)


def surely_written(question: str) -> tuple[Named, ...]:
    """The spans of a question that are certainly written as a name."""
    return tuple(name for name in named(question) if not name.tentative and name.kind is not NameKind.QUOTED)


def unknown_names(written: Sequence[Named], linked: Linked) -> tuple[Named, ...]:
    """Written names that overlap nothing that was linked."""
    spans = [(each.start, each.end) for each in linked.links]
    return tuple(name for name in written if not any(name.start < end and start < name.end for start, end in spans))
