"""The end of every write: names, types and signatures follow from what changed, and everything is written."""

from __future__ import annotations

from uuid import UUID

from graphsearch.stores.writer.folding import sign_relations
from graphsearch.stores.writer.naming import rename
from graphsearch.stores.writer.removing import drop_summaries
from graphsearch.stores.writer.work import Work


async def finish(work: Work, *, dry_run: bool = False) -> tuple[UUID, ...]:
    """Fold names again, sign what changed, and write all; return the entities whose text changed, in order of id."""
    reworded, resigned = await rename(work)
    await sign_relations(work, resigned)
    if not dry_run:
        await drop_summaries(work)
        await work.flush()
    return reworded
