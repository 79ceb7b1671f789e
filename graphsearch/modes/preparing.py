"""Prepare: what a question means, found once: embedded before its snapshot is opened, its words interpreted in it."""

from __future__ import annotations

from functools import partial

from graphsearch.access.reader import Reader
from graphsearch.access.request import Request
from graphsearch.question.type_profile import TypeProfile
from graphsearch.question.understanding import QuestionVectors, Understanding, understand
from graphsearch.ranking.triplets.parts import Parts


async def embedded(request: Request, parts: Parts) -> QuestionVectors | None:
    """Embed a question with the words that it probably asks with; None if it is blank, or without an embedder."""
    phrases = parts.caches.phrases
    if phrases is None or not request.query.strip():
        return None
    with parts.stopwatch.stage("embedding"):
        return await phrases.of_question(request.query)


async def understood(
    request: Request, vectors: QuestionVectors | None, parts: Parts, reader: Reader
) -> Understanding | None:
    """Find what a question means in a snapshot: its names, relations, kind and time; None if it is blank."""
    if not request.query.strip():
        return None
    with parts.stopwatch.stage("understanding"):
        profile = await profile_of(request, parts, reader)
        return await understand(request.query, reader, profile, vectors, as_of=request.as_of)


async def profile_of(request: Request, parts: Parts, reader: Reader) -> TypeProfile:
    """The relation types of what a request may see, and how they are worded."""
    open_apart = partial(parts.open, request)
    return await parts.caches.profiles.profile(reader, request.gate, request.known_at, open_apart)
