"""The watcher that reports to OpenTelemetry. Imported on request, since it needs the extra.

Attributes of operations are numbers and names of parts, never a text of input or output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from importlib.metadata import version
from time import perf_counter
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

from opentelemetry import metrics, trace

from graphsearch._support.observing import Report
from graphsearch.llms.usage import Usage, metered

Attributes = dict[str, str | int]

_COUNTED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "search": ("triplets", "anchors", "connections", "found", "below_floor"),
        "recall": ("memories", "found"),
        "rank_entities": ("entities", "found"),
        "path": ("relations",),
        "context": ("tokens", "budget", "triplets", "memories", "skipped", "skipped_memories"),
        "feedback": ("applied", "replaced", "repeated", "missing"),
        "add": ("files", "changed", "forgotten", "entities", "removed", "relations", "embedded", "faults"),
        "remember": ("memories", "changed", "entities", "removed", "relations", "embedded"),
    }
)
"""The reported fields of a result, by operation: numbers as they are, of everything else the length."""

MODEL_CALLS: Final = frozenset({"chat", "embeddings"})
"""The names of operations in the semantic conventions for generative AI."""


def attributes_of(operation: str, result: Any) -> Attributes:
    """The attributes of a result."""
    if operation == "search_and_recall":
        found, recalled = result
        return attributes_of("search", found) | attributes_of("recall", recalled)
    if operation == "neighbors":
        return {"graphsearch.triplets": len(result)}
    if result is None:  # no path
        return {}
    counted = _COUNTED.get(operation, ())
    values = {f"graphsearch.{field}": getattr(result, field) for field in counted}
    attributes: Attributes = {name: each if isinstance(each, int) else len(each) for name, each in values.items()}
    if mode := getattr(result, "mode", ""):
        attributes["graphsearch.mode"] = str(mode)
    if hasattr(result, "denied"):
        attributes["graphsearch.denied"] = sum(denied_of(result).values())
    return attributes


def denied_of(result: Any) -> Mapping[str, int]:
    """The number of elements hidden or refused by policies, by kind; "element" if the kind is unknown."""
    if isinstance(result, tuple):  # of `search_and_recall`: both results count the same elements
        return denied_of(result[0]) if result else {}
    denied = getattr(result, "denied", {})
    by_kind = {"element": denied} if isinstance(denied, int) else denied
    return {str(kind): count for kind, count in by_kind.items() if count}


def model_of(operation: str, owner: Any) -> Attributes:
    """The attributes of a model call, by the semantic conventions."""
    ours = (each.__module__ for each in type(owner).__mro__ if each.__module__.startswith("graphsearch."))
    attributes: Attributes = {
        "gen_ai.operation.name": operation,
        # the module of the adapter, which has the name of the vendor or of the library
        "gen_ai.provider.name": next(ours, type(owner).__module__).rpartition(".")[2],
        "gen_ai.request.model": owner.name,
    }
    if url := getattr(owner, "base_url", ""):
        parts = urlsplit(url)
        attributes["server.address"] = parts.hostname or ""
        attributes["server.port"] = parts.port or (443 if parts.scheme == "https" else 80)
    return attributes


def error_type(error: BaseException) -> str:
    """The class of an error, by its full name; never its message, which may quote stored text."""
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


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
        attributes: Attributes = {"graphsearch.stage": name}
        if operation:
            attributes["graphsearch.operation"] = operation
        if database:
            attributes["db.system.name"] = database
        kind = trace.SpanKind.CLIENT if database else trace.SpanKind.INTERNAL
        with self._timed(".".join(filter(None, (_NAME, operation, name))), kind, attributes, self._stages):
            yield

    @contextmanager
    def _operation(self, name: str) -> Iterator[Report]:
        attributes: Attributes = {"graphsearch.operation": name}
        token = _OPERATION.set(name)
        try:
            with self._timed(f"{_NAME}.{name}", trace.SpanKind.INTERNAL, attributes, self._operations) as span:

                def tell(result: Any) -> None:
                    span.set_attributes(attributes_of(name, result))
                    for kind, count in denied_of(result).items() if name in _READS else ():
                        self._denied.add(count, {**attributes, "graphsearch.element.kind": kind})

                yield tell
        finally:
            _OPERATION.reset(token)

    @contextmanager
    def _model_call(self, name: str, owner: object) -> Iterator[Report]:
        attributes = model_of(name, owner)
        title = f"{name} {attributes['gen_ai.request.model']}"
        with self._timed(title, trace.SpanKind.CLIENT, attributes, self._calls) as span, metered() as meter:

            def tell(result: Any) -> None:
                if name == "embeddings":
                    span.set_attribute("gen_ai.embeddings.dimension.count", result.shape[1])

            try:
                yield tell
            finally:
                self._record_tokens(span, attributes, meter.total)

    def _record_tokens(self, span: trace.Span, attributes: Attributes, usage: Usage) -> None:
        """Also of answers that failed, which cost as much."""
        if usage.answers == usage.unreported:
            return
        for kind, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
            span.set_attribute(f"gen_ai.usage.{kind}_tokens", tokens)
            self._tokens.record(tokens, {**attributes, "gen_ai.token.type": kind})

    @contextmanager
    def _timed(
        self, title: str, kind: trace.SpanKind, attributes: Attributes, histogram: metrics.Histogram
    ) -> Iterator[trace.Span]:
        """A span and a measurement of the enclosed code; of an error only its type, since messages quote texts."""
        failed: Attributes = {}
        started = perf_counter()
        with self._tracer.start_as_current_span(
            title, kind=kind, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                failed = {"error.type": error_type(error)}
                span.set_attributes(failed)
                span.set_status(trace.StatusCode.ERROR)
                raise
            finally:
                histogram.record(perf_counter() - started, attributes | failed)


def _seconds(meter: metrics.Meter, name: str, description: str, buckets: tuple[float, ...]) -> metrics.Histogram:
    return meter.create_histogram(name, "s", description, explicit_bucket_boundaries_advisory=buckets)
