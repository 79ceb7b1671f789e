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
    AND (memory_id, relation_id) IN (SELECT * FROM unnest(%(a)s::text[], %(b)s::uuid[]))

-- drop evidence of relations --
DELETE FROM evidence WHERE org_id = %(org)s AND project_id = %(project)s AND relation_id = ANY(%(a)s::uuid[])

-- count outcomes --
UPDATE {kind} e SET outcomes = e.outcomes + i.number FROM unnest(%(a)s::text[], %(b)s::bigint[]) i (id, number)
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(a)s::text[]::{id}[]) AND e.id = i.id::{id}

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
