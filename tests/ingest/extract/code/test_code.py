"""Entities and claims from Python source."""

from collections.abc import Mapping

import pytest

from graphsearch.ingest.extract.code import extractor as code
from graphsearch.ingest.extract.code.definitions import Index, Outline, module_name, outline
from graphsearch.ingest.extract.extraction import Extraction, UnreadableError
from graphsearch.model import EdgeKind, Entity


def extract_all(**sources: str) -> dict[str, Extraction]:
    """Extractions by path; in a keyword, ``__`` is a slash."""
    index = Index()
    outlines = outlined(sources)
    for each in outlines:
        index.add(each)
    return {each.path: code.extract(each, index) for each in outlines}


def outlined(sources: Mapping[str, str]) -> list[Outline]:
    paths = {"/".join("__init__" if part == "init" else part for part in name.split("__")): name for name in sources}
    return [outline(f"{path}.py", sources[name]) for path, name in paths.items()]


def stated(**sources: str) -> set[tuple[str, str, str]]:
    extractions = extract_all(**sources).values()
    own = [found.entity for each in outlined(sources) for found in code.described(each)]
    names = {entity.id: entity.name for entity in (*own, *(entity for each in extractions for entity in each.named))}
    return {
        (names[claim.source_id], claim.type, names[claim.target_id]) for each in extractions for claim in each.claims
    }


def calls(**sources: str) -> set[tuple[str, str]]:
    return {(source, target) for source, kind, target in stated(**sources) if kind == "calls"}


def described(source: str, path: str = "m.py") -> dict[str, Entity]:
    return {each.entity.name: each.entity for each in code.described(outline(path, source))}


def test_modules_are_named_by_their_path() -> None:
    assert module_name("asyncio/__init__.py") == "asyncio"
    assert module_name("asyncio/base_events.py") == "asyncio.base_events"
    assert module_name("ssl.py") == "ssl"


def test_definitions_become_entities_with_qualified_names() -> None:
    source = '"""Sockets\nwith TLS."""\nclass A(B):\n    def m(self, x=1): ...\n'
    found = described(source + '    class C:\n        """Inner.\n\n        More."""\n')
    assert {name: entity.type for name, entity in found.items()} == {
        "m": "module",
        "m.A": "class",
        "m.A.m": "function",
        "m.A.C": "class",
    }
    assert found["m"].description == "Sockets with TLS."
    assert found["m.A"].description == "class A(B)"
    assert found["m.A.m"].description == "m(self, x=1)"
    assert found["m.A.C"].description == "Inner."
    assert found["m.A.m"].aliases == ("A.m", "m")
    assert dict(found["m.A.m"].attributes) == {"source": "m.py", "line": 4}
    assert described("class Alone: ...")["m.Alone"].description == "class Alone"


def test_a_module_goes_by_its_last_part_too() -> None:
    assert described("", "pkg/sub.py")["pkg.sub"].aliases == ("sub",)
    assert described("", "ssl.py")["ssl"].aliases == ()


@pytest.mark.parametrize(
    ("name", "private"),
    [
        ("ssl.SSLSocket", False),
        ("ssl._create", True),
        ("ssl._Hidden.run", True),
        ("_ssl.run", True),
        ("ssl.SSLSocket.__init__", False),
        ("ssl.SSLSocket.__mangled", True),
        ("ssl.__", True),
    ],
)
def test_private_by_convention(name: str, private: bool) -> None:
    assert code.is_private(name) is private


def test_importance_and_labels_follow_the_table() -> None:
    methods = "    def __init__(self): ...\n    def run(self):\n        def inner(): ...\n    def _hide(self): ...\n"
    found = described("class A:\n" + methods)
    weights = {name: entity.importance_weight for name, entity in found.items()}
    assert weights == {
        "m": 0.7,
        "m.A": 0.6,
        "m.A.__init__": 0.4,
        "m.A.run": 0.5,
        "m.A.run.inner": 0.3,
        "m.A._hide": 0.3,
    }
    assert found["m.A._hide"].labels == ("underscore",)
    assert found["m.A.run"].labels == ()
    assert found["m.A.__init__"].aliases == ("A.__init__",)


def test_what_a_private_module_offers_is_as_important_as_any_other() -> None:
    found = described("class A: ...\nclass _B: ...\n", "p/_m.py")
    weights = {name: entity.importance_weight for name, entity in found.items()}
    assert weights == {"p._m": 0.3, "p._m.A": 0.6, "p._m._B": 0.3}


