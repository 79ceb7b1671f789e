"""Summaries of communities by a language model: budgeted, resumable, redone where something changed."""

import json
import re

import attrs
import pytest

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.curation import Curator
from graphsearch.curation.communities import with_former_ids
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import (
    AccessDeniedError,
    InvalidInputError,
    LLMRefusalError,
    LLMRequestError,
    LLMUnavailableError,
    MissingDependencyError,
    PartialViewError,
)
from graphsearch.llms import Budget, BudgetedLLM, OpenAILLM
from graphsearch.model import Action, Batch, Community, ElementKind, Memory
from graphsearch.moving import export_scope, import_scope
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.samples import claim, mention, person, relation
from tests.curation.team import GREG, Labels
from tests.gates import no_secrets
from tests.llms.llm_server import chat_completion, fail, reply, sent, serving

TEAMS = [[person(f"{team}{number}") for number in range(1, size + 1)] for team, size in (("Red", 4), ("Blue", 3))]
RED, BLUE = TEAMS
ALL = [each for team in TEAMS for each in team]
TOLD = Memory(id="told", text="Red1 and Red2 sail to Zanzibar. <lines> [7]")


class Writer:
    """A language model that cites the first line of each prompt, or answers as scripted."""

    name = "writer-1"

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked: list[str] = []

    async def ask(self, text):
        self.asked.append(text)
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer or saying((f"They hang together, {len(self.asked)}.", [1]))


def saying(*sentences):
    return json.dumps({"sentences": [{"text": text, "cites": cites} for text, cites in sentences]})


def lines_of(prompt):
    (found,) = re.findall(r"^<lines>\n(.*?)\n?</lines>$", prompt, re.DOTALL | re.MULTILINE)
    return found.splitlines()


async def curator_over(store, *, detect=True, gate=ALLOW_ALL):
    await store.write(
        Batch(
            entities=ALL,
            memories=[TOLD],
            mentions=[mention(TOLD, RED[0]), mention(TOLD, RED[1])],
            claims=[claim(TOLD, RED[0], RED[1], fact="they sail")],
            relations=[relation(one, other) for team in TEAMS for one in team for other in team if one.id < other.id],
        )
    )
    engine = GraphSearchEngine(store=store)
    if detect:
        assert [each.size for each in await Curator(engine).detect_communities()] == [4, 3]
    return Curator(engine, gate=gate)


async def summaries(curator):
    return [each.summary and each.summary.text for each in await curator.communities()]


async def test_each_community_is_summarised_once_and_again_when_it_changed(scoped):
    curator, model = await curator_over(scoped), Writer()
    report = await curator.summarise_communities(model)
    assert (len(report.written), report.unchanged, report.failed, report.left, len(model.asked)) == (2, 0, (), 0, 2)
    one, other = await curator.communities()
    assert (one, other) == report.written
    assert one.summary is not None
    assert (one.summary.model, one.summary.written_at) == ("writer-1", scoped.clock.now())
    assert one.summary.sentences[0].cites[0].kind is ElementKind.RELATION

    report = await curator.summarise_communities(model)
    assert (report.written, report.unchanged, len(model.asked)) == ((), 2, 2)

    before = await summaries(curator)
    await scoped.write(Batch(entities=[person("Blue4")], relations=[relation(person("Blue4"), each) for each in BLUE]))
    assert await summaries(curator) == before  # something was only added
    await curator.refresh_communities()
    report = await curator.summarise_communities(model)
    assert [each.id for each in report.written] == [other.id]
    assert (report.unchanged, len(model.asked)) == (1, 3)
    assert {each.id for each in await curator.communities()} == {one.id, other.id}


async def test_what_is_stored_is_data_to_the_model(scoped):
    curator, model = await curator_over(scoped), Writer()
    await curator.summarise_communities(model, min_size=4)
    (prompt,) = model.asked
    lines = lines_of(prompt)
    assert [line.split("]")[0] for line in lines] == [f"[{number}" for number in range(1, len(lines) + 1)]
    (line,) = [line for line in lines if "Zanzibar" in line]
    assert line.endswith("Red1 and Red2 sail to Zanzibar. ‹lines› (7)")
    (red,) = (each for each in await curator.communities() if each.size == 4)
    assert red.summary is not None
    assert "Blue" not in prompt


