"""The default modes of an engine."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.errors import UnknownModeError
from graphsearch.modes.mode import GraphCompletion, Mode, Neighborhood, TripletCompletion
from graphsearch.modes.natural_language import NaturalLanguage
from graphsearch.modes.result import SearchMode
from graphsearch.modes.summary import Summarising

DEFAULT_MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        SearchMode.GRAPH_COMPLETION.value: GraphCompletion(),
        SearchMode.TRIPLET_COMPLETION.value: TripletCompletion(),
        SearchMode.NEIGHBORHOOD.value: Neighborhood(),
        SearchMode.NATURAL_LANGUAGE.value: NaturalLanguage(),
        SearchMode.SUMMARY.value: Summarising(),
    }
)


def mode_called(name: str, modes: Mapping[str, Mode]) -> Mode:
    """The mode of a name, in any case; also by aliases of `SearchMode`. Raises `UnknownModeError`."""
    return modes[mode_name(name, modes)]


def mode_name(name: str, modes: Mapping[str, Mode]) -> str:
    """The name that a mode is registered under. Raises `UnknownModeError`."""
    if name in modes:
        return name
    wanted = str(SearchMode.__members__.get(name.upper(), name.lower()))
    if wanted in modes:
        return wanted
    known = ", ".join(sorted(modes))
    raise UnknownModeError(f"there is no mode {name!r}; there are: {known}")