def test_a_name_defined_again_is_one_entity() -> None:
    source = "try:\n    def f(): ...\nexcept E:\n    def f(): return g()\ndef g(): ...\n"
    assert list(described(source)) == ["m", "m.f", "m.g"]
    assert calls(m=source) == {("m.f", "m.g")}


def test_long_and_hostile_docstrings_are_made_storable() -> None:
    text = described(f'"""{"word " * 100}"""')["m"].description
    assert len(text) <= 300
    assert text.endswith("word…")
    assert described('"a\\0b \\ud800c"')["m"].description == "ab c"


def test_definitions_are_distinguished_from_their_parents() -> None:
    assert stated(m="class A:\n    def f(self):\n        def g(): ...\n") == {
        ("m", "defines", "m.A"),
        ("m.A", "defines", "m.A.f"),
        ("m.A.f", "defines", "m.A.f.g"),
    }


def test_imports_go_from_module_to_module() -> None:
    found = stated(
        pkg__init="from . import a\nfrom .a import run\nimport os.path, pkg\n",
        pkg__a="def run():\n    import json\n",
        pkg__b="from ..above import x\nfrom .. import y\nfrom . import run\n",
    )
    assert {(source, target) for source, kind, target in found if kind == "imports"} == {
        ("pkg", "pkg.a"),
        ("pkg", "os.path"),
        ("pkg.a", "json"),
        ("pkg.b", "pkg"),
    }


def test_a_module_outside_the_folder_is_named_and_not_described() -> None:
    extraction = extract_all(m="import _thread")["m.py"]
    (module,) = extraction.named
    assert (module.type, module.name, module.labels, module.importance_weight) == (
        "module",
        "_thread",
        ("underscore",),
        0.3,
    )
    assert {mention.surface for mention in extraction.mentions} == {"m", "_thread"}


def test_bases_are_followed_through_imports() -> None:
    found = stated(
        a="import b\nfrom b import Base as Renamed\nclass One(b.Base): ...\nclass Two(Renamed, Generic[T]): ...\n",
        b="class Base: ...\nclass Boxed(Base[int], metaclass=Meta): ...\n",
    )
    assert {(source, target) for source, kind, target in found if kind == "inherits_from"} == {
        ("a.One", "b.Base"),
        ("a.Two", "b.Base"),
        ("b.Boxed", "b.Base"),
    }


def test_calls_are_followed_through_scopes_and_imports() -> None:
    source = """
import other, pkg.deep as deep
from other import helper as h
def top():
    def nested(): return top()
    nested(); h(); other.helper(); deep.far(); Local(); len([])
class Local:
    def method(self): top(); method()
"""
    found = calls(a=source, other="def helper(): ...", pkg__init="", pkg__deep="def far(): ...")
    assert found == {
        ("a.top", "a.top.nested"),
        ("a.top.nested", "a.top"),
        ("a.top", "other.helper"),
        ("a.top", "pkg.deep.far"),
        ("a.top", "a.Local"),
        ("a.Local.method", "a.top"),
    }


def test_methods_are_found_on_the_class_and_its_bases() -> None:
    base = """
class Base:
    def shared(self): ...
    def own(self): ...
    @classmethod
    def make(cls): return cls()
"""
    source = """
from base import Base
class A(Base):
    def own(self): return super().own()
    def run(self):
        self.own(); self.shared(); self.unknown(); self.attribute.own()
    @classmethod
    def build(cls): return cls.make()
    @staticmethod
    def apart(self): self.own()
    def __new__(cls): return cls.make()
    def closure(self):
        return lambda: super().shared()
"""
    assert calls(a=source, base=base) == {
        ("a.A.own", "base.Base.own"),
        ("a.A.run", "a.A.own"),
        ("a.A.run", "base.Base.shared"),
        ("a.A.build", "base.Base.make"),
        ("a.A.__new__", "base.Base.make"),
        ("a.A.closure", "base.Base.shared"),
        ("base.Base.make", "base.Base"),
    }


