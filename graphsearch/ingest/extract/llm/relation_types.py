"""Types of relations as models name them, in the words that the rules use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from graphsearch.model.identity import snake_case

SUGGESTED: Final = (
    *("reports_to", "works_at", "works_with", "member_of", "leads", "sponsors", "created", "uses", "depends_on"),
    *("lives_in", "located_in", "part_of", "has_status", "owns", "met_with"),
)
"""Relation types that a model should prefer: those of the rules, and a few more."""

LONGEST_TYPE: Final = 40
"""Maximum characters of the name of a type."""

_SAME: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("works_for", "employed_by", "employed_at", "is_employed_by"), "works_at"),
        **dict.fromkeys(("works_under", "managed_by", "is_managed_by"), "reports_to"),
        **dict.fromkeys(("works_together_with", "colleague_of"), "works_with"),
        **dict.fromkeys(("belongs_to", "is_member_of"), "member_of"),
        **dict.fromkeys(("built", "wrote", "made", "developed"), "created"),
        **dict.fromkeys(("lives_at", "resides_in"), "lives_in"),
        "requires": "depends_on",
    }
)
_INVERSE: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys(("manages", "supervises", "manager_of"), "reports_to"),
        **dict.fromkeys(("employs", "employer_of"), "works_at"),
        **dict.fromkeys(("created_by", "built_by", "written_by", "developed_by"), "created"),
        **dict.fromkeys(("led_by", "headed_by"), "leads"),
        "has_member": "member_of",
        "sponsored_by": "sponsors",
        "used_by": "uses",
        "required_by": "depends_on",
    }
)


def normalised(type: str) -> tuple[str, bool]:
    """The normalised name of a type, and whether it is inverted: "X manages Y" is Y reports_to X."""
    name = snake_case(type)
    return (_INVERSE[name], True) if name in _INVERSE else (_SAME.get(name, name), False)
