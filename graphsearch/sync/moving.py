"""Export and import, blocking. ``progress`` is called from another thread."""

from graphsearch.moving import exporting, importing
from graphsearch.moving.foreign import converting
from graphsearch.sync.facade import blocking

export_scope = blocking(exporting.export_scope)
import_scope = blocking(importing.import_scope)
import_export = blocking(converting.import_export)
