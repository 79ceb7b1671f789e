"""A path between two entities, as it is returned and shown."""

from __future__ import annotations

import attrs

from graphsearch.display.displayed import Displayed, Shown
from graphsearch.display.markup import element, page, quiet
from graphsearch.model import Entity, Relation
from graphsearch.text.rendering import entity_name, safe_text


@attrs.frozen(kw_only=True)
class Path(Displayed):
    """A path from one entity to another.

    ``relations[i]`` joins ``entities[i]`` and ``entities[i + 1]``, in either direction. ``strength`` is least
    confidence × least freshness × least prior along it.
    """

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]
    strength: float

    @property
    def hops(self) -> int:
        """Number of relations."""
        return len(self.relations)

    def _shown(self) -> Shown:
        line = " ".join(path_steps(self))
        return Shown(page(element("code", line), quiet(f"strength {self.strength:.4f}")), line)


def path_steps(path: Path) -> list[str]:
    """``Ada``, ``--works_at--> Globex``, ``<--works_at-- Bob``: where a path starts, and each step from there."""
    steps = [entity_name(path.entities[0])]
    for relation, before, after in zip(path.relations, path.entities[:-1], path.entities[1:], strict=True):
        type_ = safe_text(relation.type)
        arrow = f"--{type_}-->" if relation.source_id == before.id else f"<--{type_}--"
        steps.append(f"{arrow} {entity_name(after)}")
    return steps
