"""Leaving and moving: a whole scope as a file, and back; and the exports of other memory layers as memories here."""

from typing import TYPE_CHECKING

from graphsearch._support.lazy import lazily

if TYPE_CHECKING:
    from graphsearch.moving.foreign.conversion import ConversionReport as ConversionReport
    from graphsearch.moving.foreign.converting import ExportFormat as ExportFormat
    from graphsearch.moving.foreign.converting import ForeignReport as ForeignReport
    from graphsearch.moving.foreign.converting import convert_export as convert_export
    from graphsearch.moving.foreign.converting import detect_format as detect_format
    from graphsearch.moving.foreign.converting import import_export as import_export
    from graphsearch.moving.importing import ExportReport as ExportReport
    from graphsearch.moving.importing import ImportReport as ImportReport
    from graphsearch.moving.importing import export_scope as export_scope
    from graphsearch.moving.importing import import_scope as import_scope

__getattr__, __dir__ = lazily(__name__)
