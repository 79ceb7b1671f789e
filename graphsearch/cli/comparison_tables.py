"""A comparison of ways of answering, as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table

from graphsearch.cli.json_shapes import table
from graphsearch.evaluation.comparing import Column, Comparison


def comparison_tables(found: Comparison) -> Iterator[str | Table]:
    """In per cent, a row a way of answering: its means with intervals, its first metric by kind; then the regrets."""
    metrics = found.default.metrics
    yield _table(
        "%", *metrics, rows=((each.name, *(_mean(each, metric) for metric in metrics)) for each in found.columns)
    )
    first = next(iter(metrics))
    if len(kinds := [kind for kind, means in found.default.by_kind.items() if first in means]) > 1:
        yield f"\n{first} by kind, in per cent"
        yield _table(
            "",
            *(f"{kind.replace('_', ' ') or '(none)'} ({found.kinds[kind]})" for kind in kinds),
            rows=((each.name, *(f"{100 * each.by_kind[kind][first]:.1f}" for kind in kinds)) for each in found.columns),
        )
    yield "\nregret, in points: the best of the channels and of BM25, less this"
    yield _table("", *found.better, rows=_regrets(found))
    left = f"; {found.left_out} with no gold were left out" if found.left_out else ""
    yield f"\n{sum(found.kinds.values())} questions{left}; {found.default.name} takes {found.p50_ms:.1f} ms (median)"


def _table(*headings: str, rows: Iterable[Sequence[object]]) -> Table:
    found = table(*headings, rows=rows)
    found.columns[0].no_wrap = True  # names are what is looked for
    return found


def _mean(column: Column, metric: str) -> str:
    low, high = (100 * bound for bound in column.intervals[metric])
    return f"{100 * column.metrics[metric]:.1f} [{low:.0f}, {high:.0f}]"


def _regrets(found: Comparison) -> Iterator[tuple[str, ...]]:
    for each in found.columns:
        if each.name not in found.rivals:
            regrets = found.regret(each).values()
            yield each.name, *(f"{regret.points:+.1f} ({regret.best})" for regret in regrets)
