"""The modes an engine has unless told otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from graphsearch.errors import MissingDependencyError, UnknownModeError
from graphsearch.modes.graph_completion import GraphCompletion
from graphsearch.modes.mode import Mode, Part
from graphsearch.modes.neighborhood import Neighborhood
from graphsearch.modes.request import SearchMode
from graphsearch.modes.triplet_completion import TripletCompletion

T = TypeVar("T")

DEFAULT_MODES: Final[Mapping[str, Mode]] = MappingProxyType(
    {
        SearchMode.GRAPH_COMPLETION.value: GraphCompletion(),
        SearchMode.TRIPLET_COMPLETION.value: TripletCompletion(),
        SearchMode.NEIGHBORHOOD.value: Neighborhood(),
    }
)


def mode_called(name: str, modes: Mapping[str, Mode]) -> Mode:
    """The mode of a name, in any case; aliases of `SearchMode` too. Raises `UnknownModeError`."""
    wanted = SearchMode.__members__.get(name.upper(), name.lower())
    if str(wanted) in modes:
        return modes[str(wanted)]
    known = ", ".join(sorted(modes))
    if wanted in tuple(SearchMode):
        raise UnknownModeError(f"the mode {name!r} does not come with this version; these do: {known}")
    raise UnknownModeError(f"there is no mode {name!r}; there are: {known}")


def require(part: Part, given: T | None, mode: str) -> T:
    """A part that a mode needs. Raises `MissingDependencyError` that names the mode, the part, and how to pass it."""
    if given is None:
        without = "; the mode 'neighborhood' works without one" if part == "embedder" else ""
        raise MissingDependencyError(
            f"the mode {mode!r} needs an {part}: GraphSearchEngine(store=…, {part}=…){without}"
        )
    return given
