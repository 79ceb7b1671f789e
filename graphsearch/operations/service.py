"""The served graph and its callers: the scope and the principal never come from an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import attrs

from graphsearch.access.gate import Gate, StatisticsOf
from graphsearch.context import ContextBuilder, TiktokenCounter
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import MissingDependencyError
from graphsearch.federation.engine import FederatedEngine
from graphsearch.ingest import DEFAULT_EXTRACTOR, IngestLimits
from graphsearch.ingest.write.options import IngestOptions
from graphsearch.model import Principal, Scope
from graphsearch.model import validation as check
from graphsearch.protocols import LLM, Authorizer, Extractor, TokenCounter
from graphsearch.stores.memory import or_empty

MAX_TOKENS: Final = 4_000
TIME_LIMIT: Final = 300.0
"""Default of the seconds that a request may take."""
LIMITS: Final = IngestLimits(characters=200_000, names=20_000)
LEAST_TOKENS: Final = 500
"""With fewer, an answer could not hold the ids that the next call needs."""


@attrs.frozen
class Identity:
    """The principal and the scope of a request, from the configuration or its authentication.

    ``disabled``: this project is switched off. ``also``: other scopes of the organisation that searches, recall and
    blocks ask too, each behind its own gate; nothing is written to them but the log and the outcomes of sessions.
    ``may_view_as``: answers count what policies hide. ``viewed_by``: who asks as the principal, and writes nothing.
    """

    principal: Principal
    scope: Scope
    disabled: bool = False
    also: tuple[Scope, ...] = ()
    may_view_as: bool = False
    viewed_by: Principal | None = None


@attrs.frozen(eq=False, kw_only=True)
@check.checked(
    "server",
    lambda given: None if given.log or given.read_only else "without a log it must be read_only: there is no feedback",
    max_tokens=check.within(LEAST_TOKENS),
    time_limit=check.within(0.001),
    rate=check.within(1),
)
class GraphService:
    """The configuration of a server.

    * ``engine_of``: the engine of a scope; called again for every request.
    * ``authorizer``: decides for each request's principal; there is no way around it.
    * ``counter`` and ``max_tokens``: no answer has more tokens. Raises `InvalidInputError` for fewer than 500.
    * ``read_only``: operations that write are not even listed.
    * ``profile``: which operations are listed as tools; see `graphsearch.operations.operation.Profile`.
    * ``review``: what principals write waits as a proposal until a reviewer accepts it.
    * ``log``: whether context blocks are logged for feedback; without a log, as on a standby, only ``read_only``.
    * ``time_limit``: the seconds that a request may take; then it is cancelled, with `TimeLimitError`.
    * ``rate``: the requests of each principal a minute; more raise `RateLimitError`. By default there is no limit.
    * ``limits``: the most that one call of ``remember`` reads; by default a text of 200,000 characters, 20,000 distinct
      names.
    * ``statistics``: what scores by words are computed from, see `graphsearch.access.gate.StatisticsOf`.
    * ``extractor``: reads the texts of the tool remember, by default `graphsearch.ingest.TextExtractor`; with None only
      what agents state counts.
    * ``ingest``: what is done to whatever the tool remember writes; see `graphsearch.ingest.IngestOptions`.
    * ``disabled``: everything is switched off: every answer is ``{"disabled": true}``.
    """

    engine_of: Callable[[Scope], GraphSearchEngine]
    authorizer: Authorizer
    counter: TokenCounter = attrs.field(factory=TiktokenCounter)
    max_tokens: int = MAX_TOKENS
    read_only: bool = False
    profile: int = 0
    review: bool = False
    log: bool = True
    time_limit: float = TIME_LIMIT
    rate: int | None = None
    limits: IngestLimits = LIMITS
    extractor: Extractor | None = DEFAULT_EXTRACTOR
    ingest: IngestOptions = attrs.field(factory=IngestOptions)
    disabled: bool = False
    statistics: StatisticsOf = StatisticsOf.SCOPE

    async def with_new_scopes_empty(self, identity: Identity) -> GraphService:
        """The service over scopes that are empty where nothing was ever written, to answer one request."""
        engines: dict[Scope, GraphSearchEngine] = {}
        for scope in (identity.scope, *identity.also):
            engine = self.engine_of(scope)
            store = await or_empty(engine.store)
            engines[scope] = GraphSearchEngine(
                store=store, embedder=engine.embedder, llm=engine.llm, modes=engine.modes
            )
        return attrs.evolve(self, engine_of=engines.__getitem__)

    def caller(self, identity: Identity) -> Caller:
        """The context of one request."""
        if identity.viewed_by is not None and not self.read_only:
            return attrs.evolve(self, log=False, read_only=True).caller(identity)
        engine = self.engine_of(identity.scope)
        others = [self.engine_of(scope) for scope in identity.also]
        asked = FederatedEngine([engine, *others]) if others else engine
        gate = Gate(self.authorizer, identity.principal, self.statistics, explains=identity.may_view_as)
        return Caller(self, gate, engine, asked)


@attrs.frozen(eq=False)
class Caller:
    """The context of one request, passed to the tools: the service, the principal's gate and the scope's engine.

    ``asked``: what answers questions: this engine, or one over several scopes.
    """

    service: GraphService
    gate: Gate
    engine: GraphSearchEngine
    asked: GraphSearchEngine | FederatedEngine

    @property
    def curator(self) -> Curator:
        """Curation on behalf of the principal."""
        return Curator(self.engine, gate=self.gate)

    @property
    def builder(self) -> ContextBuilder:
        """Builds context blocks and takes outcomes."""
        return ContextBuilder(self.asked, counter=self.service.counter, log="engine" if self.service.log else None)

    @property
    def llm(self) -> LLM:
        """The language model of the engine. Raises `MissingDependencyError` without one."""
        if self.engine.llm is None:
            raise MissingDependencyError("this needs a language model: name one, as in --llm openai:gpt-5-mini")
        return self.engine.llm
