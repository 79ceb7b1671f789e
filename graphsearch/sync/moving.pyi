# Written by `python -m tests.sync.stubs`.

from collections.abc import Sequence
from graphsearch.access.gate import Gate
from graphsearch.ingest import Progress
from graphsearch.moving.exporting import ExportReport
from graphsearch.moving.foreign.converting import ExportFormat
from graphsearch.moving.foreign.converting import ForeignReport
from graphsearch.moving.importing import ImportReport
from graphsearch.protocols import Embedder
from graphsearch.sync.engine import Ingestor
from graphsearch.sync.stores import GraphStore
from pathlib import Path

def export_scope(store: GraphStore, target: Path | str, *, gate: Gate | None=None, vectors: bool=True, progress: Progress | None=None) -> ExportReport:
    """Export a scope to a file of JSON lines; "-" is standard output, and a name in ".gz" is compressed.

    The file holds all that the scope holds, forgotten text excepted: elements with their creation times, claims,
    mentions, merges with what undoes them, links, communities, types, counters, feedback with its history, and the log
    of sessions. It is read from one snapshot, a page at a time, and replaces ``target`` as a whole, at the end. The
    same content makes the same bytes, from any store and with the same version of the library.

    A principal exports only a scope that they may see the whole of: `PartialViewError` otherwise. Without a ``gate``
    it is the owner who exports. Without ``vectors`` the file is smaller, and `import_scope` embeds the texts again.

    Raises `UnknownScopeError` for a scope that was never written to, and `InvalidInputError` for a file that cannot be
    written.
    """
    ...
def import_scope(store: GraphStore, source: Path | str, *, embedder: Embedder | None=None, gate: Gate | None=None, replace: bool=False, progress: Progress | None=None) -> ImportReport:
    """Import a file of `export_scope` into a scope; "-" is standard input, compressed files are recognised.

    All of the file or nothing is imported, in one transaction; a process that is killed leaves the scope as it was.
    Answers, feedback, merges to be undone and what the graph knew at any time are then as in the scope exported.

    Vectors are those of the file. An ``embedder`` of another model, or a file without vectors, has the texts embedded
    during the import: of entities and memories, and of facts if the exported scope had vectors of facts. Without
    vectors and without an ``embedder`` the scope has none; import again with ``replace`` to add them.

    A scope that holds anything raises `OccupiedScopeError`, unless ``replace`` is given, which removes it first. With a
    ``gate`` its principal needs WRITE for every element, MERGE for merged entities, FEEDBACK for elements with
    outcomes, and FORGET for all that ``replace`` removes: `AccessDeniedError` otherwise.

    Raises `ScopeFileError`, with the line and every fault in it, for a file that is cut, changed, of an unknown version
    or not valid, `AnalyserError` for one made with another analyser, and what the store and the embedder raise.
    """
    ...
def import_export(ingestor: Ingestor, files: Sequence[Path], *, format: ExportFormat | None=None, group: str | None=None) -> ForeignReport:
    """Import an export of another memory layer, of one file or several: convert it, and ingest what it holds.

    Texts whose extraction the export has are not extracted again. Importing a newer export of the same name (of the
    first file) writes what changed and forgets what is gone. ``format`` is recognised where that is certain. Raises
    `InvalidInputError` for a file that cannot be read, or of which nothing can be converted, and what `Ingestor.add`
    raises.
    """
    ...
