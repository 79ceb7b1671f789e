"""Facts stated with memories become claims and mentions, on every store; what becomes of each is reported."""

from datetime import UTC, datetime

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.engine import GraphSearchEngine
from graphsearch.ingest import Ingestor
from graphsearch.ingest.stating.scope import End, Held, Scope
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.model import Batch, Entity, Fact, Memory, NamedEntity, RelationType
from graphsearch.stores import InMemoryGraphStore
from graphsearch.stores.graph import GraphStore
from tests.gates import no_secrets
from tests.waiting import calls

MARCH = datetime(2026, 3, 2, 9, tzinfo=UTC)
APRIL = datetime(2026, 4, 6, 9, tzinfo=UTC)
MAY = datetime(2026, 5, 4, 9, tzinfo=UTC)


@pytest.fixture
def ingestor(scoped):
    return Ingestor(GraphSearchEngine(store=scoped), extractor=None)


def memory(id_, text, *facts, at=MARCH, **more):
    return Memory(id=id_, text=text, occurred_at=at, facts=facts, **more)


async def held(store: GraphStore):
    """The relations as (source, type, target), with the days of their ends."""
    names = {each.id: each.name for each in await store.list_entities(limit=100)}
    day = lambda moment: moment and moment.date().isoformat()[5:]  # noqa: E731
    return {
        (names[each.source_id], each.type, names[each.target_id]): (day(each.valid_from), day(each.valid_to))
        for each in await store.list_relations(limit=100)
    }


async def stated(ingestor, *memories):
    return [str(each) for each in (await ingestor.remember(memories)).stated]


async def test_facts_become_claims_and_mentions_without_any_reader(scoped, ingestor):
    text = "Kickoff: Jonas Weber leads the Lighthouse project since 1 March. Ada knows nobody at Globex."
    fact = Fact(
        "Jonas Weber", "is the head of", "Lighthouse", "since 1 march", quote="Jonas Weber leads the Lighthouse"
    )
    assert await stated(ingestor, memory("m1", text, fact)) == ["new: Jonas Weber leads Lighthouse"]
    assert await held(scoped) == {("Jonas Weber", "leads", "Lighthouse"): ("03-01", None)}
    (claim,) = await scoped.list_claims(memory_ids=["m1"])
    assert (claim.extractor, claim.fact, claim.ceiling) == ("stated:leads", "Jonas Weber leads the Lighthouse", 1.0)
    mentions = await scoped.list_mentions(memory_ids=["m1"])
    assert {text[each.span.start : each.span.end] for each in mentions} == {"Jonas Weber", "Lighthouse"}
    (stored,) = await scoped.get_memories(["m1"])
    assert (stored.facts, stored.entities) == ((), ())


async def test_changed_facts_are_noticed_and_the_same_are_not_stated_again(scoped, ingestor):
    text = "Mia works at Acme, near Bolt."
    first = memory("m1", text, Fact("Mia", "works at", "Acme"))
    await ingestor.remember([first])
    again = await ingestor.remember([first])
    assert (again.changed, again.stated) == (0, ())
    other = await ingestor.remember([attrs.evolve(first, facts=[Fact("Mia", "works at", "Bolt")])])
    assert (other.changed, [str(each) for each in other.stated]) == (1, ["new: Mia works_at Bolt"])
    assert set(await held(scoped)) == {("Mia", "works_at", "Bolt")}
    await ingestor.remember([attrs.evolve(first, facts=())])
    assert await held(scoped) == {}


