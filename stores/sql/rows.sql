-- What rows copy from others, and what is counted of them. Statements that read and write rows themselves are made of
-- their tables of columns (graphsearch.stores.in_postgres.tables).

-- repoint mentions --
-- Let the mentions written for some entities (a) mean others (b).
UPDATE mention e SET entity_id = i.root, original_entity_id = nullif(coalesce(e.original_entity_id, e.entity_id), i.root)
FROM unnest(%(a)s::uuid[], %(b)s::uuid[]) i (id, root)
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND coalesce(e.original_entity_id, e.entity_id) = i.id
    AND (e.original_entity_id = ANY(%(a)s::uuid[]) OR e.entity_id = ANY(%(a)s::uuid[]) AND e.original_entity_id IS NULL)

-- put evidence --
INSERT INTO evidence (org_id, project_id, memory_id, relation_id)
SELECT %(org)s, %(project)s, memory_id, relation_id FROM unnest(%(a)s::text[], %(b)s::uuid[]) v (memory_id, relation_id)
ON CONFLICT DO NOTHING

-- lose evidence --
DELETE FROM evidence WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(a)s::text[])
    AND ((memory_id, relation_id) IN (SELECT * FROM unnest(%(a)s::text[], %(b)s::uuid[]))) IS TRUE

-- count outcomes --
UPDATE {kind} e SET outcomes = e.outcomes + i.number FROM unnest(%(a)s::text[], %(b)s::bigint[]) i (id, number)
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(a)s::text[]::{id}[]) AND e.id = i.id::{id}

-- weights of elements --
-- With the outcome that a session has for each. Outcomes are looked up by their whole key: a join would read all of the
-- scope.
SELECT e.id, e.feedback_weight, e.outcomes, o.seq, o.outcome FROM {kind} e LEFT JOIN LATERAL (
    SELECT seq, outcome FROM outcome
    WHERE org_id = %(org)s AND project_id = %(project)s AND kind = '{kind}' AND element_id = e.id::text
        AND session_id = %(session_id)s OFFSET 0
) o ON true
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(a)s::{id}[])

-- move weights --
UPDATE {kind} e SET feedback_weight = i.weight, outcomes = i.number
FROM unnest(%(a)s::{id}[], %(b)s::float8[], %(c)s::integer[]) i (id, weight, number)
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(a)s::{id}[]) AND e.id = i.id

-- largest degree --
SELECT coalesce(max(degree), 0) FROM (
    SELECT count(*) AS degree FROM (
        SELECT source_id AS id FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL
        UNION ALL
        SELECT target_id FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL
    ) ends GROUP BY id
) degrees

-- drop every signature --
-- Caches of them end with it.
UPDATE scope SET shares = false, signatures_dropped = signatures_dropped + 1 WHERE org_id = %(org)s AND project_id = %(project)s

-- drop unused signatures --
-- Those of some signatures (a) that lose all their users: so many (b) have them no longer.
WITH unused AS (
    DELETE FROM signature s USING unnest(%(a)s::bigint[], %(b)s::bigint[]) i (code, fewer)
    WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.code = ANY(%(a)s::bigint[]) AND s.code = i.code
        AND s.users <= i.fewer
    RETURNING s.code
)
UPDATE scope SET signatures_dropped = signatures_dropped + (SELECT count(*) FROM unused)
WHERE org_id = %(org)s AND project_id = %(project)s AND EXISTS (SELECT FROM unused)

-- count fewer users --
UPDATE signature s SET users = s.users - i.fewer FROM unnest(%(a)s::bigint[], %(b)s::bigint[]) i (code, fewer)
WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.code = ANY(%(a)s::bigint[]) AND s.code = i.code

-- entities by type --
SELECT type, count(*) FROM entity WHERE org_id = %(org)s AND project_id = %(project)s GROUP BY type ORDER BY type

-- relations by type --
SELECT type, count(*) FROM relation
WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL GROUP BY type ORDER BY type

-- merge tree --
-- What each entity was merged into, of all entities that these were merged into and all that were merged into those.
WITH RECURSIVE above AS (
    SELECT id FROM unnest(%(ids)s::uuid[]) i (id)
    UNION
    SELECT m.target_id FROM above JOIN merge m
        ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = above.id AND m.undone_at IS NULL
), below AS (
    SELECT id FROM above
    UNION
    SELECT m.source_id FROM below JOIN merge m
        ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.target_id = below.id AND m.undone_at IS NULL
)
SELECT m.source_id, m.target_id FROM below JOIN merge m
    ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = below.id AND m.undone_at IS NULL

-- scoped tables --
-- The rows of vector_index, which the app role may not delete, go with those of scope. Names with a number are of shards.
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind = 'r' AND c.relname <> 'vector_index'
    AND c.relname !~ '_[0-9]+$'

-- remove rows --
-- Those of a table with any of some ids in a column.
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND {column} = ANY(%(ids)s::{id}[])

-- remove scope --
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s

-- mark shared --
UPDATE scope SET shares = true WHERE org_id = %(org)s AND project_id = %(project)s

-- weigh relations --
UPDATE relation SET weight = confidence * %(prior)s
WHERE org_id = %(org)s AND project_id = %(project)s AND type = %(name)s AND weight <> confidence * %(prior)s

-- copy to ends --
-- What relations copy of entities that are not younger than they are, at one end.
UPDATE relation r SET {copy} = CASE WHEN i.created_at <= r.created_at THEN i.copied END
FROM unnest(%(ids)s::uuid[], %(copied)s::text[]::uuid[], %(created)s::timestamptz[]) i (id, copied, created_at)
WHERE r.scope_hash = %(scope)s AND r.org_id = %(org)s AND r.project_id = %(project)s
    AND r.{end} = ANY(%(ids)s::uuid[]) AND r.{end} = i.id
