"""An authorizer that uses Cedar: policies are parsed once, queried in batches, and fail closed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

import cedarpy

from graphsearch.authz.cedar_request import Question
from graphsearch.authz.policy_bounds import refuse_unbounded
from graphsearch.authz.policy_fields import SIGNATURE_WORDS, words_read
from graphsearch.errors import PolicyError
from graphsearch.model import Action, Principal, Scope
from graphsearch.model.signatures import Resource

_log = logging.getLogger(__name__)

_SHIPPED: Final = Path(__file__).parent / "policies"
_SCHEMA: Final = _SHIPPED / "schema.cedarschema"
_BATCH: Final = 64
"""Resources decided between two turns of the event loop: a few milliseconds."""
_QUESTIONS: Final = 1_024
"""The number of combinations of principal, action and scope whose digests are cached."""
NO_PERMIT: Final = "no policy permits it"
_Key = tuple[bytes, bytes]
"""The cache key of a decision: digests of the question and the resource, so that no forgotten text lives on."""

K = TypeVar("K")
V = TypeVar("V")

_POLICY_ID = re.compile(r"policy `([^`]*)`")


class CedarAuthorizer:
    """Decides by Cedar policies; the isolation of scopes is always added to the policies given.

    Fields that no policy reads cannot change a decision: resources that differ only in those share one decision, and at
    most ``cache_size`` decisions are cached, by digests of the complete request. An evaluation error, no decision, an
    exception or a short answer is a deny, logged without any text of the graph.

    Raises `PolicyError` that names every fault of the policies and their schema.
    """

    def __init__(self, policies: str, schema: str, *, cache_size: int = 65_536) -> None:
        text = "\n".join((policies, _read(_SHIPPED / "isolation.cedar")))
        refuse_unbounded(text, schema)
        try:
            self._policies, self._schema = cedarpy.PolicySet.from_str(text), cedarpy.Schema.from_str(schema)
        except ValueError as error:
            _refuse_syntax(cedarpy.PolicySet, policies, "the policies")
            _refuse_syntax(cedarpy.Schema, schema, "the schema")
            raise PolicyError(f"The policies do not fit those that are added to all: {error}") from error
        _validate(text, self._schema)
        self._version = hashlib.sha256(json.dumps([text, schema]).encode()).hexdigest()
        self._reads = tuple(sorted(words_read(self._policies)))
        self._requests: dict[tuple[Question, str], bytes] = {}
        self._decisions: dict[_Key, bool] = {}
        self._cache_size = cache_size

    @classmethod
    def default(cls) -> CedarAuthorizer:
        """The policies and the schema shipped with graphsearch."""
        return cls.from_files([_SHIPPED / "default.cedar"])

    @classmethod
    def from_files(cls, policies: Iterable[Path], schema: Path = _SCHEMA) -> CedarAuthorizer:
        """Read policies from files, with the shipped schema unless another is given."""
        texts, described = {path: _read(path) for path in policies}, _read(schema)
        joined = "\n".join(texts.values())
        refuse_unbounded(joined, described)
        try:
            return cls(joined, described)
        except PolicyError:
            for path, text in texts.items():
                _refuse_syntax(cedarpy.PolicySet, text, str(path))
            _refuse_syntax(cedarpy.Schema, described, str(schema))
            raise

    @property
    def by_signature(self) -> bool:
        """True if no policy reads a resource's name or tags, or distinguishes single resources."""
        return SIGNATURE_WORDS.issuperset(self._reads)

    @property
    def policy_version(self) -> str:
        """A digest of the policies and their schema; together with the request it determines every decision."""
        return self._version

    def enters(self, principal: Principal, scope: Scope) -> bool:
        """Whether the principal belongs to a project; everywhere else the isolation of scopes denies everything."""
        return scope in principal.projects

    async def authorize(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[bool]:
        """One answer per resource, in order; True is allowed."""
        question = Question(principal, action, scope)
        about, known = self._digest_of(question), self._decisions
        keys = [(about, self._digest_as_read(resource)) for resource in resources]
        decided = {key: known[key] for key in keys if key in known}
        undecided = {key: resource for key, resource in zip(keys, resources, strict=True) if key not in decided}
        fresh = [(key, self._as_read(resource)) for key, resource in undecided.items()]
        for batch in _batches(fresh):
            await asyncio.sleep(0)
            answers = self._answers(question, batch)
            decided.update(answers)
            _keep(known, answers, self._cache_size)
        return [decided.get(key, False) for key in keys]

    def reasons(
        self, principal: Principal, action: Action, resources: Sequence[Resource], *, scope: Scope
    ) -> Sequence[Sequence[str]]:
        """The policies that deny each of a few resources, by their ``@id``; `NO_PERMIT` where none permits it."""
        return self._denials(Question(principal, action, scope), resources)

    def _as_read(self, resource: Resource) -> Resource:
        """A resource with only the fields that the policies read."""
        return Resource(kind=resource.kind, **{word: getattr(resource, word) for word in self._reads})

    def _digest_as_read(self, resource: Resource) -> bytes:
        """The same for resources that are equal in all fields read by the policies: they share one decision."""
        text = f"{resource.kind} {[getattr(resource, word) for word in self._reads]!r}"
        return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).digest()

    def _digest_of(self, question: Question) -> bytes:
        """A digest of the request without the resource."""
        key = (question, repr(question.principal.attributes))  # equal attributes may be of different types
        about = self._requests.get(key)
        if about is None:
            scope = (question.scope.org_id, question.scope.project_id)  # one of several that surround the principal
            text = json.dumps([self._version, question.action, scope, question.surroundings()])
            about = hashlib.sha256(text.encode()).digest()
            _keep(self._requests, {key: about}, _QUESTIONS)
        return about

    def _answers(self, question: Question, undecided: Sequence[tuple[_Key, Resource]]) -> dict[_Key, bool]:
        """One answer per resource, by key, or none at all if Cedar failed."""
        denials = self._denials(question, [resource for _, resource in undecided])
        return {key: not policies for (key, _), policies in zip(undecided, denials, strict=False)}

    def _denials(self, question: Question, resources: Sequence[Resource]) -> Sequence[Sequence[str]]:
        """The policies that deny each resource, none for what is allowed; nothing at all if Cedar failed."""
        try:
            described = [question.describe(resource, number) for number, resource in enumerate(resources)]
            entities = cedarpy.Entities.from_json_str(json.dumps([*question.surroundings(), *described]))
            requests = [question.request(resource) for resource in described]
            results = cedarpy.is_authorized_batch(requests, self._policies, entities, self._schema)
            return [
                () if _is_allowed(each) else _ids(each.diagnostics) for _, each in zip(requests, results, strict=True)
            ]
        except Exception as error:  # noqa: BLE001 - whatever fails in Cedar, the answer is no
            # no traceback: it could quote the graph
            _log.error("Cedar failed with %s: %d resources denied", type(error).__name__, len(resources))
            return []


