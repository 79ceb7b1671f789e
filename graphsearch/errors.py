"""The exceptions that graphsearch raises, as one tree.

The first line of a class's docstring is its default message. Errors of databases, vendors and policy engines
never escape: they are wrapped at the edge, and the cause is kept in ``__cause__``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

MOST_FAULTS: Final = 20
"""The greatest number of faults listed for an answer of a language model."""
LONGEST_FAULT: Final = 300
"""The greatest length of such a fault, in characters, as it may quote the answer."""
_LONGEST_INPUT_FAULT: Final = 1_000


class GraphSearchError(Exception):
    """Something went wrong in graphsearch."""

    def __init__(self, message: str | None = None) -> None:
        doc = type(self).__doc__ or "Something went wrong in graphsearch."
        super().__init__(message if message is not None else doc.strip().splitlines()[0])


# -- input --------------------------------------------------------------------------------------------------------


class InvalidInputError(GraphSearchError, ValueError):
    """The input was refused, and nothing was written.

    ``faults`` names every fault that was found, not just the first.
    """

    def __init__(self, subject: str, faults: Iterable[str]) -> None:
        self.subject = shorten(subject, _LONGEST_INPUT_FAULT)
        self.faults = tuple(shorten(fault, _LONGEST_INPUT_FAULT) for fault in faults)
        super().__init__(f"{self.subject}: {'; '.join(self.faults)}")


class RecordError(InvalidInputError):
    """A record of a scope cannot be loaded, and nothing was.

    ``place`` is the number of the record among those loaded, from 0.
    """

    def __init__(self, place: int, subject: str, faults: Iterable[str]) -> None:
        self.place = place
        super().__init__(subject, faults)


class ScopeFileError(InvalidInputError):
    """The file is no whole export of a scope that this version reads, and nothing was imported.

    ``line`` is the line of the first fault, from 1.
    """

    def __init__(self, name: str, line: int, faults: Iterable[str]) -> None:
        self.line = line
        super().__init__(f"{name}:{line}", faults)


class UnknownScopeError(GraphSearchError, LookupError):
    """Nothing was ever written to this scope."""


class UnknownElementError(GraphSearchError, LookupError):
    """No such entity, relation or memory in this scope."""


# -- composition --------------------------------------------------------------------------------------------------


class MissingDependencyError(GraphSearchError):
    """A required part was not passed to the engine."""


class MissingExtraError(GraphSearchError, ImportError):
    """An optional package is not installed."""

    def __init__(self, extra: str, purpose: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs the extra '{extra}': pip install 'graphsearch[{extra}]'")


class MissingCredentialError(GraphSearchError):
    """A vendor's key was not given."""


class MissingVocabularyError(GraphSearchError):
    """The tokenizer's vocabulary is not on this machine."""


class UnknownModeError(GraphSearchError, LookupError):
    """No such search mode."""


class BlockingCallError(GraphSearchError, RuntimeError):
    """A blocking call cannot be made here."""


# -- stores -------------------------------------------------------------------------------------------------------


class StoreError(GraphSearchError):
    """The store failed."""


class StatementError(StoreError, LookupError):
    """The .sql files of a store do not fit together, or do not have a statement that was requested."""


class StoreUnavailableError(StoreError):
    """The store cannot be reached."""


class ReadOnlyStoreError(StoreError):
    """The store can only be read: it is a standby, or its role may not write."""


class StoreConfigurationError(StoreError):
    """The store is not set up correctly."""


class UnsafeRoleError(StoreConfigurationError):
    """The store was opened by a role that bypasses row-level security."""


class MigrationError(StoreConfigurationError):
    """The schema of the database is not the one that this version of graphsearch expects."""


class MigrationLockError(MigrationError):
    """A migration waited too long for a table in use, and nothing was changed."""


class ClusterError(StoreConfigurationError):
    """The cluster that the database belongs to is not set up as the store needs it."""


class EmbeddingModelError(StoreError):
    """The vectors in this scope were made by another embedding model."""


