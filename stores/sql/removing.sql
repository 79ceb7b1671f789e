-- Forgetting memories, deleting elements, and removing a scope.

-- delete rows --
-- What a table keeps for each of some elements.
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND {key} = ANY(%(ids)s::{id}[])

-- scoped tables --
-- The rows of vector_index, which the app role may not delete, go with those of scope. Names with a number are of shards.
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind = 'r' AND c.relname <> 'vector_index'
    AND c.relname !~ '_[0-9]+$'

-- remove scope --
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s
