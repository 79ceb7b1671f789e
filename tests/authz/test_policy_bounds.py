"""Policies that would overflow the stack of the policy engine are refused before it reads them."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphsearch.authz.cedar import CedarAuthorizer
from graphsearch.authz.policy_bounds import DEEPEST, LARGEST, refuse_unbounded
from graphsearch.errors import PolicyError
from tests.waiting import LONGEST

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = (ROOT / "authz/policies/schema.cedarschema").read_text()
NESTED = {
    "parentheses": lambda n: "(" * n + "true" + ")" * n,
    "conditions": lambda n: "if true then " * n + "true" + " else true" * n,
    "sets": lambda n: "[" * n + "1" + "]" * n + " == [1]",
    "records": lambda n: "{a:" * n + "1" + "}" * n + " == {a: 1}",
    "and": lambda n: " && ".join(["true"] * n),
    "or": lambda n: " || ".join(["false"] * n),
    "sums": lambda n: "1 == " + " + ".join(["1"] * n),
    "products": lambda n: "1 == " + " * ".join(["1"] * n),
    "attributes": lambda n: "resource" + ".a" * n + " == 1",
    "indexes": lambda n: "resource" + '["a"]' * n + " == 1",
    "calls": lambda n: "resource" + ".isInRange(1)" * n,
    "negations": lambda n: "!(" * n + "true" + ")" * n,
}
FLAT = {
    "texts": '"' + "(" * 2_000 + '" == "((("',
    "comments": "true // " + "(" * 2_000 + "\n",
    "sets": "[" + ", ".join(map(str, range(2_000))) + "].contains(1)",
    "policies": "true }; permit(principal, action, resource) when { " * 500 + "true",
}


def policy(condition: str) -> str:
    return f"permit(principal, action, resource) when {{ {condition} }};"


@pytest.mark.parametrize("shape", NESTED)
@pytest.mark.parametrize("deep", [DEEPEST + 1, 1_000, 50_000])
def test_deep_nesting_is_refused(shape, deep):
    with pytest.raises(PolicyError, match=r"nests more than 200|at most 1,000,000"):
        CedarAuthorizer(policy(NESTED[shape](deep)), SCHEMA)


@pytest.mark.parametrize("shape", FLAT)
def test_what_does_not_nest_is_read(shape):
    CedarAuthorizer(policy(FLAT[shape]), SCHEMA)


def test_what_is_accepted_can_be_parsed():
    conditions = [NESTED[shape](DEEPEST // 2 - 5) for shape in NESTED]
    accepted = [each for each in conditions if _is_accepted(each)]
    assert len(accepted) >= 8
    lines = [
        "import cedarpy",
        f"for each in {[policy(each) for each in accepted]!r}:",
        "    cedarpy.PolicySet.from_str(each)",
    ]
    subprocess.run([sys.executable, "-c", "\n".join(lines)], check=True, timeout=LONGEST)


def _is_accepted(condition: str) -> bool:
    try:
        refuse_unbounded(policy(condition), SCHEMA)
    except PolicyError:
        return False
    return True


def test_large_policies_are_refused():
    with pytest.raises(PolicyError, match="at most 1,000,000"):
        CedarAuthorizer("//" + "x" * LARGEST, SCHEMA)


def test_the_schema_is_bounded_too():
    with pytest.raises(PolicyError, match="nests more than 200"):
        CedarAuthorizer(policy("true"), "entity User = " + "{a: " * 1_000 + "Long" + "}" * 1_000 + ";")