class ReembeddingError(StoreError):
    """A change of the embedding model of this scope to another model is unfinished, or this one was discarded."""


class OccupiedScopeError(StoreError):
    """The scope holds something already: import into an empty one, or have its content replaced."""


class AnalyserError(StoreError):
    """The texts in this scope were indexed by another analyser."""


class CacheError(StoreError):
    """The cache in front of the store failed."""


# -- serving ------------------------------------------------------------------------------------------------------


class TimeLimitError(GraphSearchError):
    """The request took longer than the server allows, and was cancelled; nothing is half written."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the request took longer than {seconds:g} s and was cancelled: ask for less at once")


class RateLimitError(GraphSearchError):
    """The principal made more requests than the server allows.

    ``retry_after`` is the number of seconds until the next one is admitted.
    """

    def __init__(self, per_minute: int, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"more than {per_minute} requests a minute: try again in {max(1, round(retry_after))} s")


# -- authorization ------------------------------------------------------------------------------------------------


class PolicyError(GraphSearchError):
    """The policies or their schema are invalid."""


class AccessDeniedError(GraphSearchError):
    """The policies deny it, and none of the elements was changed.

    ``action`` is the denied action. The message contains no text of the graph, and counts nothing: what may not be
    seen would count.
    """

    def __init__(self, action: str) -> None:
        self.action = action
        super().__init__(f"{action} is denied for some of the elements it touches: none of them was changed")


class PartialViewError(AccessDeniedError):
    """The result would be computed from the whole graph, of which the policies hide a part from the principal."""

    def __init__(self, wanted: str) -> None:
        GraphSearchError.__init__(self, f"{wanted} are made of the whole graph, and the policies hide a part of it")
        self.action = "read"


class ForeignSessionError(GraphSearchError):
    """The session was opened by another principal, and nothing was written.

    Raised for a context block or an outcome under the ``session_id`` of somebody else. The message contains nothing of
    the session but this id.
    """

    def __init__(self, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"the session {session_id!r} was opened by another principal, and nothing was written: "
            "use a session id of your own"
        )


# -- reading texts -----------------------------------------------------------------------------------------------


class ExtractionError(GraphSearchError):
    """The extractor failed."""


# -- vendors ------------------------------------------------------------------------------------------------------


class EmbedderError(GraphSearchError):
    """The embedder failed."""


class EmbedderUnavailableError(EmbedderError):
    """The embedder cannot be reached, or kept failing after retries."""


class EmbedderRefusedError(EmbedderError):
    """The embedder refused the request; trying again will not help."""


class LLMError(GraphSearchError):
    """The language model failed."""


class LLMUnavailableError(LLMError):
    """The language model cannot be reached, or kept failing after retries."""


class LLMRequestError(LLMError):
    """The request to the language model was turned down; trying again will not help."""


class LLMRefusalError(LLMError):
    """The language model, or a filter before or behind it, declined to answer."""


class LLMTruncatedError(LLMError):
    """The language model's answer broke off at its limit of tokens."""


class BudgetExhaustedError(LLMError):
    """The budget for language models is spent; no request was made."""


class LLMAnswerError(LLMError):
    """The language model's answer is not of the requested form.

    ``faults`` names what is wrong with it, at most 20 faults, long ones shortened in the middle. ``answer`` is the
    model's answer, to be quoted when asking it again.
    """

    def __init__(self, message: str, *, faults: Iterable[str] = (), answer: str = "") -> None:
        self.faults = tuple(map(shorten, islice(faults, MOST_FAULTS)))
        self.answer = answer
        super().__init__(f"{message}: {'; '.join(self.faults)}" if self.faults else message)


def shorten(fault: str, longest: int = LONGEST_FAULT) -> str:
    """The beginning and the end of a long fault: its location and what is wrong; of the value between, what fits."""
    half = longest // 2
    return fault if len(fault) <= longest else f"{fault[:half]}…{fault[1 - half :]}"
