"""What a vendor's answer amounts to, whichever protocol it came in."""

from __future__ import annotations

from enum import Enum

import attrs

from graphsearch.errors import LLMAnswerError, LLMRefusalError, LLMTruncatedError
from graphsearch.llms.usage import Tokens
from graphsearch.model import validation as check


class Ending(Enum):
    """Why a model stopped."""

    FINISHED = "finished"
    CUT_OFF = "cut off"
    DECLINED = "declined"


@attrs.frozen(kw_only=True)
class Reply:
    """A decoded answer: its text, why it ended, in the vendor's word too, and its tokens where they were told."""

    text: str
    ending: Ending
    reason: str
    tokens: Tokens | None

    def answer(self, where: str) -> str:
        """The text, when it is whole, not blank, and can be stored. Raises the `LLMError` that names what it is not."""
        if self.ending is Ending.DECLINED:
            raise LLMRefusalError(f"{where} declined to answer ({self.reason})")
        if self.ending is Ending.CUT_OFF:
            raise LLMTruncatedError(
                f"{where}: the answer broke off at its limit ({self.reason}); raise max_tokens, or ask for less"
            )
        if fault := check.text("the answer", self.text):
            raise LLMAnswerError(where, faults=[fault])
        return self.text
