"""How long things took, what models were paid with, what was denied, and what failed, as numbers."""

import contextlib

import pytest
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics

from graphsearch import Entity, Gate, GraphSearchEngine, Outcome, Principal, Relation
from graphsearch.errors import LLMUnavailableError, UnknownElementError
from graphsearch.feedback import FeedbackService
from graphsearch.llms import OpenAILLM
from graphsearch.model import Batch, ElementKind, ElementRef, Injection
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from tests.llms.llm_server import fail, reply, serving


class Denying:
    """Allows everything but entities of one name, and no feedback."""

    by_signature = False

    async def authorize(self, principal, action, resources, *, scope):
        return [action.value != "feedback" and getattr(each, "name", "") != "DNS" for each in resources]


@pytest.fixture
async def engine(scoped):
    tls, dns = Entity(type="tool", name="TLS"), Entity(type="tool", name="DNS")
    uses = Relation(source_id=tls.id, type="uses", target_id=dns.id, kind="semantic", confidence=0.9)
    embedder = HashEmbedder()
    await scoped.bind_embedder(embedder.name, embedder.dimensions)
    vectors = {entity.id: embedder.vector(entity.name) for entity in (tls, dns)}
    await scoped.write(Batch(entities=[tls, dns], relations=[uses], vectors=vectors))
    return GraphSearchEngine(store=scoped, embedder=embedder)


@pytest.fixture
def ada(scoped):
    return Principal(id="ada", projects=[scoped.scope])


async def test_durations_are_in_seconds_by_operation_and_by_stage(engine, reported):
    found = await engine.search("TLS")
    (whole,) = reported.points("graphsearch.operation.duration", graphsearch__operation="search")
    assert whole.count == 1
    assert 0 < whole.sum < 60
    assert whole.sum >= found.timings["total"] / 1e3
    (traversal,) = reported.points("graphsearch.stage.duration", graphsearch__stage="traversal")
    assert dict(traversal.attributes) == {"graphsearch.operation": "search", "graphsearch.stage": "traversal"}
    assert traversal.sum >= found.timings["traversal"] / 1e3
    assert max(traversal.explicit_bounds) == 60


async def test_what_was_denied_is_counted_once_by_kind(engine, ada, reported):
    gate = Gate(Denying(), ada)
    found = await engine.search("TLS", gate=gate)
    assert sum(found.denied.values()) > 0
    counted = {
        point.attributes["graphsearch.element.kind"]: point.value for point in reported.points("graphsearch.denied")
    }
    assert counted == {kind.value: count for kind, count in found.denied.items() if count}
    (search,) = reported.named("graphsearch.search")
    assert search.attributes["graphsearch.denied"] == sum(found.denied.values())


async def test_feedback_that_is_denied_is_counted(engine, ada, reported):
    (tls, *_) = await engine.store.list_entities()
    element = ElementRef(ElementKind.ENTITY, str(tls.id))
    log = Injection(
        id="i", session_id="s", principal="User:ada", created_at=FixedClock().now(), tokens=1, elements=(element,)
    )
    await engine.store.log_injection(log)
    await FeedbackService(engine.store).apply("s", Outcome.ACCEPTED, gate=Gate(Denying(), ada))
    (point,) = reported.points("graphsearch.denied", graphsearch__operation="feedback")
    assert (point.value, point.attributes["graphsearch.element.kind"]) == (1, "element")


async def test_errors_are_the_durations_that_bear_their_type(engine, reported):
    with contextlib.suppress(UnknownElementError):
        await engine.neighbors("Nobody")
    await engine.neighbors("TLS")
    wrong = reported.points(
        "graphsearch.operation.duration",
        graphsearch__operation="neighbors",
        error__type="graphsearch.errors.UnknownElementError",
    )
    assert [point.count for point in wrong] == [1]
    assert [
        point.count for point in reported.points("graphsearch.operation.duration", graphsearch__operation="neighbors")
    ] == [1, 1]


async def test_tokens_and_durations_of_models_are_those_of_the_conventions(reported):
    with serving() as server:
        server.answers.append(reply("Forty-two."))
        model = OpenAILLM("a-model", base_url=server.openai_url)
        await model.ask("What is the answer?")
        server.answers.append(fail(503))
        broken = OpenAILLM("broken", base_url=server.openai_url, max_retries=0)
        with pytest.raises(LLMUnavailableError):
            await broken.ask("What is the answer?")
    tokens = {
        point.attributes["gen_ai.token.type"]: point.sum
        for point in reported.points(gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE)
    }
    assert tokens == {"input": model.usage.input_tokens, "output": model.usage.output_tokens}
    durations = {
        point.attributes["gen_ai.request.model"]: point.attributes.get("error.type")
        for point in reported.points(gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION)
    }
    assert durations == {"a-model": None, "broken": "graphsearch.errors.LLMUnavailableError"}
