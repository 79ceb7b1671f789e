"""Answers to export and to show: a team's, and graphs whose every text is hostile."""

from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Memory, Mention
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock
from graphsearch.testing.samples import HOSTILE_TEXTS
from graphsearch.testing.strategies import texts
from tests.graphs import days_ago, edge, people, person

HOSTILE = (
    *HOSTILE_TEXTS,
    '<script>alert("x")</script>',
    "</text></svg></pre></td><img src=x onerror=alert(1)>",
    '"]; n0 --> n9["forged',
    'a" | b --> c; click n0 "javascript:alert(1)"',
    "end",
    "1. a list",
    "__init__ and *bold* and `code`",
    "style a:b#c;",
    "#34;#quot;&quot;&#34;",
    'a\\" -> b [label="\\N"',
    "\\",
    'a"\\',
    "<b>bold</b>",
    '"quoted"',
    "a;b{c}d[e]f|g",
    "fa:fa-ban $$x$$ %% comment",
    "line\none\r\ntwo\rthree\u2028four",
    "\u202egnp.exe\u202c",
    "\x01\x0b\x1b[31m\x7f\ufffe\uffff",
    "]]>",
    "x" * 10_000,
)

anything = st.one_of(texts(), st.sampled_from(HOSTILE))


@st.composite
def graphs(draw):
    """Graphs of which nothing but the keys of links is harmless."""
    ids = draw(st.lists(texts(max_size=8), min_size=1, max_size=5, unique=True))
    nodes = [{"id": id_, "name": draw(anything), "type": draw(anything), "text": draw(anything)} for id_ in ids]
    ends = draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), max_size=6))
    links = [
        {"key": f"e{row}", "source": source, "target": target, "type": draw(anything), "score": draw(st.floats(0, 1))}
        for row, (source, target) in enumerate(ends)
    ]
    return graph_of(nodes, links)


def graph_of(nodes, links):
    return {"directed": True, "multigraph": True, "graph": {}, "nodes": nodes, "links": links}


MOVED = edge("Ada", "works_at", "Globex", fact="Ada works at Globex.", evidence=("m1",), supported_at=days_ago(0))
LED = edge("Bob", "reports_to", "Ada", valid_from=days_ago(30), supported_at=days_ago(0))


async def team(store=None):
    """Ada works at Globex and Bob reports to Ada; two memories, one of which names Ada."""
    store = store or InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="web")
    batch = people(MOVED, LED, names="Ada Bob Globex", Ada={"aliases": ("Countess",), "description": "Writes notes."})
    memories = [
        Memory(id="m1", text="Ada works at Globex.", speaker="Bob", occurred_at=days_ago(1)),
        Memory(id="m2", text="Globex is in Paris.", subject="Places"),
    ]
    mentions = [Mention(memory_id="m1", entity_id=person("Ada"), surface="Ada")]
    await store.write(Batch(entities=batch.entities, relations=batch.relations, memories=memories, mentions=mentions))
    return GraphSearchEngine(store=store)
