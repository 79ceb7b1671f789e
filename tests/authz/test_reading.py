"""The fields that policies read are found conservatively: whatever is not recognised reads everything."""

from __future__ import annotations

import cedarpy
import pytest

from graphsearch.authz.policy_fields import ALL_WORDS, SIGNATURE_WORDS, words_read


def reads(condition: str, *, resource: str = "resource") -> frozenset[str]:
    return words_read(cedarpy.PolicySet.from_str(f"permit (principal, action, {resource}) when {{ {condition} }};"))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("true", set()),
        ("principal.name == context.tags", set()),
        ('resource.labels.contains("private")', {"labels"}),
        ("resource has owner && resource.owner == principal.id", {"owner"}),
        ('resource.type == "tool" || resource.source like "wiki*"', {"type", "source"}),
        ('if resource.sensitivity == "x" then resource.name == "y" else false', {"sensitivity", "name"}),
        ("resource has name", {"name"}),
        ('resource.hasTag("team")', {"tags"}),
        ('resource.hasTag(resource.type) && resource.getTag(resource.type) == "x"', {"tags", "type"}),
        ('resource in Project::"acme/web"', set()),
        ('resource in [Project::"acme/web", Org::"acme"]', set()),
        ("resource in context.project", set()),
        ("resource is Memory", set()),
        ('resource is Memory in Org::"acme"', set()),
        ('{ "a": resource.name }.a == "x"', {"name"}),
        ("[resource.source].contains(principal.id)", {"source"}),
    ],
)  # fmt: skip
def test_words_that_a_condition_reads(condition: str, words: set[str]) -> None:
    assert reads(condition) == words


@pytest.mark.parametrize(
    "condition",
    [
        'resource == Entity::"acme/web/1"',
        'resource in Entity::"acme/web/1"',
        'resource in [Project::"acme/web", Entity::"acme/web/1"]',
        "resource in principal.favourites",
        'resource is Memory in Memory::"acme/web/1"',
        "[resource].contains(principal)",
        "principal.favourite == resource",
        "(if principal.odd then resource else context.project) has name",
        "resource.unheard_of == 1",
        "resource has unheard_of",
        'resource.id == "x"',
    ],
)
def test_conditions_that_tell_single_resources_apart(condition: str) -> None:
    assert reads(condition) == ALL_WORDS


@pytest.mark.parametrize(
    ("resource", "words"),
    [
        ("resource is Entity", set()),
        ('resource in Project::"acme/web"', set()),
        ('resource is Entity in Project::"acme/web"', set()),
        ('resource == Entity::"acme/web/1"', ALL_WORDS),
        ('resource in Entity::"acme/web/1"', ALL_WORDS),
        ('resource is Entity in Memory::"acme/web/1"', ALL_WORDS),
        ("resource == ?resource", ALL_WORDS),
        ("resource in ?resource", ALL_WORDS),
    ],
)
def test_words_that_a_head_reads(resource: str, words: set[str]) -> None:
    assert words_read(cedarpy.PolicySet.from_str(f"permit (principal, action, {resource});")) == words


def test_words_of_all_policies_together() -> None:
    policies = """
        permit (principal, action, resource) when { resource.type == "a" };
        forbid (principal, action, resource) unless { resource has owner };
    """
    assert words_read(cedarpy.PolicySet.from_str(policies)) == {"type", "owner"}
    assert {"type", "owner"} <= SIGNATURE_WORDS < ALL_WORDS


def test_a_tree_too_deep_to_read_counts_as_reading_everything() -> None:
    deep = "".join(f"if principal.a == {number} then true else " for number in range(120)) + "false"
    assert reads(deep) == ALL_WORDS
