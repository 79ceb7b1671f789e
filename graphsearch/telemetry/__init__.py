"""Spans and metrics of operations, their stages and the models they call, for OpenTelemetry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphsearch._support.extras import load
from graphsearch._support.observing import watch

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

__all__ = ["instrument", "uninstrument"]


def instrument(*, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None) -> None:
    """Report what this process does from now on, to the providers given, else to those that OpenTelemetry is set to.

    What is reported are numbers, names of parts and types of errors: no text of the graph, no question, no answer, no
    message of an error, and nobody's id. Raises `MissingExtraError` without the extra "telemetry".
    """
    room = load("graphsearch.telemetry.reporting", extra="telemetry", purpose="graphsearch.telemetry")
    watch(room.Reporter(tracer_provider, meter_provider))


def uninstrument() -> None:
    """Report nothing of what begins from now on."""
    watch(None)
