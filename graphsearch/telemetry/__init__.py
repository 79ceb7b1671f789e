"""Spans and metrics of operations, their stages and model calls, for OpenTelemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsearch._support.lazy import load
from graphsearch._support.observing import watch

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["instrument", "uninstrument"]


def instrument(*, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None) -> None:
    """Start reporting from this process, to the given providers, else to those configured in OpenTelemetry.

    Reported are numbers, names of parts and types of errors: no text of the graph, no question, no answer, no error
    message, and no id of a person. Raises `MissingExtraError` without the extra "telemetry".
    """
    room = load("graphsearch.telemetry.reporting", extra="telemetry", purpose="graphsearch.telemetry")
    watch(room.Reporter(tracer_provider, meter_provider))


def uninstrument() -> None:
    """Stop reporting operations that begin from now on."""
    watch(None)
