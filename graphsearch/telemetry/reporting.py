"""The watcher that reports to OpenTelemetry. Imported on request, since it needs the extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from time import perf_counter
from typing import Any, Final

from opentelemetry import metrics, trace

from graphsearch._support.observing import Report
from graphsearch.llms.usage import Usage, metered
from graphsearch.telemetry.describing import MODEL_CALLS, Attributes, attributes_of, denied_of, error_type, model_of

_NAME: Final = "graphsearch"
_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
_MODEL_SECONDS: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_TOKENS: Final = tuple(4**power for power in range(14))
"""Boundaries of histogram buckets; those for models are from the semantic conventions."""

_READS: Final = frozenset({"search", "recall", "search_and_recall", "rank_entities", "feedback"})
"""Operations that evaluate policies themselves; others that report denials have them from these."""

_OPERATION: Final[ContextVar[str]] = ContextVar("operation that is reported", default="")


class Reporter:
    """Creates a span and measurements for each operation and stage."""

    def __init__(
        self, tracer_provider: trace.TracerProvider | None, meter_provider: metrics.MeterProvider | None
    ) -> None:
        release = version(_NAME)
        self._tracer = trace.get_tracer(_NAME, release, tracer_provider)
        meter = metrics.get_meter(_NAME, release, meter_provider)
        self._operations = _seconds(meter, "graphsearch.operation.duration", "Duration of what a user calls.", _SECONDS)
        self._stages = _seconds(meter, "graphsearch.stage.duration", "Duration of a part of an operation.", _SECONDS)
        self._calls = _seconds(meter, "gen_ai.client.operation.duration", "GenAI operation duration.", _MODEL_SECONDS)
        self._tokens = meter.create_histogram(
            "gen_ai.client.token.usage",
            "{token}",
            "Number of input and output tokens used.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._denied = meter.create_counter("graphsearch.denied", "{element}", "Elements that the policies hid.")

    def operation(self, name: str, owner: object) -> AbstractContextManager[Report]:
        """See `graphsearch._support.observing.Watcher`."""
        return self._model_call(name, owner) if name in MODEL_CALLS else self._operation(name)

    @contextmanager
    def stage(self, name: str, *, database: str = "") -> Iterator[None]:
        """See `graphsearch._support.observing.Watcher`."""
        operation = _OPERATION.get()
        told: Attributes = {"graphsearch.stage": name}
        if operation:
            told["graphsearch.operation"] = operation
        if database:
            told["db.system.name"] = database
        kind = trace.SpanKind.CLIENT if database else trace.SpanKind.INTERNAL
        with self._timed(".".join(filter(None, (_NAME, operation, name))), kind, told, self._stages):
            yield

    @contextmanager
    def _operation(self, name: str) -> Iterator[Report]:
        told: Attributes = {"graphsearch.operation": name}
        token = _OPERATION.set(name)
        try:
            with self._timed(f"{_NAME}.{name}", trace.SpanKind.INTERNAL, told, self._operations) as span:

                def tell(result: Any) -> None:
                    span.set_attributes(attributes_of(name, result))
                    for kind, count in denied_of(result).items() if name in _READS else ():
                        self._denied.add(count, {**told, "graphsearch.element.kind": kind})

                yield tell
        finally:
            _OPERATION.reset(token)

    @contextmanager
    def _model_call(self, name: str, owner: object) -> Iterator[Report]:
        told = model_of(name, owner)
        title = f"{name} {told['gen_ai.request.model']}"
        with self._timed(title, trace.SpanKind.CLIENT, told, self._calls) as span, metered() as meter:

            def tell(result: Any) -> None:
                if name == "embeddings":
                    span.set_attribute("gen_ai.embeddings.dimension.count", result.shape[1])

            try:
                yield tell
            finally:
                self._tell_tokens(span, told, meter.total)

    def _tell_tokens(self, span: trace.Span, told: Attributes, usage: Usage) -> None:
        """Also of answers that failed, which cost as much."""
        if usage.answers == usage.unreported:
            return
        for kind, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            span.set_attribute(f"gen_ai.usage.{kind}_tokens", tokens)
            self._tokens.record(tokens, {**told, "gen_ai.token.type": kind})

    @contextmanager
    def _timed(
        self, title: str, kind: trace.SpanKind, told: Attributes, histogram: metrics.Histogram
    ) -> Iterator[trace.Span]:
        """A span and a measurement of the enclosed code; of an error only its type, since messages quote texts."""
        failed: Attributes = {}
        started = perf_counter()
        with self._tracer.start_as_current_span(
            title, kind=kind, attributes=told, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                failed = {"error.type": error_type(error)}
                span.set_attributes(failed)
                span.set_status(trace.StatusCode.ERROR)
                raise
            finally:
                histogram.record(perf_counter() - started, told | failed)


def _seconds(meter: metrics.Meter, name: str, description: str, buckets: tuple[float, ...]) -> metrics.Histogram:
    return meter.create_histogram(name, "s", description, explicit_bucket_boundaries_advisory=buckets)
