"""What kind of answer a question wants, and what it is after."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphsearch.errors import InvalidInputError
from graphsearch.question.analysis import (
    Intent,
    QuestionType,
    channel_weights,
    intent_of,
    question_type,
)

EXAMPLES = {
    QuestionType.WHO: [
        "Who leads Acme?",
        "who's the CEO?",
        "Whose idea was it?",
        "To whom does Ada report?",
        "which writer has had more success?",
        "What person signed it?",
        "Who is the child of the director of film Los Pagares?",
        "When Ada joined Acme, who was her manager?",
        "The song was written by whom?",
    ],
    QuestionType.WHERE: [
        "where is the TLS handshake done?",
        "In which city was Ada born?",
        "what is the place of birth of Ada?",
        "which cities has Jon visited?",
        "Scott is a consultant who worked with the mayor of what city?",
        "could you tell me where it is?",
        "Ada lives where?",
    ],
    QuestionType.WHEN: [
        "When did Ada leave?",
        "in which year did it end",
        "What is the date of birth of Ada?",
        "how long ago did it start?",
        "It was first developed when?",
        "What time is the meeting?",
        "Since when is Ada here?",
    ],
    QuestionType.HOW_MANY: [
        "How many people work there?",
        "For how long has Nate had his snakes?",
        "how old is Ada?",
        "What is the population of France?",
        "what percentage of edits came from there?",
        "Ada met how many people?",
    ],
    QuestionType.WHY: [
        "Why did Ada leave?",
        "What caused the outage?",
        "how come it fails?",
        "What was the reason for it?",
    ],
    QuestionType.WHAT_ORGANISATION: [
        "What company does Ada work for?",
        "Which of the two teams is older?",
        "What is the name of the company Ada works for?",
        "which universities did she attend?",
    ],
    QuestionType.WHAT_POSITION: ["What position did Bob play?", "What is Ada's job?", "what was the role of Ada?"],
    QuestionType.WHAT_EVENT: ["Which company event was held?", "what war did Italy enter?"],
    QuestionType.HOW: ["How does it work?", "how did Ada feel?"],
    QuestionType.WHAT: [
        "What is the company doing?",
        "Which film has the director born later?",
        "what did Ada say to the team?",
        "What kind of university is it?",
        "what",
        "If Gallu is a demon, Lilu is what?",
    ],
    QuestionType.OTHER: ["Did Ada leave?", "tell me about Ada", "", "TLS handshake", "日本語"],
}


@pytest.mark.parametrize(
    ("asked", "question"), [(asked, question) for asked, questions in EXAMPLES.items() for question in questions]
)
def test_question_types(asked, question):
    assert question_type(question) is asked


def test_a_city_that_hosts_events_is_a_place_and_a_school_year_a_time():
    assert question_type("which city hosted events in 1999?") is QuestionType.WHERE
    assert question_type("in what school year was it?") is QuestionType.WHEN


@given(st.text(max_size=300))
def test_any_text_has_a_type(question):
    assert question_type(question) in QuestionType


@pytest.mark.parametrize(
    ("asked", "intent", "weights"),
    [
        (QuestionType.WHY, Intent.WHY, (1.0, 0.8, 1.5)),
        (QuestionType.WHEN, Intent.WHEN, (0.8, 1.2, 0.8)),
        (QuestionType.WHO, Intent.WHO, (0.8, 0.8, 1.8)),
        (QuestionType.HOW, Intent.HOW, (1.2, 1.0, 0.8)),
        (QuestionType.WHAT, Intent.WHAT, (1.0, 1.0, 1.0)),
        (QuestionType.HOW_MANY, Intent.WHAT, (1.0, 1.0, 1.0)),
        (QuestionType.OTHER, Intent.WHAT, (1.0, 1.0, 1.0)),
    ],
)
def test_intents_weigh_the_channels(asked, intent, weights):
    assert intent_of(asked) is intent
    found = channel_weights(intent)
    assert (found.semantic, found.lexical, found.graph) == weights


def test_the_graph_counts_by_deployment_and_health():
    assert channel_weights(Intent.WHO, deployment=2.0).graph == pytest.approx(3.6)
    assert channel_weights(Intent.WHO, deployment=0.0).graph == 0
    assert channel_weights(Intent.WHAT, health=0.35).graph == pytest.approx(0.5)
    assert channel_weights(Intent.WHAT, health=0.7).graph == channel_weights(Intent.WHAT, health=0.9).graph == 1.0
    with pytest.raises(InvalidInputError) as error:
        channel_weights(Intent.WHAT, deployment=-1, health=1.1)
    assert len(error.value.faults) == 2