async def test_what_holds_ends_as_it_is_said(scoped, ingestor):
    await stated(ingestor, memory("a", "Mia works at Acme.", Fact("Mia", "works at", "Acme")))
    lines = await stated(
        ingestor,
        memory("b", "Mia also works at Bolt.", Fact("Mia", "also works at", "Bolt"), at=APRIL),
        memory(
            "c", "Ned reports to both Pam Lee and Raj.", Fact("Ned", "reports to", "both Pam Lee and Raj"), at=APRIL
        ),
        memory("d", "Mia left Acme on 1 May.", Fact("Mia", "left", "Acme", "1 May"), at=MAY),
        memory(
            "e",
            "Correction: Ned reports to Zoe, not to Raj.",
            Fact("Ned", "reports to", "Zoe"),
            Fact("Ned", "does not report to", "Raj"),
            at=MAY,
        ),
        memory("f", "Old news: Ida was no longer at Foxtrot.", Fact("Ida", "no longer works at", "Foxtrot"), at=MAY),
    )
    assert lines == [
        "new: Mia works_at Bolt",
        "new: Ned reports_to Pam Lee",
        "ends: Mia works_at Acme (ends Mia works_at Acme)",
        "ends: Ned reports_to Zoe (ends Ned reports_to Pam Lee; ends Ned reports_to Raj)",
        "confirmed: Ned reports_to Raj",
        "new: Ida works_at Foxtrot",
    ]
    assert await held(scoped) == {
        ("Mia", "works_at", "Acme"): ("03-02", "05-01"),
        ("Mia", "works_at", "Bolt"): ("04-06", None),
        ("Ned", "reports_to", "Pam Lee"): ("04-06", "05-04"),
        ("Ned", "reports_to", "Raj"): ("04-06", "05-04"),
        ("Ned", "reports_to", "Zoe"): ("05-04", None),
        ("Ida", "works_at", "Foxtrot"): (None, "05-04"),
    }


async def test_values_are_kept_as_values(scoped, ingestor):
    budget, later = Fact("Apollo", "budget", "120k euros"), Fact("Apollo", "has a budget of", "90k euros")
    text = "Apollo has 120k euros, and launches on 30 June; it is on hold."
    due = Fact("Apollo", "launches on", "30 June"), Fact("Apollo", "status", "on hold")
    await ingestor.remember([memory("m1", text, budget, *due)])
    assert await stated(ingestor, memory("m2", "Apollo gets 90k euros.", later, at=APRIL)) == [
        "ends: Apollo budget 90k euros (ends Apollo budget 120k euros)"
    ]
    found = await held(scoped)
    assert found["Apollo", "budget", "120k euros"] == ("03-02", "04-06")
    assert {("Apollo", "deadline", "30 June"), ("Apollo", "has_status", "on hold")} <= set(found)
    types = {each.name: each.type for each in await scoped.list_entities()}
    assert {name for name, type_ in types.items() if type_ == "value"} == set(types) - {"Apollo"}


async def test_names_are_those_of_the_scope_the_speaker_and_the_text(scoped, ingestor):
    await ingestor.remember(
        [memory("a", "Nora Quill and Nora Hart, of Arden Kliniken", entities=[
            NamedEntity("Nora Quill", "person", aliases=["NQ"]),
            NamedEntity("Nora Hart", "person"),
            NamedEntity("Arden Kliniken", "company", description="a clinic"),
        ])]
    )  # fmt: skip
    lines = await stated(
        ingestor,
        memory("b", "I am with Arden now.", Fact("I", "works at", "Arden"), speaker="Nora Quill", at=APRIL),
        memory("c", "NQ left for good.", Fact("NQ", "lives in", "Oslo"), at=APRIL),
        memory("d", "Nora moved to Bergen.", Fact("Nora", "moved to", "Bergen"), at=APRIL),
        memory("e", "We use Okta.", Fact("we", "use", "Okta"), speaker="Nora Quill", at=MAY),
        memory("f", "They use Okta.", Fact("we", "use", "Okta"), at=MAY),
    )
    assert lines[0] == "new: Nora Quill works_at Arden Kliniken"
    assert lines[1].startswith("new: Nora Quill lives_in Oslo (not grounded")
    assert lines[2:4] == ["new: Nora lives_in Bergen", "new: Arden Kliniken uses Okta"]
    assert lines[4] == "refused: we | use | Okta (it is not known whom 'we' means)"
    known = {each.name: each for each in await scoped.list_entities()}
    assert known["Arden Kliniken"].description == "a clinic"
    assert "NQ" in known["Nora Quill"].aliases