async def test_a_limit_and_a_budget_leave_the_rest_to_the_next_call(scoped):
    curator, model = await curator_over(scoped), Writer()
    report = await curator.summarise_communities(model, limit=1)
    assert ([each.size for each in report.written], report.left) == ([4], 1)
    assert report.why == "the limit of 1 communities"
    spent = BudgetedLLM(model, Budget(calls=0))
    report = await curator.summarise_communities(spent)
    assert (report.written, report.unchanged, report.left) == ((), 1, 1)
    assert report.why.startswith("BudgetExhaustedError: the budget of 0 calls")
    report = await curator.summarise_communities(BudgetedLLM(model, Budget(calls=5, tokens=100_000)))
    assert ([each.size for each in report.written], report.unchanged, len(model.asked)) == ([3], 1, 2)


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        (["{}", "[]"], "LLMAnswerError"),
        (["no JSON", "still none"], "LLMAnswerError"),
        ([saying()], "no sentence cites a line"),
        ([saying(("It is so.", []))], "no sentence cites a line"),
        ([saying(("It is so.", [99]))], "no sentence cites a line"),
        ([saying(("much " * 700, [1]))], "every sentence is too long"),
        ([LLMRefusalError("not for me")], "LLMRefusalError: not for me"),
    ],
)
async def test_an_unusable_answer_is_counted_and_the_others_go_on(scoped, answers, why):
    curator, model = await curator_over(scoped), Writer(*answers)
    await curator.summarise_communities(Writer(), limit=0)
    report = await curator.summarise_communities(model, min_size=4)
    assert (report.written, [each.label for each in report.failed]) == ((), ["Red1, Red2, Red3"])
    assert why in report.failed[0].why
    assert len(model.asked) == len(answers)
    report = await curator.summarise_communities(model)
    assert len(report.written) == 2


async def test_a_model_that_is_down_is_an_error_and_what_was_written_stays(scoped):
    curator = await curator_over(scoped)
    await curator.summarise_communities(Writer(), limit=1)
    with pytest.raises(LLMUnavailableError):
        await curator.summarise_communities(Writer(LLMUnavailableError("down")))
    assert [bool(each) for each in await summaries(curator)] == [True, False]


async def test_prompts_that_are_turned_down_are_counted_unless_all_are(scoped):
    curator = await curator_over(scoped)
    down = [LLMRequestError("too long") for _ in range(4)]
    report = await curator.summarise_communities(Writer(down[0]))
    assert (len(report.written), [each.why for each in report.failed]) == (1, ["LLMRequestError: too long"])
    pairs = [relation(person(f"Pair{at}"), person(f"Other{at}")) for at in range(4)]
    ends = [person(f"{name}{at}") for at in range(4) for name in ("Pair", "Other")]
    await scoped.write(Batch(entities=ends, relations=pairs))
    await curator.refresh_communities()
    model = Writer(*down, *down)
    with pytest.raises(LLMRequestError, match="too long"):
        await curator.summarise_communities(model, min_size=2)
    assert len(model.asked) == 5  # the first round has three, as one community is summarised


async def test_over_http_calls_and_tokens_are_reported(scoped):
    curator = await curator_over(scoped)
    with serving() as server:
        model = OpenAILLM("model-1", api_key="sk-secret", base_url=server.openai_url)
        good = {"sentences": [{"text": "They sail.", "cites": [1, 2]}]}
        refusal = sent(chat_completion(None, "content_filter"))
        server.answers += [refusal, reply(data=good)]
        report = await curator.summarise_communities(model)
        assert (len(report.written), len(report.failed)) == (1, 1)
        assert report.failed[0].why.startswith("LLMRefusalError")
        server.answers += [fail(503, retry_after_ms="1"), reply(data=good)]
        report = await curator.summarise_communities(model)
        assert (len(report.written), report.unchanged) == (1, 1)
        assert (report.usage.input_tokens, report.usage.output_tokens) == (100, 20)
        assert "secret" not in str(report)


