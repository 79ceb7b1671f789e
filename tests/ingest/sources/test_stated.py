"""Facts and entities in lines, objects, files of memories and tables; and the memory that each is stated of."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.ingest.sources.stated import outcome, outcome_lines, read_entity, read_fact, state, text_of
from graphsearch.model import Fact, FactReport, FactStatus, Memory, NamedEntity

LEADS = Fact("Jonas Weber", "leads", "Lighthouse backend", since="2026-03-02")
STATED = {"subject": "Jonas Weber", "relation": "leads", "object": "Lighthouse backend", "since": "2026-03-02"}


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("Jonas Weber | leads | Lighthouse backend | since 2026-03-02", LEADS),
        ("Ana|uses|Vim|until next monday|“till then”", Fact("Ana", "uses", "Vim", None, "next monday", "till then")),
        ('Ana | uses | Vim | Ended | quote "gave up Vim"', Fact("Ana", "uses", "Vim", ended=True, quote="gave up Vim")),
        ("Ana | resigned | | ended", Fact("Ana", "resigned", "", ended=True)),
    ],
)  # fmt: skip
def test_a_line_is_a_fact(line, fact):
    assert read_fact(line) == read_fact(fact) == fact


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ("Ana | uses", "must be: subject | relation | object"),
        ("Ana | uses | Vim | sometimes", "'sometimes' is neither since"),
        (" | uses | Vim", "needs the field 'subject'"),
        ({"subject": "Ana"}, "needs the field 'relation'"),
        ({**STATED, "subjct": 1}, "has no field 'subjct'; its fields are subject, relation"),
        ({**STATED, "confidence": 7}, "'Lighthouse backend': confidence must be in [0, 1], not 7"),
        ({**STATED, "ended": "perhaps"}, "ended must be true or false, not 'perhaps'"),
        (7, "must be an object, not a number"),
    ],
)
def test_what_is_no_fact_says_why(given, fault):
    with pytest.raises(InvalidInputError) as refused:
        read_fact(given)
    assert fault in str(refused.value)


def test_null_is_as_if_left_out_and_a_year_may_be_a_number():
    given = {**STATED, "since": 2026, "until": None, "quote": None, "ended": "false"}
    assert read_fact(given) == Fact("Jonas Weber", "leads", "Lighthouse backend", since="2026")


def test_a_line_or_an_object_names_an_entity():
    known = NamedEntity("Acme Corp", "organisation", ("AC", "Acme"), "A firm")
    as_object = {"name": "Acme Corp", "type": "organisation", "aliases": ["AC", "Acme"], "description": "A firm"}
    assert read_entity("Acme Corp | organisation | AC, Acme | A firm") == read_entity(as_object) == known
    for wrong in ("Acme", "a|b|c|d|e", {"name": "Acme", "kind": "firm"}):
        with pytest.raises(InvalidInputError, match=r"needs the field|must be: name|has no field"):
            read_entity(wrong)


MARA = {"id": "m1", "text": "Jonas Weber leads the Lighthouse backend since 2 March.", "speaker": "Mara Lind"}


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_lines_of_memories_state_facts(tmp_path):
    entities = [{"name": "Lighthouse backend", "type": "project"}]
    line = {**MARA, "facts": [STATED, "Mara Lind | works with | Jonas Weber"], "entities": entities}
    (memory,) = read_memories(put(tmp_path, "a.jsonl", json.dumps(line)))
    assert memory.facts == (LEADS, Fact("Mara Lind", "works with", "Jonas Weber"))
    assert memory.entities == (NamedEntity("Lighthouse backend", "project"),)
    turn = {"role": "user", "content": "Hi.", "facts": [STATED]}
    (said,) = read_memories(put(tmp_path, "a.json", json.dumps([turn])))
    assert said.facts == (LEADS,)


def test_faults_name_the_line_the_fact_and_the_field(tmp_path):
    lines = [
        {**MARA, "facts": [STATED, {**STATED, "confidence": 7}, {"subject": 1}], "entities": {}},
        {"id": "m2", "facts": 3},
    ]
    with pytest.raises(InvalidInputError) as refused:
        read_memories(put(tmp_path, "a.jsonl", "\n".join(map(json.dumps, lines))))
    one, other = refused.value.faults
    assert one.startswith("line 1: memory: facts[1]: fact 'Jonas Weber'")
    for fault in (
        "confidence must be in [0, 1]",
        "facts[2]: fact: needs the field 'relation'",
        "entities must be a list",
    ):
        assert fault in one
    assert other == "line 2: memory: facts must be a list, not int"


async def test_a_folder_states_facts_and_reads_them_again_when_they_change(scoped, tmp_path):
    line = {"memory": {**MARA, "occurred_at": "2026-03-05T09:00:00Z", "facts": [STATED]}}
    ingestor = Ingestor(GraphSearchEngine(store=scoped), extractor=None)

    async def added(line):
        put(tmp_path, "a.jsonl", json.dumps(line))
        report = await ingestor.add(tmp_path)
        names = {each.id: each.name for each in await scoped.list_entities(limit=10)}
        held = {
            (names[each.source_id], each.type, names[each.target_id]) for each in await scoped.list_relations(limit=10)
        }
        return report, held

    report, held = await added(line)
    assert [str(each.status) for each in report.stated] == ["new"]
    assert held == {("Jonas Weber", "leads", "Lighthouse backend")}
    line["memory"]["facts"] = [{**STATED, "object": "Lighthouse"}]
    assert (await added(line))[1] == {("Jonas Weber", "leads", "Lighthouse")}
    line["memory"] |= {"facts": [{"subject": "Jonas Weber"}], "claims": []}
    (fault,) = (await added(line))[0].faults
    assert (fault.line, "facts[0]: fact: needs the field 'relation'" in fault.message) == (1, True)
    line["memory"]["facts"] = [STATED]
    (fault,) = (await added(line))[0].faults
    assert "facts or entities and mentions or claims" in fault.message


def test_a_table_states_a_fact_in_a_row(tmp_path):
    table = (
        "Subject,relation,object,since,quote,confidence\nJonas Weber,leads,Lighthouse backend,2026-03-02,,\n"
        'Ana,uses,Vim,,"Vim, always",0.5\n'
    )
    one, other = read_memories(put(tmp_path, "facts.csv", table), occurred_at=datetime(2026, 3, 5, tzinfo=UTC))
    assert (one.facts, one.text, one.source) == (
        (LEADS,),
        "Jonas Weber leads Lighthouse backend since 2026-03-02.",
        "facts.csv",
    )
    assert other.facts == (Fact("Ana", "uses", "Vim", quote="Vim, always", confidence=0.5),)
    assert other.text == 'Ana uses Vim: "Vim, always"'
    assert one.id != other.id
    assert one.id == read_memories(put(tmp_path, "facts.csv", table.partition("Ana")[0]))[0].id


def test_rows_of_one_id_are_one_memory_and_rows_may_name_entities(tmp_path):
    head = "id;text;labels;subject;relation;object\n"
    table = f"{head}m1;Ana uses Vim and Git.;a, b;Ana;uses;Vim\nm1;;;Ana;uses;Git\nm2;Hello.;;;;\n"
    one, other = read_memories(put(tmp_path, "a.csv", table), session_id="s")
    assert (one.id, one.session_id, one.labels, len(one.facts), one.text) == (
        "m1",
        "s",
        ("a", "b"),
        2,
        "Ana uses Vim and Git.",
    )
    assert (other.text, other.facts) == ("Hello.", ())
    (named,) = read_memories(put(tmp_path, "b.csv", 'name,type,aliases\nAcme Corp,organisation,"AC, Acme"\n'))
    assert named.entities == (NamedEntity("Acme Corp", "organisation", ("AC", "Acme")),)
    assert read_memories(put(tmp_path, "c.csv", "")) == ()


def test_a_table_of_anything_is_read_as_a_text_for_each_row(tmp_path):
    table = "Name,Team,Start date\nNoor Haddad,Import,2024-03-01\nViktor Lang,,2023-11-15\n"
    one, other = read_memories(put(tmp_path, "crew.csv", table))
    assert (one.text, one.source) == ("name: Noor Haddad; team: Import; start_date: 2024-03-01", "crew.csv")
    assert (other.text, other.entities) == ("name: Viktor Lang; start_date: 2023-11-15", ())


@pytest.mark.parametrize(
    ("table", "faults"),
    [
        ("subject,relation,object,confidence\na,b,c,7\n", ["line 2: ", "confidence must be in [0, 1], not 7"]),
        ("subject,relation,object\n,b,c\na,b,c,d\n", ["line 2: ", "needs the field 'subject'", "line 3: row: has 4"]),
        ("subject,verb,object\na,b,c\n", ["line 1: header: has no column 'verb'; its columns are id, text"]),
        ("id,text\nm1,One.\nm1,Two.\n", ["line 3: row: the id 'm1' has another text above"]),
        ('id,text\nm1,"One.\n', ["unexpected end of data"]),
    ],
)  # fmt: skip
def test_faults_of_tables_name_the_line_and_the_field(tmp_path, table, faults):
    with pytest.raises(InvalidInputError) as refused:
        read_memories(put(tmp_path, "a.csv", table))
    assert [fault for fault in faults if fault not in str(refused.value)] == []


def test_a_fact_is_stated_of_the_memory_that_proves_it():
    ana = Memory(id="1", text="I left Acme for Globex.", speaker="Ana")
    tom, then = Memory(id="2", text="Tom uses Vim."), Memory(id="3", text="Tom is here.")
    quoted, ends, nowhere = (
        Fact("She", "left", "it", quote="left Acme"),
        Fact("Tom", "uses", "Vim"),
        Fact("Zoe", "is", "ill"),
    )
    named = NamedEntity("Tom", "person")
    of = state([ana, tom, then], [quoted, ends, nowhere], [named])
    assert [(each.facts, each.entities) for each in of] == [((quoted,), ()), ((ends,), (named,)), ((nowhere,), ())]
    of = state([ana, tom, then], [quoted], [], known={"1", "3"})
    assert [each.facts for each in of] == [(), (quoted,), ()], "what was stated of a known one stays"
    with pytest.raises(InvalidInputError, match="there is no text"):
        state([], [ends], [])


def test_what_became_of_a_fact_is_few_words_and_safe():
    def report(status, **more):
        return FactReport(memory_id="m", fact=LEADS, status=status, **more)

    held = ("Jonas Weber", "leads", "Lighthouse backend")
    other, unread = Fact("a", "b", "c"), Fact("d", "e", "f")
    left = [Memory(id="x", facts=(unread,))]
    assert outcome_lines([LEADS, other, unread], [report(FactStatus.NEW, held=held)], left) == [
        "1 new",
        "2 known",
        "3 not written",
    ]
    ends = report(
        FactStatus.ENDS,
        held=("Jonas", "leads", "LB"),
        about=("Mara leads LB",),
        grounded=False,
        mapped=False,
        why="no quote",
    )
    assert outcome(ends) == "ends Mara leads LB; as Jonas --leads--> LB; relation in your words; not grounded; no quote"
    assert outcome(report(FactStatus.REFUSED, why="a\n## wish")) == "refused; a ## wish"
    assert (
        text_of([Fact("Ana", "quit", "", ended=True)], [NamedEntity("Acme", "firm")])
        == "Ana quit (ended).\nAcme: firm."
    )
