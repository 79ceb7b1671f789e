"""What is hidden shapes nothing that is recalled: a gated answer is that of a scope where the hidden was never stored.

But for the scope's own statistics: so the two scopes have as many memories of as many words each, and the hidden ones
share no word with a question or with those shown.
"""

import attrs
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.model import Batch, Entity, Memory
from graphsearch.testing.samples import relation
from graphsearch.text.bm25 import embedding_text
from tests.gates import POLICIES, no_secrets
from tests.properties import examples
from tests.ranking.memories.telling import EMBEDDER, asking, ids, mention, tell
from tests.ranking.memories.test_answers import fresh, portrait
from tests.test_hidden import SECRET

NAMES = ["Ada", "Bob", "Cyd", "Dan"]
QUESTIONS = ["roses in the garden", "What did Bob do in the garden?", "Ada and Cyd", "Where is Dan?"]

labels = st.sampled_from([(), (), (SECRET,)])
words = st.lists(st.sampled_from(["roses", "lilies", "garden", "gate"]), min_size=3, max_size=3).map(" ".join)
memories = st.fixed_dictionaries(
    {"text": words, "labels": labels, "session_id": st.sampled_from(["", "s"]), "near": st.sampled_from(QUESTIONS)}
)
mentions = st.sets(st.tuples(st.integers(0, 9), st.sampled_from(NAMES), st.booleans()), max_size=18)
ends = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda pair: pair[0] != pair[1])
scopes = st.fixed_dictionaries(
    {
        "people": st.fixed_dictionaries(dict.fromkeys(NAMES, labels)),
        "memories": st.lists(memories, min_size=4, max_size=10),
        "mentions": mentions,
        "relations": st.dictionaries(ends, labels, max_size=4),
    }
)


def batch(scope, *, secrets: bool) -> Batch:
    """The whole scope; or without secrets: hidden memories are then texts that nothing leads to."""
    people = {
        name: Entity(type="person", name=name, labels=label)
        for name, label in scope["people"].items()
        if secrets or not label
    }
    memories, vectors = [], {}
    for place, each in enumerate(scope["memories"]):
        hidden = bool(each["labels"])
        text = "quiet silent hush" if hidden else each["text"]
        memory = Memory(id=f"m{place}", text=text, position=place, labels=each["labels"])
        if not hidden or secrets:
            memory = attrs.evolve(memory, session_id=each["session_id"])
            vectors[memory.id] = EMBEDDER.vector(each["near"] if hidden else embedding_text(memory))
        memories.append(memory)
    return Batch(
        entities=list(people.values()),
        memories=memories,
        mentions=[
            mention(memories[place], people[name], at=None if about else 0)
            for place, name, about in sorted(scope["mentions"])
            if place < len(memories) and name in people and (secrets or not memories[place].labels)
        ],
        relations=[
            relation(people[source], people[target], labels=label)
            for (source, target), label in scope["relations"].items()
            if {source, target} <= set(people) and (secrets or not label)
        ],
        vectors=vectors,
    )


@given(scopes, st.booleans(), st.sampled_from(QUESTIONS))
@examples(20)
async def test_a_gated_recall_is_that_of_a_scope_without_the_hidden(scope, by_signature, question):
    answers = []
    for secrets, gate in ((True, no_secrets(by_signature=by_signature)), (False, None)):
        store = fresh()
        await store.bind_embedder(EMBEDDER.name, EMBEDDER.dimensions)
        await store.write(batch(scope, secrets=secrets))
        found = await asking(store, embedded=True).recall(question, gate=gate)
        answers.append((portrait(found), found.found, found.reason, [each.name for each in found.analysis.anchors]))
    assert answers[0] == answers[1]


@POLICIES
async def test_hidden_memories_are_counted_and_not_shown(scoped, by_signature):
    ada = Entity(type="person", name="Ada")
    shown, hidden = Memory(id="shown", text="roses"), Memory(id="hidden", text="roses", labels=(SECRET,))
    await tell(scoped, [shown, hidden], entities=[ada], mentions=[mention(shown, ada), mention(hidden, ada)])
    found = await asking(scoped).recall("roses of Ada", gate=no_secrets(by_signature=by_signature))
    assert ids(found) == ["shown"]
    assert {str(kind): count for kind, count in found.denied.items() if count} == {"memory": 1}
    assert sorted(ids(await asking(scoped).recall("roses of Ada"))) == ["hidden", "shown"]


@POLICIES
async def test_a_hidden_entity_leads_nowhere(scoped, by_signature):
    ada, bob = Entity(type="person", name="Ada", labels=(SECRET,)), Entity(type="person", name="Bob")
    tea, rain = Memory(id="tea", text="tea"), Memory(id="rain", text="rain")
    mentions = [mention(tea, ada), mention(rain, ada), mention(rain, bob)]
    await tell(scoped, [tea, rain], entities=[ada, bob], mentions=mentions)
    gate = no_secrets(by_signature=by_signature)
    assert ids(await asking(scoped).recall("Ada", gate=gate)) == []
    assert ids(await asking(scoped).recall("Bob", gate=gate)) == ["rain"]
    assert ids(await asking(scoped).recall("Bob")) == ["rain", "tea"]


async def test_an_entity_is_no_commonplace_by_what_is_hidden(scoped):
    """Five memories may mention one in so small a scope: counted are those that may be seen."""
    ada = Entity(type="person", name="Ada")
    shown = [Memory(id=f"shown{place}", text="tea") for place in range(3)]
    hidden = [Memory(id=f"hidden{place}", text="tea", labels=(SECRET,)) for place in range(3)]
    every = [*shown, *hidden]
    await tell(scoped, every, entities=[ada], mentions=[mention(each, ada) for each in every])
    assert ids(await asking(scoped).recall("Ada")) == []
    found = await asking(scoped).recall("Ada", gate=no_secrets(by_signature=True))
    assert ids(found) == ["shown0", "shown1", "shown2"]