def test_instances_are_followed_where_a_name_has_one_meaning() -> None:
    source = """
class C:
    def m(self): ...
shared = C()
alias = C
def by_annotation(c: C, d: "C", e: C | None, f: "not python(", g: 3): c.m(); d.m(); e.m(); f.m(); g.m()
def by_construction():
    c = C()
    c.m()
def chained(): alias().m()
def of_module(): shared.m()
def stated():
    c: C = make()
    c.m()
def rebound(c: C):
    c = other()
    c.m()
def two():
    c = C()
    c = None
    c.m()
"""
    assert {source for source, target in calls(m=source) if target == "m.C.m"} == {
        "m.by_annotation",
        "m.by_construction",
        "m.chained",
        "m.of_module",
        "m.stated",
    }


def test_a_local_name_hides_an_outer_one() -> None:
    source = """
def f(): ...
def by_argument(f): f()
def by_star(*f): f()
def by_loop():
    for f in []: f()
def by_with():
    with open() as f: f()
def by_with_parts():
    with open() as (f, g), open(): f()
def by_handler():
    try: ...
    except E as f: f()
def by_match(x):
    match x:
        case [f, *g]: f()
        case {**f}: f()
        case [*f]: f()
def by_lambda(): return lambda f: f()
def by_walrus(): (f := 1)
def visible(): f()
"""
    assert calls(m=source) == {("m.visible", "m.f")}


def test_stars_and_re_exports_are_followed_and_private_names_not_brought() -> None:
    extractions = extract_all(
        a="from pkg import *\nimport pkg\ndef f():\n    run(); pkg.run(); _hidden(); pkg.renamed()\n",
        pkg__init="from .inner import *\nfrom .inner import run as renamed\n",
        pkg__inner="def run(): ...\ndef _hidden(): ...\n",
    )
    claims = [claim for claim in extractions["a.py"].claims if claim.type == "calls"]
    (claim,) = claims
    assert claim.confidence == 0.96


def test_circles_of_names_and_bases_end() -> None:
    source = """
from b import x
from b import *
class A(A): ...
class B(C): ...
class C(B):
    def m(self): self.no(); x(); y()
x2 = x2
"""
    assert calls(a=source, b="from a import x\nfrom a import *\n") == set()


def test_folders_without_init_are_walked_through() -> None:
    found = calls(
        main="import pkg.ns.mod\nimport loose.mod\ndef f(): pkg.ns.mod.g(); loose.mod.h()\n",
        pkg__init="",
        pkg__ns__mod="def g(): ...",
        loose__mod="def h(): ...",
    )
    assert found == {("main.f", "pkg.ns.mod.g"), ("main.f", "loose.mod.h")}


def test_decorators_and_defaults_run_where_the_definition_stands() -> None:
    source = "def d(f): ...\ndef e(): ...\n@d\n@e()\ndef f(x=e(), *, y=d(1)): ...\n@d\nclass A(e()): ...\n"
    assert calls(m=source) == {("m", "m.d"), ("m", "m.e")}


def test_a_binding_hides_the_submodule_of_the_same_name() -> None:
    found = calls(pkg__init="from .run import run\n", pkg__run="def run(): ...\n", m="import pkg\ndef f(): pkg.run()\n")
    assert found == {("m.f", "pkg.run.run")}


def test_things_that_are_not_known_are_left_out() -> None:
    source = "x = 1\ndef f():\n    super().m(); x(); f.attribute(); (lambda: 1)(); [1][0](); f()(); m.x()\nimport m\n"
    assert calls(m=source) == set()


def test_confidence_says_how_sure_a_resolution_is() -> None:
    base = "class Base:\n    def m(self): ...\ndef g(): ...\n"
    source = "import base\nclass A(base.Base):\n    def n(self): self.m(); base.g(); h()\ndef h(): ...\n"
    extraction = extract_all(a=source, base=base)["a.py"]
    sure = {(claim.type, claim.fact): claim.confidence for claim in extraction.claims}
    assert sure == {
        ("imports", "a.py:1"): 0.98,
        ("defines", "a.py:2 class A(base.Base)"): 0.99,
        ("inherits_from", "a.py:2"): 0.98,
        ("defines", "a.py:3 n(self)"): 0.99,
        ("calls", "a.py:3"): sure[("calls", "a.py:3")],
        ("defines", "a.py:4 h()"): 0.99,
    }
    calls_ = sorted(claim.confidence for claim in extraction.claims if claim.type == "calls")
    assert calls_ == [0.95, 0.96, 0.98]
    assert {claim.kind for claim in extraction.claims} == {EdgeKind.STRUCTURAL}


