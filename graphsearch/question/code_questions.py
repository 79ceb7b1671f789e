"""Until others have moved to `graphsearch.question.relation_words`."""

from graphsearch.question.relation_words import DEFINES as DEFINES
from graphsearch.question.relation_words import place_verbs as place_verbs
