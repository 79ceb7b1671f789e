"""Names that are equal, and names that must be kept apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.names.comparing import is_misspelt, is_part, is_same, may_be_one
from graphsearch.names.slips import light_slip, respelt, slip
from graphsearch.names.typed_names import TypedName, form_lookups, read, shared_type
from graphsearch.testing.strategies import texts

TYPES = ["person", "organisation", "project", "tool", "file", "url", "place", ""]


@pytest.mark.parametrize(
    ("type", "names"),
    [
        (
            "person",
            ["Priya Sharma", "priya  sharma", "PRIYA SHARMA", "Dr. Priya Sharma", "Priya Sharma's", "Sharma, Priya"],
        ),
        ("person", ["Priya Sharma", "@priya_sharma", "@priyasharma", "priya.sharma@example.com", "Priya Sharma, CTO"]),
        (
            "person",
            ["Priya Sharma", "Priya Sharma (she/her)", "Prof. Dr. Priya Sharma, Ph.D.", "Priya Sharma <p@x.org>"],
        ),
        (
            "person",
            ["José García-López", "Jose Garcia Lopez", "JOSE\u0301 GARCI\u0301A-LO\u0301PEZ", "García-López, José"],
        ),
        ("person", ["Jürgen Müller", "Juergen Mueller", "Jurgen Muller", "Herr Jürgen Müller"]),
        ("person", ["Sean O'Brien", "Sean O’Brien", "sean obrien", "“Sean O'Brien”"]),
        ("person", ["Ludwig van den Berg", "Ludwig Berg", "Ludwig Van Den Berg"]),
        ("person", ["Robert Okafor Jr.", "Robert Okafor, Junior", "robert okafor jr"]),
        ("person", ["Maria Rossi", "Sig.ra Maria Rossi", "Maria Rossi, M.D."]),
        ("person", ["D. R. Jones", "D.R. Jones"]),
        ("person", ["Hiroshi Tanaka", "Hiroshi Tanaka-san"]),
        ("person", ["J.-P. Dubois", "JP Dubois", "J. P. Dubois"]),
        ("person", ["Jan Kowalsky", "Jan Kowalskiy", "Jan Kowalski"]),
        ("person", ["psharma", "@psharma42", "psharma1@example.com"]),
        ("person", ["M. L. King Jr.", "M.L. King, Jr."]),
        ("organisation", ["Department of Energy", "the Dept. of Energy"]),
        ("organisation", ["Bell Labs", "Bell Laboratories, Inc."]),
        (
            "organisation",
            ["Acme", "Acme, Inc.", "ACME GmbH", "the Acme Corporation", "Acme Co.", "Acme S.A.", "acme's"],
        ),
        ("organisation", ["OpenAI", "Open AI", "Open-AI, L.L.C."]),
        ("organisation", ["Johnson & Johnson", "Johnson and Johnson"]),
        ("organisation", ["World Health Organization", "the World Health Organisation"]),
        ("organisation", ["I.B.M.", "IBM", "ibm"]),
        ("organisation", ["Amazon", "Amazon.com, Inc."]),
        ("project", ["Project Phoenix", "the Phoenix project", "PHOENIX", "“Phoenix”"]),
        ("project", ["billing-service", "Billing Service", "BillingService", "billing_service"]),
        ("tool", ["Node.js", "NodeJS", "node js"]),
        ("tool", ["PostgreSQL", "Postgres", "psql", "Postgres DB", "the PostgreSQL database"]),
        ("tool", ["Kubernetes", "k8s"]),
        ("tool", ["JavaScript", "JS"]),
        ("tool", ["GitHub Actions", "GH Actions", "gha"]),
        ("tool", ["AWS S3", "Amazon S3"]),
        ("tool", ["GPT-4", "GPT4", "gpt 4"]),
        ("file", ["a/b.py", "./a/b.py", "a//b.py", "a\\b.py", "a/c/../b.py", "`a/b.py`", "a/b.py:12", "a/b.py#L3-L9"]),
        ("file", ["a/b.py", "the file a/b.py", "file a/b.py"]),
        ("place", ["St. John's Wood", "st johns wood", "The St. John's Wood"]),
        ("", ["zero\u200bwidth", "zerowidth"]),
    ],
)
def test_spellings_of_one_name(type: str, names: list[str]) -> None:
    first, *others = (read(name, type) for name in names)
    assert [other.shown for other in others if not is_same(first, other)] == []
    assert all(is_same(form, read(form.shown, type)) for form in (first, *others))


@pytest.mark.parametrize(
    ("type", "a", "b"),
    [
        ("person", "Priya Sharma", "Priya"),
        ("person", "Priya Sharma", "Sharma"),
        ("person", "Priya Sharma", "P. Sharma"),
        ("person", "Priya Sharma", "Priya S."),
        ("person", "Priya Sharma", "Sharma P."),
        ("person", "Priya Sharma", "Sharma Priya"),
        ("person", "Priya Sharma", "Priya K. Sharma"),
        ("person", "Priya Kumari Sharma", "Priya K. Sharma"),
        ("person", "Priya Sharma", "@psharma"),
        ("person", "Priya Sharma", "@priyas"),
        ("person", "Anthony McBride", "A. J. McBride"),
        ("person", "Jean-Pierre Dubois", "JP Dubois"),
        ("person", "Dmitri Volkov", "Dmitriy Volkov"),
        ("person", "Fatima Al-Hassan", "Fatimah al Hassan"),
        ("person", "Oluwaseun Balogun", "Seun Balogun"),
        ("person", "Robert Okafor", "Bob"),
        ("person", "Robert Okafor", "Rob Okafor"),
        ("person", "Robert Okafor", "@bobokafor"),
        ("person", "Robert Okafor", "Robert Okafor Jr."),
        ("person", "Elizabeth Warrington", "Prof. Liz Warrington"),
        ("person", "José García-López", "José García"),
        ("person", "José García-López", "Señor García-López"),
        ("person", "Jürgen Müller", "J. Mueller"),
        ("organisation", "International Business Machines Corporation", "IBM"),
        ("organisation", "British Broadcasting Corporation", "BBC"),
        ("organisation", "Massachusetts Institute of Technology", "MIT"),
        ("organisation", "Procter & Gamble", "P&G"),
        ("organisation", "Globex Industries", "Globex"),
        ("organisation", "University of Oxford", "Oxford University"),
        ("organisation", "Stanford University", "Stanford"),
        ("project", "Customer Data Platform", "CDP"),
        ("tool", "Visual Studio Code", "VS Code"),
        ("tool", "Visual Studio Code", "vscode"),
        ("tool", "GitHub Actions", "GH Actions"),
        ("tool", "Apache Kafka", "Kafka"),
        ("tool", "Python", "Python 3.11"),
        ("tool", "Python 3.12", "python3.11"),
        ("file", "src/auth/login.py", "login.py"),
        ("file", "src/auth/login.py", "Auth/Login.py"),
        ("file", "README.md", "readme.md"),
        ("file", "docs/setup.md", "setup.md"),
        ("file", "/repo/src/auth/login.py", "src/auth/login.py"),
    ],
)
def test_parts_of_a_name_fit_it(type: str, a: str, b: str) -> None:
    assert is_part(read(a, type), read(b, type))
    assert is_part(read(b, type), read(a, type))
    assert may_be_one(read(a, type), read(b, type))


APART = [
    ("person", "Priya Sharma", "Priya Patel"),
    ("person", "Jon Smith", "John Smythe"),
    ("person", "John Smith", "Jon Smith"),
    ("person", "Mario Rossi", "Maria Rossi"),
    ("person", "Thomas Andersen", "Thomas Anderson"),
    ("person", "Ann Johnson", "Ann Johnston"),
    ("person", "Priya A. Sharma", "Priya K. Sharma"),
    ("person", "Robert Okafor Jr.", "Robert Okafor Sr."),
    ("person", "Mei Chen", "Wei Chen"),
    ("person", "A. B.", "Ada Byron"),
    ("person", "Hirosh Tanaka", "Hiroshi Tanaka"),
    ("person", "Priya", "P."),
    ("person", "Marina Silva", "Maria Silva"),
    ("person", "Ana Silva", "Anna Silva"),
    ("person", "Elena Volkova", "Dmitri Volkov"),
    ("organisation", "Acme, Inc.", "Acme Systems"),
    ("organisation", "Harrow Mills", "Friends of Harrow Mills"),
    ("organisation", "Harrow", "Harrow 2"),
    ("organisation", "Air France", "Air Canada"),
    ("organisation", "Union Bank", "Onion Bank"),
    ("organisation", "Deutsche Bank", "Deutsche Bahn"),
    ("project", "Phoenix", "Phoenix 2"),
    ("project", "Q1 Roadmap", "Q2 Roadmap"),
    ("project", "billing-service", "building-service"),
    ("tool", "Python", "PyPI"),
    ("tool", "Python 2", "Python 3.11"),
    ("tool", "GPT-3", "GPT-4"),
    ("tool", "Java", "JavaScript"),
    ("tool", "React", "React Native"),
    ("tool", "C", "C++"),
    ("tool", "C++", "C#"),
    ("tool", "Go", "Google Office"),
    ("tool", "Redis", "Redash"),
    ("file", "report_v1.pdf", "report_v2.pdf"),
    ("file", "src/db/utils.py", "src/web/utils.py"),
    ("file", "config.yaml", "config.yml"),
    ("file", "README.md", "docs/README.md"),
    ("file", "pkg/__init__.py", "__init__.py"),
    ("file", "setup.py", "tools/setup.py"),
    ("tool", "Angular", "AngularJS"),
    ("url", "https://a.example/x", "https://a.example/X"),
    ("function", "Parser.read", "parser.read"),
    ("date", "2024-01-01", "2024-01-02"),
    ("place", "North Carolina", "South Carolina"),
]


@pytest.mark.parametrize(("type", "a", "b"), APART)
def test_names_that_must_stay_apart(type: str, a: str, b: str) -> None:
    one, other = read(a, type), read(b, type)
    assert not is_same(one, other)
    assert not is_part(one, other)
    assert not is_misspelt(one, other)


@pytest.mark.parametrize(
    ("type", "a", "b"),
    [
        ("person", "Pirya Sharma", "Priya Sharma"),
        ("person", "Priya Shamra", "Priya Sharma"),
        ("person", "Rajesh Krishnamurthy", "Rajesh Krishnamurty"),
        ("person", "Jonh Smith", "John Smith"),
        ("person", "Sean Murpy", "Sean Murphy"),
        ("organisation", "Proctor & Gamble", "Procter & Gamble"),
        ("tool", "Graphana", "Grafana"),
        ("organisation", "Mircosoft", "Microsoft"),
        ("organisation", "Volkswagon", "Volkswagen"),
        ("project", "Search Relevence", "Search Relevance"),
        ("tool", "Kubernets", "Kubernetes"),
    ],
)
def test_a_slip_of_the_fingers(type: str, a: str, b: str) -> None:
    assert is_misspelt(read(a, type), read(b, type))
    assert is_misspelt(read(b, type), read(a, type))


@given(st.text(alphabet="abcdeo", max_size=9), st.text(alphabet="abcdeo", max_size=9))
def test_slips_go_both_ways_and_are_never_of_equal_words(a: str, b: str) -> None:
    assert slip(a, b) == slip(b, a)
    assert light_slip(a, b) == light_slip(b, a)
    assert not slip(a, a)
    if light_slip(a, b):
        assert slip(a, b)


@given(st.text(alphabet="abc", min_size=5, max_size=8), st.data())
def test_light_slips_are_looked_for(word: str, data: st.DataObject) -> None:
    other = data.draw(st.sampled_from(sorted(set(respelt(word)))))
    if light_slip(word, other):
        assert word in set(respelt(other))


@given(texts(), st.sampled_from(TYPES))
def test_any_name_can_be_read(name: str, type: str) -> None:
    form = read(name, type)
    assert form.shown.strip()
    assert form.keys
    assert form.words
    assert is_same(form, form)
    assert form.rank > 0
    assert all(form_lookups(form))
    assert not is_misspelt(form, form)
    assert may_be_one(form, form)


@given(texts(), texts(), st.sampled_from(TYPES))
def test_being_the_same_and_fitting_go_both_ways(a: str, b: str, type: str) -> None:
    one, other = read(a, type), read(b, type)
    assert is_same(one, other) == is_same(other, one)
    assert is_misspelt(one, other) == is_misspelt(other, one)


def test_names_of_different_kinds_do_not_fit() -> None:
    assert not is_part(read("Ada Lovelace", "tool"), read("Ada Lovelace", "person"))
    assert not is_part(read("Ada", "person"), read("Ada Lovelace", "tool"))
    assert not may_be_one(read("Vue 3", "tool"), read("Vue 2", "tool"))
    assert may_be_one(read("Vue 3", "tool"), read("Vue 2", "project"))


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("person", "person", "person"),
        ("person", "", "person"),
        ("", "tool", None),
        ("organisation", "organization", "organisation"),
        ("company", "organisation", "company"),
        ("person", "place", None),
        ("", "", ""),
    ],
)
def test_types_by_which_names_are_compared(a: str, b: str, expected: str | None) -> None:
    assert shared_type(a, b) == (b if a == "" else expected)


def test_a_type_that_says_nothing_is_none() -> None:
    assert TypedName("Ada", "Concept") == TypedName("Ada", "unknown") == TypedName("Ada", "")
    assert TypedName("Ada", "Work Item").type == "work_item"
