"""Names of the graph that a judge is asked about on the way in, behind a gate."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.errors import MissingDependencyError
from graphsearch.ingest import Ingestor, RememberReport
from graphsearch.ingest.resolve.resolution import Stage
from graphsearch.model import Action, Batch, Entity, Memory, Mention, Principal, Scope, Span
from graphsearch.model.signatures import Resource
from graphsearch.protocols import LLM
from graphsearch.stores.graph import GraphStore
from graphsearch.testing.fakes import EchoLLM
from tests.ingest.extract.llm.model import AT, Model, entity, extractor, saying
from tests.ingest.folders import Parts, names
from tests.ingest.resolve.test_judging import same


@pytest.fixture
def parts(scoped: GraphStore) -> Parts:
    return Parts(store=scoped)


@attrs.frozen
class Forbids:
    """An authorizer that hides one entity."""

    hidden: str
    by_signature: bool = False

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        return [each.id != self.hidden for each in resources]


SPRING, AUTUMN = (Entity(type="event", name=f"{season} Keynote") for season in ("Spring", "Autumn"))
SECRET = Memory(id="secret", text="The Keynote of Doom.")
DOOM = Mention(memory_id="secret", entity_id=SPRING.id, surface="Keynote of Doom", span=Span(start=4, end=19))
KEYNOTE = Model(lambda _: saying(entities=[entity("Keynote in May", "event")]))


async def judged(parts: Parts, judge: LLM, hidden: Entity | Memory | None = None) -> RememberReport:
    await parts.store.write(Batch(entities=[SPRING, AUTUMN], memories=[SECRET], mentions=[DOOM]))
    ada = Principal(id="ada", projects=[parts.store.scope])
    gate = Gate(Forbids(str(hidden.id)), ada) if hidden else ALLOW_ALL
    ingestor = Ingestor(parts, extractor=extractor(KEYNOTE), judge=judge, gate=gate)
    return await ingestor.remember([Memory(id="m", text="The Keynote in May was long.", occurred_at=AT)])


async def test_a_judge_merges_what_is_the_same(parts: Parts) -> None:
    llm = EchoLLM(same(1))
    report = await judged(parts, llm)
    assert report.resolutions.by_stage == {Stage.LLM: 1}
    assert await names(parts.store) == {"Spring Keynote", "Autumn Keynote"}
    assert all(name in llm.asked[0] for name in ("Spring Keynote", "Autumn Keynote"))


@pytest.mark.parametrize("hidden", [SPRING, AUTUMN])
async def test_a_judge_is_shown_what_its_gate_allows_and_nothing_else(parts: Parts, hidden: Entity) -> None:
    (seen,) = {SPRING, AUTUMN} - {hidden}
    llm = EchoLLM(same(1))
    await judged(parts, llm, hidden)
    assert seen.name in llm.asked[0]
    assert hidden.name.split()[0] not in llm.asked[0]
    (mention,) = await parts.store.list_mentions(memory_ids=["m"])
    assert mention.entity_id == seen.id


async def test_a_judge_is_not_shown_what_only_hidden_memories_call_somebody(parts: Parts) -> None:
    shown, hidden = EchoLLM(same(0)), EchoLLM(same(0))
    await judged(parts, shown)
    assert "Spring Keynote (event), also Keynote of Doom" in shown.asked[0]
    await judged(Parts(), hidden, SECRET)
    assert "Spring Keynote (event)" in hidden.asked[0]
    assert "Doom" not in hidden.asked[0]


def test_a_judge_without_a_gate_is_refused(parts: Parts) -> None:
    with pytest.raises(MissingDependencyError, match=r"needs a gate: pass gate=Gate.* or gate=ALLOW_ALL"):
        Ingestor(parts, judge=EchoLLM())