def test_one_claim_for_a_pair_however_often_it_is_stated() -> None:
    extraction = extract_all(m="def f(): ...\ndef g():\n    f()\n    f()\n")["m.py"]
    assert [claim.fact for claim in extraction.claims if claim.type == "calls"] == ["m.py:3"]


def test_the_file_is_a_memory_without_text_or_date() -> None:
    memory = extract_all(_m="")["_m.py"].memory
    assert (memory.id, memory.source, memory.text, memory.occurred_at) == ("file:_m.py", "_m.py", "", None)
    assert memory.labels == ("underscore",)


def test_the_same_source_gives_the_same_extraction() -> None:
    source = "import os\ndef f(): g()\ndef g(): ...\n"
    assert extract_all(m=source) == extract_all(m=source)
    assert extract_all(m=source)["m.py"].digest() == extract_all(m=source)["m.py"].digest()


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("x = (\n", 1, "never closed"),
        ("ok = 1\ndef f(:\n", 2, "not valid Python"),
        ("x = '\0'", 0, "null bytes"),
        ("x = '\ud800'", 0, "surrogates not allowed"),
        ("-" * 5000 + "1", 0, "nested too deeply"),
    ],
)
def test_source_that_is_not_python_names_its_line(source: str, line: int, message: str) -> None:
    with pytest.raises(UnreadableError, match=message) as caught:
        outline("m.py", source)
    if line:
        assert caught.value.fault.line == line


def test_invalid_escapes_in_a_file_are_its_own_affair() -> None:
    assert list(described("x = '\\d'")) == ["m"]


def test_what_is_raised_and_caught_is_no_call() -> None:
    found = stated(
        errors="class Bad(ValueError): ...\nclass Worse(Bad): ...\n",
        m=(
            "import errors, other\nfrom errors import Bad\n"
            "def f():\n    try: g()\n    except (Bad, KeyError) as error: raise errors.Worse(error) from error\n"
            "    except other.Failed: raise other.make_error()\n    except error: raise\n"
            "def g():\n    raise NotImplementedError\n"
        ),
    )
    assert {(source, kind, target) for source, kind, target in found if kind not in {"defines", "imports"}} == {
        ("errors.Bad", "inherits_from", "ValueError"),
        ("errors.Worse", "inherits_from", "errors.Bad"),
        ("m.f", "calls", "m.g"),
        ("m.f", "catches", "errors.Bad"),
        ("m.f", "catches", "KeyError"),
        ("m.f", "catches", "other.Failed"),
        ("m.f", "raises", "errors.Worse"),
        ("m.g", "raises", "NotImplementedError"),
    }


def test_bases_outside_of_the_folder_are_named() -> None:
    source = "import abc\nfrom t import T\nfrom . import gone\nclass A(abc.ABC, T[int], gone.X, made()): ...\n"
    extraction = extract_all(m=source)["m.py"]
    named = {entity.name: (entity.type, entity.aliases) for entity in extraction.named}
    assert named == {
        "abc": ("module", ()),
        "t": ("module", ()),
        "abc.ABC": ("class", ("ABC",)),
        "t.T": ("class", ("T",)),
    }


@pytest.mark.parametrize(
    "call",
    [
        "def f(self): self.b.run()",
        "def f(self): self.c.run()",
        "def f(self): self.d.run()",
        "def f(self): self.made().run()",
        "async def f(self): (await self.later()).run()",
        "def f(self, given: Optional[B] = None): (given or B()).run()",
        "def f(self): make().run()",
    ],
)
def test_calls_are_followed_through_what_is_said_of_values(call: str) -> None:
    source = f"""
class B:
    def run(self): ...
def make() -> "B": ...
class A:
    b: B
    def __init__(self, c: "B | None"):
        self.c = c
        self.c = None
        self.e = B()
        self.e = 1
    @property
    def d(self) -> B: ...
    def made(self) -> B: ...
    async def later(self) -> B: ...
    {call}
"""
    assert ("m.A.f", "m.B.run") in calls(m=source)


def test_values_of_which_nothing_or_several_things_are_said_are_not_followed() -> None:
    source = """
class B:
    def run(self): ...
class A:
    def __init__(self):
        self.e = B()
        self.e = 1
    def made(self): return B()
    def other(self, a): a.e = B()
    def f(self): self.e.run(), self.made().run(), self.made.run()
"""
    assert ("m.A.f", "m.B.run") not in calls(m=source)
