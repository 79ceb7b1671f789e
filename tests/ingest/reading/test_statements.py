"""What sentences state, by kind: their names are marked in the text, so that nothing depends on how names are found."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import attrs
import pytest

from graphsearch.claims.folding import EARLIEST
from graphsearch.errors import InvalidInputError
from graphsearch.ingest.frames.table import read_line, table, text_forms
from graphsearch.ingest.reading.references import Context, Named
from graphsearch.ingest.reading.statements import LEAST, Stated, read_sentence
from graphsearch.names.spans import Mention, read_words
from graphsearch.text.dates import NaturalDates

AT = datetime(2024, 5, 13, 12, tzinfo=UTC)
KINDS = {"p": "person", "o": "organisation", "g": "group", "l": "place", "t": "thing", "?": ""}
MARKED = re.compile(r"\[([^\]]+):([poglt?])\]")
TYPES = table().types


def read(text: str, speaker: str = "Ana", at: datetime | None = AT, **context: Any) -> list[Stated]:
    """What the sentences of a text state: "[Bo Lind:p] works at [Acme:o]"."""
    kinds = {match[1]: KINDS[match[2]] for match in MARKED.finditer(text)}
    plain = MARKED.sub(lambda match: match[1], text)
    words = read_words(plain)
    found = []
    for name, kind in kinds.items():
        for match in re.finditer(re.escape(name), plain):
            places = [at for at, word in enumerate(words.words) if match.start() <= word.start < match.end()]
            found.append(Mention(places[0], places[-1] + 1, name, kind, 5.0))
    whole = words._replace(mentions=sorted(found))

    def dates(start: int, end: int):
        spans = NaturalDates().find(plain[start:end], at)
        return [attrs.evolve(each, start=each.start + start, end=each.end + start) for each in spans]

    stated: list[Stated] = []
    forms, least = context.pop("forms", None), context.pop("least", LEAST)
    recent: list[list[Named]] = []
    for first, stop in whole.sentences:
        given = Context(speaker, recent=recent, **context)
        stated += read_sentence(whole, first, stop, given, dates, at, forms, least)
        recent.append([Named(each.name, each.kind) for each in whole.mentions if first <= each.first < stop])
    return stated


def triples(text: str, speaker: str = "Ana", **context: Any) -> set[tuple[str, str, str]]:
    """What a text states, without its periods."""
    return {(each.source.name, each.relation, each.target.name) for each in read(text, speaker, **context)}


@pytest.mark.parametrize(
    ("text", "stated"),
    [
        # verbs, in a tidy hand
        ("[Bo Lind:p] works at [Harkin Dairy:o].", "Bo Lind works_at Harkin Dairy"),
        ("[Bo Lind:p] starts at [Harkin Dairy:o] in May.", "Bo Lind works_at Harkin Dairy"),
        ("[Bo Lind:p] leads [Atlas:t] and reports to [Cy Dunn:p].", "Bo Lind leads Atlas; Bo Lind reports_to Cy Dunn"),
        ("[Cy Dunn:p] manages [Bo Lind:p].", "Bo Lind reports_to Cy Dunn"),
        ("I met [Ivy Oak:p], and [Bo Lind:p] reports to her now.", "Bo Lind reports_to Ivy Oak; Ana met_with Ivy Oak"),
        ("The [Tallow:t] service depends on [Kafka:t].", "Tallow depends_on Kafka"),
        ("[Atlas:t] was built by [Bo Lind:p] in 2019.", "Bo Lind created Atlas"),
        ("[Harkin Dairy:o] employs [Bo Lind:p].", "Bo Lind works_at Harkin Dairy"),
        ("[Bo Lind:p] was elected to the [Oak Committee:g].", "Bo Lind member_of Oak Committee"),
        ("[Atlas:t] depends on [Postgres:t].", "Atlas depends_on Postgres"),
        ("[Bo:p], [Cy:p] and [Di:p] work at [Acme:o].", "Bo works_at Acme; Cy works_at Acme; Di works_at Acme"),
        ("[Bo:p] leads [Atlas:t] and [Cy:p] leads [Gemini:t].", "Bo leads Atlas; Cy leads Gemini"),
        ("[Harkin Dairy:o] is based in [Leeds:l].", "Harkin Dairy located_in Leeds"),
        ("[Bo Lind:p] took charge of [Atlas:t].", "Bo Lind leads Atlas"),
        ("[Bo:p] took over [Atlas:t] from [Cy:p] on 2 May.", "Bo leads Atlas; Cy leads Atlas"),
        ("[Bo:p] and [Cy:p] work together on [Atlas:t].", "Bo works_with Cy; Bo works_on Atlas; Cy works_on Atlas"),
        ("[Acme:o] replaced [MySQL:t] with [Kafka:t].", "Acme uses Kafka; Acme uses MySQL"),
        ("[Bo:p] wrote the first version of [Atlas:t].", "Bo created Atlas"),
        ("[Bo:p] quit his job at [Acme:o].", "Bo works_at Acme"),
        ("[Bo:p] is on [Cy:p]'s team.", "Bo reports_to Cy"),
        ("[Cy:p]'s direct reports are [Bo:p] and [Di:p].", "Bo reports_to Cy; Di reports_to Cy"),
        # in shorthand and lower case
        ("[bo:p] joined [harkin:o] in march & leads [atlas:t]", "bo works_at harkin; bo leads atlas"),
        ("moved to [oporto:l] in may", "Ana lives_in oporto"),
        ("[bo:p] here, used to work at [harkin:o]", "Ana works_at harkin"),
        ("met [dana fox:p] from [priory foods:o] yday", "Ana met_with dana fox; dana fox works_at priory foods"),
        ("im working at [harkin:o] rn", "Ana works_at harkin"),
        ("[harkin dairy:o] sponsor the [summer fair:t], since the spring", "harkin dairy sponsors summer fair"),
        # nouns, roles and apposition
        (
            "[Jo Berg:p], the CEO of [Harkin Dairy:o], lives in [Leeds:l].",
            "Jo Berg leads Harkin Dairy; Jo Berg lives_in Leeds",
        ),
        ("My boss [Cy Dunn:p] called.", "Ana reports_to Cy Dunn"),
        ("my shift lead [bram oduya:p] is off today", "Ana reports_to bram oduya"),
        ("[Bo Lind:p], COO at [Harkin Dairy:o], said so.", "Bo Lind works_at Harkin Dairy"),
        ("[Harkin Dairy:o] spokeswoman [Di Moss:p] said so.", "Di Moss works_at Harkin Dairy"),
        ("[Jo Berg:p] is the new head of [Atlas:t].", "Jo Berg leads Atlas"),
        ("[Bo:p]'s manager is [Cy:p].", "Bo reports_to Cy"),
        ("[Bo Lind:p] at [Harkin Dairy:o] agreed.", "Bo Lind works_at Harkin Dairy"),
        ("[Bo:p] is on the [Billing:?] team.", "Bo member_of Billing"),
        ("our contact at [Priory:o] is [Di Moss:p]", "Di Moss contact_of Priory"),
        ("[jo:p]'s chaired the [oak board:g] since may", "jo leads oak board"),
        ("[Acme:o] acquired [Harkin Dairy:o] last year.", "Acme owns Harkin Dairy"),
        ("[Bo Lind:p] is deputy director of [Harkin Dairy:o].", "Bo Lind works_at Harkin Dairy"),
        ("[Bo Lind:p] (serving as captain of [Oak Choir:g]) said so.", "Bo Lind leads Oak Choir"),
        # relative clauses
        ("I talked to [Bo:p], who works at [Acme:o].", "Ana met_with Bo; Bo works_at Acme"),
        ("[Bo:p] (who lives in [Rome:l]) leads [Apollo:t].", "Bo lives_in Rome; Bo leads Apollo"),
        # families
        ("[Di Moss:p] is married to [Cy Dunn:p].", "Di Moss married_to Cy Dunn"),
        ("my wife [Di:p] works at [Priory Foods:o]", "Di married_to Ana; Di works_at Priory Foods"),
        ("[Cy Dunn:p] is the father of [Mia Dunn:p].", "Cy Dunn parent_of Mia Dunn"),
        ("My daughter [Mia:p] is six.", "Ana parent_of Mia"),
        ("our daughter [Mia:p] can't have kiwi", "Ana parent_of Mia"),
        ("[Bo:p]'s sister [Mira:p] lives in [York:l].", "Mira sibling_of Bo; Mira lives_in York"),
        # prose
        ("[Gorse Hill:t] is a novel by [Di Moss:p].", "Di Moss created Gorse Hill"),
        ("[Gorse Hill:t], a film directed by [Di Moss:p], won.", "Di Moss created Gorse Hill"),
        ("[Priory Foods:o] was founded by [Di Moss:p].", "Di Moss created Priory Foods"),
        ("[Leeds:l] is the capital of [Yorkshire:l].", "Leeds located_in Yorkshire"),
        # status and values
        ("[Atlas:t] is on hold.", "Atlas has_status on hold"),
        ("[atlas:t] is paused again", "atlas has_status paused"),
        ("The budget of [Atlas:t] is $50k.", "Atlas budget $50k"),
        ("[Atlas:t] has a budget of 20,000 euros.", "Atlas budget 20,000 euros"),
        ("[Atlas:t] is due on 5 June 2024.", "Atlas deadline 5 June 2024"),
        ("the [atlas:t] deadline is 5 June 2024", "atlas deadline 5 June 2024"),
        ("[Di Moss:p] (born 3 May 1950) paints.", "Di Moss birth_date 3 May 1950"),
        ("[Bo:p] prefers [Postgres:t].", "Bo prefers Postgres"),
    ],
)
def test_it_is_stated(text: str, stated: str) -> None:
    assert triples(text) == {_triple(each) for each in stated.split("; ")}


def _triple(text: str) -> tuple[str, str, str]:
    relation = next(each for each in text.split() if each in TYPES)
    source, _, target = text.partition(f" {relation} ")
    return source, relation, target


@pytest.mark.parametrize(
    "text",
    [
        # asked
        "Does [Bo:p] report to [Cy:p]?",
        "does [bo:p] work at [acme:o] now",
        "lol do you use [Postgres:t]",
        # supposed, wished, planned
        "If [Bo:p] works at [Acme:o], I'm the queen of [England:l].",
        "[Bo:p] wants to join [Acme:o].",
        "I'd love to live in [Leeds:l].",
        "Maybe [Bo:p] reports to [Cy:p].",
        "[Bo:p] could lead [Atlas:t].",
        "imagine [bo:p] works at [acme:o]",
        "[Bo:p] will join [Acme:o].",
        "Let [Bo:p] join [Acme:o].",
        "[Bo:p] was asked to lead [Atlas:t].",
        "when [Bo:p] works at [Acme:o], pigs fly",
        # denied
        "[Bo:p] does not report to [Cy:p].",
        "[Bo:p] never used [Kafka:t].",
        "bo didnt join [acme:o]",
        "[Bo:p] denies that [Cy:p] works at [Acme:o].",
        "[Bo:p] lives in [Leeds:l], but that is false.",
        "[bo:p] lives in [leeds:l] lol jk",
        "Neither [Bo:p] nor [Cy:p] works at [Acme:o].",
        "[Bo:p] works neither at [Acme:o] nor at [Harkin:o].",
        "If all goes well, [Bo:p] works at [Acme:o].",
        "[Bo:p] isn't a nurse at [Harkin Clinic:o].",
        # likened, quoted
        "It feels like [Bo:p] lives in [Leeds:l].",
        '"[Bo:p] lives in [Leeds:l]" is what the book begins with.',
        '[Cy:p] said, "I work at [Acme:o] and I hate it."',
        "> [Bo:p] lives in [Leeds:l].",
        # visits and holidays are no home; a verb that means something else
        "I'm in [Rome:l] this week.",
        "[Bo:p] stayed in [Leeds:l] for a week.",
        "I left [Boston:l] at six.",
        "I ran the [London Marathon:?].",
        "I made [Bo:p] some tea in [Leeds:l].",
        "I wrote [Emma:p] a letter.",
        "I'm using [Emma:p]'s bike this week.",
        # somebody else acts
        "A friend of [Bo:p] works at [Acme:o].",
        "my brother plays for [Harkin Rovers:g]",
        "the head of [Acme:o] said so",
        "[Bo:p] and his wife moved to [Leeds:l]",
        "[Bo:p] said ministers of [Acme:o] agree.",
        "our CFO [Bo Lind:p] signed",  # whose firm is not known
        "[Lena:p] replaced [Bo:p] with [Cy:p].",
        "It is written in pure [Python:t] using [Tk:t].",
        "how I met your mother, [Gossip:p] told",
        "the ports of [Angola:o] are closed",
        "[Atlas:t] was postponed for a day.",
        "[Bo:p] lived in [York:l] until the war.",
        "[Bo:p] joined [Acme:o] in 1985, where he stayed for twenty-five years.",
        "My brother works for [Harkin:o], and he's worked on [Atlas:t].",
        "The other guy left when I met him at [Acme:o].",
        "[Bo:p] called. The family has left, they moved to [York:l].",
        "[Bo:p] and [Cy:p] are here, he works at [Acme:o].",
        "I trust [Di:p], my wife and I agree.",
        "Members of [Oak Union:g] and [Elm Union:g] joined [Acme:o].",
        "[Atlas:t] is taken from a parser that was written by [Bo Lind:p].",
        "[Bo Lind:p] sculpted [Cy Moss:p]' garden.",
        # supposed before, or once
        "I thought [Bo:p] worked at [Acme:o].",
        "once [Bo:p] works at [Acme:o] it will be fine",
        "Working on [Atlas:t] would be great.",
        # imperatives
        "Use [Postgres:t] for that.",
    ],
)
def test_it_is_not_stated(text: str) -> None:
    assert triples(text) == set()


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("[Bo:p] works at [Acme:o].", None, None),
        ("[Bo:p] works at [Acme:o] since 2020.", "2020-01-01", None),
        ("[bo:p] has been at [acme:o] since 2020", "2020-01-01", None),
        ("[Bo:p] has a job at [Acme:o].", None, None),
        ("[Bo:p] had a job at [Acme:o].", None, "2024-05-13"),
        ("[Bo:p] worked at [Acme:o].", None, "2024-05-13"),
        ("[Bo:p] worked at [Acme:o] in 2019.", "2019-01-01", "2020-01-01"),
        ("[Bo:p] worked at [Acme:o] from 2015 to 2018.", "2015-01-01", "2018-01-01"),
        ("[Bo:p] worked at [Acme:o] until March 2022.", None, "2022-03-01"),
        ("[Bo:p] used to work at [Acme:o].", None, "2024-05-13"),
        ("[Bo:p] no longer works at [Acme:o].", None, "2024-05-13"),
        ("[bo:p] doesn't work at [acme:o] anymore", None, "2024-05-13"),
        ("[Bo:p] joined [Acme:o].", "2024-05-13", None),
        ("In March [Bo:p] joined [Acme:o].", "2024-03-01", None),
        ("[Bo:p] will join [Acme:o] on 1 June.", "2024-06-01", None),
        ("[Bo:p] left [Acme:o] last Tuesday.", None, "2024-05-07"),
        ("my last day at [acme:o] is 31 May 2024", None, "2024-05-31"),
        ("[Bo:p] joined [Acme:o], and [Cy:p] left in 2020.", "2024-05-13", None),
        ("starting 4 March 2024 [Bo:p] works at [Acme:o]", "2024-03-04", None),
        ("[Bo:p] moved to [Leeds:l] in March and joined [Acme:o].", "2024-03-01", None),
        ("In 2019 [Bo:p] joined [Acme:o], where he worked with [Cy:p].", "2019-01-01", None),
        ("I left [York:l] on 29 November 2023, in May I joined [Acme:o].", "2024-05-01", None),
        ("later in the summer I'm working at [Acme:o]", "2024-06-01", None),
        ("I worked at [Acme:o] last winter", "2023-12-01", "2024-03-01"),
        ("[Bo:p] worked at [Acme:o] until last summer.", None, "2023-06-01"),
        ("[Bo:p] has worked at [Acme:o] his whole life.", "0001-01-01", None),
        ("I still work at [Acme:o].", "0001-01-01", None),
        ("I've been working at [Acme:o] ever since", "0001-01-01", None),
        ("[Bo:p] joined [Acme:o] when he was nine.", "0001-01-01", None),
    ],
)
def test_its_period(text: str, since: str | None, until: str | None) -> None:
    [stay] = [each for each in read(text) if each.relation == "works_at"]
    assert [day and day.date().isoformat() for day in (stay.since, stay.until)] == [since, until]


@pytest.mark.parametrize(
    "text",
    [
        "[Bo:p] joined [Acme:o] in March, she reports to [Rui:p].",
        "[Bo:p] reports to [Rui:p], and [Cy:p] left in 2020.",
        "In 2022 [Bo:p] moved to [Paris:l] and then [Cy:p] reports to [Rui:p].",
        "[Bo:p], born in 1980, reports to [Rui:p].",
    ],
)
def test_a_date_is_that_of_its_own_clause(text: str) -> None:
    [found] = [each for each in read(text) if each.relation == "reports_to"]
    assert (found.since, found.until) == (None, None)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("[Atlas:t] went live in 2019 and was retired.", "2019-01-01", None),
        ("[Atlas:t] is paused until 3 June.", None, "2024-06-03"),
        ("[Atlas:t] was postponed.", None, None),
        ("[Atlas:t] entered the pilot phase on 3 May.", "2024-05-03", None),
        ("[Atlas:t] will enter beta in June.", "2024-06-01", None),
    ],
)
def test_the_period_of_a_status(text: str, since: str | None, until: str | None) -> None:
    [status] = read(text)
    assert status.relation == "has_status"
    assert [day and day.date().isoformat() for day in (status.since, status.until)] == [since, until]


@pytest.mark.parametrize(
    "text", ["[Bo:p] used to work at [Acme:o].", "[Bo:p] left [Acme:o].", "[Bo:p] worked at [Acme:o]."]
)
def test_what_is_over_needs_an_end(text: str) -> None:
    assert read(text, at=None) == []


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("In 2015 [Bo:p] became chair of [Oak Board:g].", "2015-01-01", None),
        ("[Bo:p] stepped down as chair of [Oak Board:g] in March 2019.", None, "2019-03-01"),
        ("[Bo:p] is no longer the chair of [Oak Board:g].", None, "2024-05-13"),
        ("As of 3 May [Bo:p] chairs [Oak Board:g].", "2024-05-03", None),
        ("In May [Bo:p] took over [Oak Board:g].", "2024-05-01", None),
    ],
)
def test_the_period_of_an_office(text: str, since: str | None, until: str | None) -> None:
    [stay] = read(text)
    assert stay.relation == "leads"
    assert [day and day.date().isoformat() for day in (stay.since, stay.until)] == [since, until]


@pytest.mark.parametrize(
    ("plain", "doubtful"),
    [
        ("[Bo:p] lives in [Leeds:l].", "I heard [Bo:p] lives in [Leeds:l]."),
        ("[bo:p] lives in [leeds:l]", "they say [bo:p] lives in [leeds:l]"),
        ("[bo:p] uses [Jira:t]", "apparently [bo:p] uses [Jira:t]"),
        ("[Bo:p] uses [Jira:t].", "[Bo:p] uses [Jira:t] message formats."),
        ("At [Acme:o] [Bo:p] uses [Jira:t].", "At [Acme:o] [Bo:p] uses [memory:t]."),
        ("[Bo:p] lives in [Leeds:l].", "[Bo:p] is here. He lives in [Leeds:l]."),
        ("[Bo:p] works at [Acme:o].", "[Bo:p] works at [Acme:t]."),
        ("[Bo:p] works at [Acme:o].", "[Bo:p] after [Cy:p] works at [Acme:o]."),
        ("[Bo:p] works at [Acme:o].", f"[Bo:p] works at [Acme:o] {'now and then ' * 14}."),
    ],
)
def test_what_is_often_misread_is_less_sure(plain: str, doubtful: str) -> None:
    [sure], [unsure] = read(plain), read(doubtful, least=0.0)
    assert unsure.confidence < sure.confidence
    assert [each for each in read(doubtful) if each.confidence < LEAST] == []


@pytest.mark.parametrize(
    "text",
    [
        "[Norway:p] is a member of the [Oak Union:g].",
        "[UNIDO:p] is a member of the [Oak Union:g].",
        "[Bo:p], a professor of [Modern History:o], agreed.",
        "[Bo:p] moved his workshop to [Leeds:l].",
        "[Bo:p] is my brother in law.",
        "[Bo:p] is a leader in the [Atlas:g] world.",
        "Once [Atlas:t] is finished, we celebrate.",
        "[Bo:p] entered [Acme:o].",
        "[Atlas:t] was active seeking change.",
        "[Atlas:t]'s pending ruling is out.",
        "[Bo:p], head of [Acme:o], who died on Friday, was kind.",
        "RT [@ivy:p]: I am on the [Oak Board:g]",
        "The member for [Oak Moor:g] ([Bo:p]) spoke.",
        # parts of names, and words that stand for them
        "[Bo Lind:p] is an assistant to the [Regional Manager:].",
        "[Bo Lind:p], head of the [Commission:o] on Training Camps, left.",
        "[Bo Lind:p] is a spokesman for the [Iowa Secretary:o] of State.",
        "[Babbage:]'s engineer, [Bo Lind:p], built it.",
        # nouns and participles of others
        "[Cy Dunn:p] was my mother's boyfriend.",
        "[Bo Lind:p] is a shop owner from [Hudson:l].",
        "Working with [Bo Lind:p], the [Halden:o] team passed the act.",
        "I'm [Bo Lind:p]'s sister [Ivy Oak:p].",
        "It is started before the early [Atlas:t] is completed.",
        "Several [Atlas:t] are resolved.",
        "[Nard:] dog, [Plop:t].",
        "You work for [Bo Lind:p].",
        "Oh, [Bo:p], my mom just sent a picture.",
    ],
)
def test_what_only_seems_to_be_stated_is_not(text: str) -> None:
    assert read(text, least=0.0) == []


def test_pronouns_are_the_nearest_that_agree() -> None:
    assert triples("[Bo:p] is here. He reports to [Cy:p].") == {("Bo", "reports_to", "Cy")}
    assert triples("[Ivy:p] and [Di:p] left. [Bo:p] stays. His boss is [Cy:p].") == {("Bo", "reports_to", "Cy")}
    halden = triples("[Harkin:o] called, [Harkin Dairy:o] that is. theyve used [Jira:t] since March")
    assert halden == {("Harkin Dairy", "uses", "Jira")}
    assert triples("[Harkin:o] called. theyve been on [Jira:t] since March 2022") == {("Harkin", "uses", "Jira")}
    title = Named("Di Moss", "person", 0.9, hard=True)
    assert triples("She wrote [Gorse Hill:t].", speaker="", title=title) == {("Di Moss", "created", "Gorse Hill")}


def test_where_one_is_a_manager_is_no_subordinate() -> None:
    assert triples("I'm a manager at [Orla:p].") == {("Ana", "works_at", "Orla")}


def test_we_are_the_firm_of_the_speaker() -> None:
    firm = Named("Harkin Dairy", "organisation")
    assert triples("we use [Slack:t]", firm=firm) == {("Harkin Dairy", "uses", "Slack")}
    assert triples("we met [Bo:p]", firm=firm) == {("Ana", "met_with", "Bo")}
    assert triples("our CFO [Bo Lind:p] signed", firm=firm) == {("Bo Lind", "works_at", "Harkin Dairy")}
    assert triples("we use [Slack:t]") == {("Ana", "uses", "Slack")}


def test_a_kind_that_is_known_is_not_read_otherwise() -> None:
    assert triples("I work for [Bo Lind:p].") == {("Ana", "reports_to", "Bo Lind")}
    assert triples("I work for [Acme:o].") == {("Ana", "works_at", "Acme")}
    assert triples("I joined the [Oak Choir:g].") == {("Ana", "member_of", "Oak Choir")}


def test_documents_say_where_places_are() -> None:
    assert triples("[Aldbury:l] is a village in [Kent:l].", speaker="") == {("Aldbury", "located_in", "Kent")}
    assert triples("The album was produced by [Di Moss:p].", speaker="", title=Named("Gorse Hill", "thing")) == {
        ("Di Moss", "created", "Gorse Hill")
    }


def test_users_lines_are_read() -> None:
    forms = text_forms(("mentors | p > p | holds | mentor obj; train with", "carries | p > t | is | carrier"))
    assert triples("[Bo:p] now mentors [Cy:p].", forms=forms) == {("Bo", "mentors", "Cy")}
    assert triples("[Bo:p] is the carrier of [Atlas:t].", forms=forms) == {("Bo", "carries", "Atlas")}
    for line in (
        "mentors",
        "mentors | p > p | always | mentor obj",
        "mentors | p > q | holds | mentor obj",
        "a | p > p | holds | b",
    ):
        with pytest.raises(InvalidInputError):
            read_line(line)


@pytest.mark.parametrize(("name", "kind"), [("Vellin", "organisation"), ("Cambridge", "place")])
def test_where_somebody_works_is_a_firm_unless_it_is_known_as_a_place(name: str, kind: str) -> None:
    assert [each.target.kind for each in read(f"[Tom Baker:p] works at [{name}:l].")] == [kind]


def test_an_office_of_a_part_is_none_of_the_whole() -> None:
    assert triples("[Bo:p] is head of retail policy at [Acme:o].") == {("Bo", "works_at", "Acme")}
    assert triples("[Bo:p] is the director of [Acme:o].") == {("Bo", "leads", "Acme")}


def test_what_held_all_ones_life_began_at_no_known_time() -> None:
    for text in ("I have lived in [Leeds:l] all my life.", "I still live in [Leeds:l]."):
        assert [each.since for each in read(text)] == [EARLIEST]