async def test_a_short_form_of_the_speaker_is_the_speaker(ingestor):
    said = memory("a", "I live in Leeds.", Fact("Rosa", "lives in", "Leeds"), speaker="Rosalind")
    assert await stated(ingestor, said) == ["new: Rosalind lives_in Leeds"]


async def test_names_of_one_are_declared(scoped, ingestor):
    await stated(
        ingestor,
        memory(
            "a",
            "Ambrose Finch, call me Bram, does lights at Corner Theatre.",
            Fact("Bram", "works at", "Corner Theatre"),
            Fact("Ambrose Finch", "also known as", "Bram"),
        ),
    )
    assert await held(scoped) == {("Ambrose Finch", "works_at", "Corner Theatre"): ("03-02", None)}
    await stated(ingestor, memory("b", "Bram lives in Leeds.", Fact("Bram", "lives in", "Leeds")))
    assert ("Ambrose Finch", "lives_in", "Leeds") in await held(scoped)


@pytest.mark.parametrize(
    ("text", "fact", "why"),
    [
        ("Tom reports to Ines.", Fact("Ines", "reports to", "Tom"), "the text says it the other way round"),
        ("Arden runs on Azure, not Okta.", Fact("Arden", "uses", "Okta"), "the text denies it"),
        ("Lu wants React.", Fact("Lu", "uses", "React"), "the text wishes it"),
        ("Mei will move to Oslo.", Fact("Mei", "moved to", "Oslo"), "the text plans it"),
        ("Does Mei use Okta?", Fact("Mei", "uses", "Okta"), "the text asks it"),
    ],
)
async def test_a_text_that_says_otherwise_contradicts(scoped, ingestor, text, fact, why):
    (report,) = (await ingestor.remember([memory("m1", text, fact)])).stated
    assert (report.status, report.held, report.why) == ("contradicts", None, why)
    assert await held(scoped) == {}


async def test_me_is_the_speaker_and_another_is_found(scoped, ingestor):
    await ingestor.remember([memory("a", "Kit and Theo are here", entities=[NamedEntity("Kit", "person")])])
    fact = Fact("Kit", "uses", "SketchUp", quote="I use SketchUp")
    assert await stated(ingestor, memory("b", "I use SketchUp for the flats.", fact, speaker="Tom")) == [
        "contradicts: Kit | uses | SketchUp (the text says Tom)"
    ]


@pytest.mark.parametrize(
    ("fact", "line"),
    [
        (Fact("Ann", "might join", "Acme"), "refused: Ann | might join | Acme (a wish)"),
        (Fact("Ann", "will join", "Acme"), "refused: Ann | will join | Acme (a plan without a date)"),
        (Fact("Ann", "does not use", "Acme"), "refused: Ann | does not use | Acme (a denial is no fact)"),
        (Fact("Ann", "has not left", "Acme"), "refused: Ann | has not left | Acme (a denial is no fact)"),
        (Fact("Ann", "works at", "'"), "refused: Ann | works at | ' (it is no name)"),
        (Fact("'", "works at", "Acme"), "refused: ' | works at | Acme (it is no name)"),
        (Fact("Ann", "works at", "Ann"), "refused: Ann | works at | Ann (both ends are one)"),
        (Fact("Ann", "quit", "", ended=True), "refused: Ann | quit |  (nothing is known that it ends)"),
        (
            Fact("Ann", "works at", "Acme", "2026-03-01", "2026-02-01"),
            "refused: Ann | works at | Acme (it ends before it begins)",
        ),
        (Fact("Ann", "admires", "Acme"), "new: Ann admires Acme (in its own words)"),
        (
            Fact("Ann", "COO of", "Acme", quote="Ann is COO"),
            "new: Ann works_at Acme (not grounded; the quote is not in the text)",
        ),
    ],
)
async def test_what_is_refused_or_uncertain_says_why(ingestor, fact, line):
    assert await stated(ingestor, memory("m1", "Ann likes what Acme makes", fact)) == [line]


TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30)
NAMES = TEXT.filter(lambda text: text.strip()) | st.sampled_from(
    ["Ann", "Ann Lee", "I", "we", "they", "COO of Acme", "A, B and C", "2 may", "red", "not Okta", "Dr. Q"]
)
PHRASES = st.sampled_from(
    [
        "works at",
        "left",
        "no longer uses",
        "boss",
        "will join",
        "status",
        "also leads",
        "last day at X",
        "known as",
        "churned",
    ]
)
WHEN = st.none() | st.sampled_from(["1 may", "2026-01", "soon", "2026-05-02", "end of june", "same day"])


@given(st.lists(st.builds(Fact, NAMES, NAMES | PHRASES, NAMES, WHEN, WHEN, ended=st.booleans()), max_size=4), NAMES)
async def test_any_facts_are_stated_or_refused(facts, text):
    store = InMemoryGraphStore().with_scope(org_id="o", project_id="p")
    given_ = memory("m1", text, *facts, speaker="Ann Lee")
    report = await Ingestor(GraphSearchEngine(store=store), extractor=None).remember([given_])
    assert [each.fact for each in report.stated] == facts
    assert all(each.held or each.why for each in report.stated)


async def test_what_is_not_grounded_stays_under_a_ceiling_or_is_refused(scoped):
    engine, fact = GraphSearchEngine(store=scoped), Fact("Zoe", "works at", "Foxtrot")
    refusing = Ingestor(engine, extractor=None, options=IngestOptions(refuse_ungrounded=True))
    assert (await stated(refusing, memory("m1", "Hi.", fact)))[0].startswith("refused")
    quoting = Ingestor(engine, extractor=None, options=IngestOptions(require_quotes=True))
    assert await stated(quoting, memory("m2", "Zoe works at Foxtrot.", fact)) == [
        "refused: Zoe | works at | Foxtrot (no quote)"
    ]
    for each in ("m3", "m4", "m5"):
        await Ingestor(engine, extractor=None).remember([memory(each, "Hi.", fact)])
    (relation,) = await scoped.list_relations()
    assert relation.confidence == pytest.approx(0.6)


async def test_readers_fill_in_and_do_not_contradict(scoped):
    text = "Mia works at Acme. Ned reports to Pam Lee."
    fact = Fact("Mia", "works at", "Bolt", confidence=0.9)
    await Ingestor(GraphSearchEngine(store=scoped)).remember([memory("m1", text, fact)])
    found = {each for each in await held(scoped) if each[1] != "co_occurs"}
    assert found == {("Mia", "works_at", "Bolt"), ("Ned", "reports_to", "Pam Lee")}


async def test_registered_types_are_kept_as_they_are(scoped, ingestor):
    await scoped.register_types([RelationType(name="sails_under")])
    (line,) = await stated(
        ingestor, memory("m1", "Corvina sails under Panama", Fact("Corvina", "sails under", "Panama"))
    )
    assert line == "new: Corvina sails_under Panama"


async def test_what_may_not_be_seen_shapes_no_report(scoped):
    hidden = Entity(type="person", name="Marit Solberg", labels=["secret"])
    await scoped.write(Batch(entities=[hidden]))
    ingestor = Ingestor(GraphSearchEngine(store=scoped), extractor=None, gate=no_secrets())
    assert await stated(ingestor, memory("m1", "Marit left Acme", Fact("Marit", "works at", "Acme"))) == [
        "new: Marit works_at Acme"
    ]


def test_a_name_is_compared_with_those_alone_that_share_a_word_with_it():
    def work(size):
        scope = Scope()
        for at in range(size):
            first, last = f"Ab{at}o", f"Cu{at}lin"
            held = Held(scope.add(End(f"{first} {last}")), "uses", scope.add(End(f"Tool{at}")), None, None)
            scope.hold(held)
            assert scope.known(first) is scope.known(f"{first[0]}. {last}") is held.source
            assert scope.standing(held.source, "uses", None) == [held]

    small, large = calls(lambda: work(100)), calls(lambda: work(400))
    assert large < 5 * small
