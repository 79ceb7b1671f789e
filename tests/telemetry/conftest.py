"""OpenTelemetry's own exporters in memory."""

from typing import Any

import attrs
import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from graphsearch import telemetry


@attrs.frozen
class Reported:
    """What was reported so far."""

    exporter: InMemorySpanExporter = attrs.field(factory=InMemorySpanExporter)
    reader: InMemoryMetricReader = attrs.field(factory=InMemoryMetricReader)

    @property
    def spans(self) -> list[ReadableSpan]:
        """Spans in the order in which they ended."""
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        """Spans of a name."""
        return [span for span in self.spans if span.name == name]

    def children(self, parent: ReadableSpan) -> list[str]:
        """Names of the spans directly in a span, in the order in which they began."""
        assert parent.context
        inside = [span for span in self.spans if span.parent and span.parent.span_id == parent.context.span_id]
        return [span.name for span in sorted(inside, key=lambda span: span.start_time or 0)]

    def metrics(self) -> dict[str, list[Any]]:
        """Data points by the name of the metric."""
        read = self.reader.get_metrics_data()
        return {
            metric.name: list(metric.data.data_points)
            for resource in (read.resource_metrics if read else ())
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def points(self, name: str, **attributes: str) -> list[Any]:
        """Data points of a metric that have these attributes; "__" in a name is a dot."""
        wanted = {key.replace("__", "."): value for key, value in attributes.items()}
        return [point for point in self.metrics().get(name, ()) if wanted.items() <= dict(point.attributes).items()]

    def everything(self) -> str:
        """All of it as text."""
        return "\n".join([*(span.to_json() for span in self.spans), repr(self.metrics())])


@pytest.fixture
def reported():
    """Everything that this process reports during a test."""
    found = Reported()
    tracers, meters = TracerProvider(), MeterProvider([found.reader])
    tracers.add_span_processor(SimpleSpanProcessor(found.exporter))
    telemetry.instrument(tracer_provider=tracers, meter_provider=meters)
    yield found
    telemetry.uninstrument()
    tracers.shutdown()
    meters.shutdown()
