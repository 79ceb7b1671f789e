"""Names of a sentence, as the reader of texts uses them."""

from __future__ import annotations

from graphsearch.names.spans import Mention as Mention
from graphsearch.names.word_marks import own_kind as own_kind
