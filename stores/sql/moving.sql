-- A scope as records, read page by page in order of key, and loaded into an empty scope.

-- page --
SELECT * FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND {key} > %(after)s ORDER BY {key} LIMIT %(limit)s