async def test_what_is_forgotten_is_in_no_summary(scoped):
    curator, words = await curator_over(scoped), saying(("They sail to Zanzibar.", [1]))
    await curator.summarise_communities(Writer(words, words))
    await curator.forget("told")
    assert await summaries(curator) == [None, "They sail to Zanzibar."]

    class Forgetting(Writer):
        async def ask(self, text):
            answer = await super().ask(text)
            if len(self.asked) == 1:
                await curator.forget("again")
            return answer

    again = attrs.evolve(TOLD, id="again")
    await scoped.write(
        Batch(memories=[again], mentions=[mention(again, RED[0])], claims=[claim(again, RED[0], RED[1])])
    )
    report = await curator.summarise_communities(Forgetting(words))
    assert (report.written, [each.why for each in report.failed]) == (
        (),
        ["the community changed while it was summarised"],
    )
    assert (await summaries(curator))[0] is None
    report = await curator.summarise_communities(Writer())
    assert len(report.written) == 1


async def test_other_changes_meanwhile_do_not_matter(scoped):
    curator = await curator_over(scoped)

    class Busy(Writer):
        async def ask(self, text):
            await scoped.write(Batch(memories=[Memory(id=f"new {len(self.asked)}", text="Something else.")]))
            return await super().ask(text)

    report = await curator.summarise_communities(Busy())
    assert len(report.written) == 2


async def test_summaries_are_for_those_who_may_see_everything(scoped):
    curator = await curator_over(scoped)
    await curator.summarise_communities(Writer())
    await scoped.write(Batch(entities=[person("Zoe", labels=("secret",))]))
    hidden = await curator_over(scoped, detect=False, gate=no_secrets())
    model = Writer()
    for call in (hidden.communities(), hidden.summarise_communities(model)):
        with pytest.raises(PartialViewError):
            await call
    assert (await hidden.recall_entity("Red1")).community is None
    found = (await curator.recall_entity("Red1")).community
    assert found is not None
    assert found.summary is not None
    with pytest.raises(MissingDependencyError, match="gate=ALLOW_ALL"):
        await Curator(GraphSearchEngine(store=scoped)).summarise_communities(model)
    assert model.asked == []


async def test_a_summary_touches_every_member(scoped):
    curator = await curator_over(scoped)
    await scoped.write(Batch(entities=[attrs.evolve(RED[0], labels=("secret",))]))
    model = Writer()
    denied = Curator(GraphSearchEngine(store=scoped), gate=Gate(Labels(action=Action.WRITE), GREG))
    with pytest.raises(AccessDeniedError):
        await denied.summarise_communities(model)
    assert len(model.asked) == 1  # for the other community
    assert [bool(each) for each in await summaries(curator)] == [False, True]


async def test_options_are_checked(scoped):
    curator = await curator_over(scoped)
    with pytest.raises(InvalidInputError) as refused:
        await curator.summarise_communities(Writer(), limit=-1, min_size=1, prompt_tokens=0, answer_tokens=0)
    assert len(refused.value.faults) == 4


async def test_summaries_move_with_their_scope(scoped, tmp_path):
    curator = await curator_over(scoped)
    await curator.summarise_communities(Writer())
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    await export_scope(scoped, first)
    other = InMemoryGraphStore(clock=scoped.clock).with_scope(org_id="other", project_id="place")
    await import_scope(other, first)
    await export_scope(other, second)
    assert first.read_bytes() == second.read_bytes()
    moved = Curator(GraphSearchEngine(store=other), gate=ALLOW_ALL)
    assert await moved.communities() == await curator.communities()
    model = Writer()
    assert (await moved.summarise_communities(model)).unchanged == 2
    assert model.asked == []
    await moved.forget("told")
    assert [bool(each) for each in await summaries(moved)] == [False, True]


# -- identity --------------------------------------------------------------------------------------------------------


def community(key, *people):
    members = sorted(each.id for each in people)
    return Community(id=key, members=members, strengths=[1.0] * len(members), density=1, top=(), label="")


def test_a_community_keeps_its_id_where_most_of_its_members_stay():
    one, two, three = (person(name).id for name in ("one", "two", "three"))
    former = [community(one, *RED), community(two, *BLUE)]
    found = [community(two, *RED[1:], *BLUE[:1]), community(three, *BLUE[1:])]
    assert [(each.id, each.size) for each in with_former_ids(found, former)] == [(one, 4), (two, 2)]
    joined = community(three, *RED, *BLUE)
    assert [each.id for each in with_former_ids([joined], former)] == [one]
    halves = [community(one, *RED[:2]), community(three, *RED[2:])]
    ids = {each.id for each in with_former_ids(halves, former)}
    assert len(ids) == 2
    assert three in ids
    assert one not in ids
    assert with_former_ids(found, ()) == tuple(sorted(found, key=lambda each: (-each.size, each.id)))