def _batches(undecided: Sequence[tuple[_Key, Resource]]) -> Iterator[Sequence[tuple[_Key, Resource]]]:
    """Batches in which no element is described twice, as Cedar refuses: not as it is, and as it is to become."""
    batch: list[tuple[_Key, Resource]] = []
    described = set[tuple[str, str]]()
    for key, resource in undecided:
        element = (resource.kind.value, resource.id)
        if len(batch) == _BATCH or element in described:
            yield batch
            batch, described = [], set()
        batch.append((key, resource))
        if resource.id:
            described.add(element)
    if batch:
        yield batch


def _keep(kept: dict[K, V], more: Mapping[K, V], most: int) -> None:
    """Add to a cache, and drop its oldest entries."""
    kept.update(more)
    while len(kept) > most:
        del kept[next(iter(kept))]


def _is_allowed(result: cedarpy.AuthzResult) -> bool:
    """Allowed without any error: Cedar skips a policy that it cannot evaluate, which may be a forbid."""
    errors = result.diagnostics.errors
    if errors or result.decision is cedarpy.Decision.NoDecision:
        policies = sorted({id_ for error in errors for id_ in _POLICY_ID.findall(error)})
        _log.error("Cedar could not evaluate %s: denied", ", ".join(policies) or "the request")
        return False
    return result.decision is cedarpy.Decision.Allow


def _ids(diagnostics: cedarpy.Diagnostics) -> Sequence[str]:
    """The ids of the policies that a decision rests on: as they are annotated, or else as Cedar numbers them."""
    names = diagnostics.id_annotations_by_reason
    return sorted({names.get(each) or each for each in diagnostics.reasons}) or (NO_PERMIT,)


def _refuse_syntax(kind: type[cedarpy.PolicySet | cedarpy.Schema], text: str, name: str) -> None:
    """Raise `PolicyError` with the line of a fault: Cedar tells none, so it is where the text ceases to parse."""
    fault, lines, start = _fault(kind, text), text.rstrip().split("\n"), 0
    if not fault:
        return
    # what is read so far may also end too early, inside a text in quotes, or before what it refers to
    unfinished = (
        ("end of input", "resolve") if "invalid token" in fault else ("end of input", "resolve", "invalid token")
    )
    line = len(lines)
    for number in range(1, len(lines)):
        found = _fault(kind, "\n".join(lines[start:number]))
        if not found and kind is cedarpy.PolicySet:
            start = number
        elif found and not any(each in found for each in unfinished):
            line = number
            break
    raise PolicyError(f"{name}: {fault}" if "resolve" in fault else f"{name}, line {line}: {fault}")


def _fault(kind: type[cedarpy.PolicySet | cedarpy.Schema], text: str) -> str:
    try:
        kind.from_str(text)
    except ValueError as error:
        return str(error)
    return ""


def _validate(policies: str, schema: cedarpy.Schema) -> None:
    result = cedarpy.validate_policies(policies, schema)
    if not result.validation_passed:
        names = result.id_annotations_by_policy_id
        faults = sorted({f"{names.get(fault.policy_id, fault.policy_id)}: {fault.error}" for fault in result.errors})
        raise PolicyError("The policies do not fit their schema. " + "; ".join(faults))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PolicyError(f"Cannot read {path}: {error}. Name files of Cedar policies, in UTF-8.") from error
