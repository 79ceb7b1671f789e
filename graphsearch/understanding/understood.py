"""What one question means in one scope, found before the search itself: names, relation, kind and time."""

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
    """A name in a question, with the probability in (0, 1] of each entity it may mean; of none if it is unknown."""

    written: str
    start: int
    end: int
    entities: Mapping[UUID, float]


@attrs.frozen(kw_only=True)
class Asked:
    """What a question was understood to ask for.

    * ``names`` in order, those that are unknown last. ``relations``: the types asked for, best first; none where
      nothing in the question tells.
    * ``kind``: what "who", "where" or "which service" wants, in words; empty where no word tells.
    * ``time``: the time that the question names. A caller's own moments go before it: the answer's are in
      `SearchResult.as_of`.
    """

    names: tuple[AskedName, ...]
    relations: tuple[AskedRelation, ...]
    kind: str
    time: AskedTime


@attrs.frozen(eq=False, kw_only=True)
class Understanding:
    """What a question means.

    * ``candidates``: the entities, hidden or not, that were looked at as what it may name; never to be shown.
    * ``linked``: its names; ``terms``: those of its words without them, which ask for something about them. There are
      none where the question is names and nothing else: "what of Ada?".
    * ``unknown``: what is written as a name, and is none that may be seen; ``strange_names``: the idf of their terms.
    * ``profile``: the relation types of the scope. ``affinity`` of each of them, ``direction`` of some: 1 where the
      name in the question is the source, -1 where it is the target.
    * ``kind``: how much each kind of entity of the profile is asked for, in standard deviations.
    * ``kind_asked``: the words of the question that say so.
    * ``between``: rows of the kinds that the question names besides the one that it asks for.
    * ``time``: the time that the question names.
    * ``vector`` of the whole question, where there is an embedder.
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
        """The same for people to read."""
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
    """The words of a question that are part of no name."""
    return " ".join(token.text for token, part in zip(tokens, masked, strict=True) if not part)


def surely_written(question: str) -> tuple[Named, ...]:
    """What is surely written as a name in a question."""
    return tuple(name for name in named(question) if not name.tentative and name.kind is not NameKind.QUOTED)


def unknown_names(written: Sequence[Named], linked: Linked) -> tuple[Named, ...]:
    """What is written as a name, and overlaps nothing that was linked."""
    spans = [(each.start, each.end) for each in linked.links]
    return tuple(name for name in written if not any(name.start < end and start < name.end for start, end in spans))
