-- Forgetting memories, deleting elements, and removing a scope.

-- delete claims of entities --
DELETE FROM claim
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (source_id = ANY(%(entity_ids)s::uuid[]) OR target_id = ANY(%(entity_ids)s::uuid[]))
RETURNING source_id, type

-- delete claims of relations --
DELETE FROM claim c USING relation r
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = ANY(%(relation_ids)s::uuid[])
    AND (c.org_id, c.project_id, c.source_id, c.type, c.target_id)
        = (r.org_id, r.project_id, r.source_id, r.type, r.target_id)
    AND c.memory_id = ANY(r.evidence)
RETURNING c.source_id, c.type

-- delete claims of memories --
DELETE FROM claim
WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])
RETURNING source_id, type, target_id, original_source_id, original_target_id

-- delete mentions --
DELETE FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (memory_id = ANY(%(memory_ids)s::text[]) OR entity_id = ANY(%(entity_ids)s::uuid[]))
RETURNING entity_id, coalesce(original_entity_id, entity_id)

-- delete rows --
-- What a table keeps for each of some elements.
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND {key} = ANY(%(ids)s::{id}[])

-- delete elements --
DELETE FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[]) RETURNING signature

-- delete outcomes --
DELETE FROM outcome
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND element_id = ANY(%(ids)s::text[])

-- delete links --
DELETE FROM memory_link
WHERE org_id = %(org)s AND project_id = %(project)s AND (from_id = ANY(%(ids)s::text[]) OR to_id = ANY(%(ids)s::text[]))

-- delete marks --
DELETE FROM distinct_pair
WHERE org_id = %(org)s AND project_id = %(project)s AND (low_id = ANY(%(ids)s::uuid[]) OR high_id = ANY(%(ids)s::uuid[]))

-- faded entities --
-- Entities that no mention and no merge names, with retracted relations at most, or with none if "isolated"; with
-- "named", of those that exist through their mentions.
SELECT e.id FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND (e.named OR NOT %(named)s)
    AND NOT EXISTS (SELECT FROM mention WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id)
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND source_id = e.id AND (retracted_at IS NULL OR %(isolated)s))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND target_id = e.id AND (retracted_at IS NULL OR %(isolated)s))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND source_id = e.id AND (retracted_at IS NULL OR %(isolated)s))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND target_id = e.id AND (retracted_at IS NULL OR %(isolated)s))
    AND NOT EXISTS (SELECT FROM merge WHERE org_id = %(org)s AND project_id = %(project)s AND target_id = e.id AND undone_at IS NULL)
    AND NOT EXISTS (SELECT FROM merge WHERE org_id = %(org)s AND project_id = %(project)s AND source_id = e.id AND undone_at IS NULL)

-- unmentioned entities --
-- Merged entities that no mention, claim or relation names, and that no other entity was merged into. Retracted relations
-- do not keep what only mentions named.
SELECT e.id FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])
    AND EXISTS (SELECT FROM merge WHERE org_id = %(org)s AND project_id = %(project)s AND source_id = e.id AND undone_at IS NULL)
    AND NOT EXISTS (SELECT FROM merge WHERE org_id = %(org)s AND project_id = %(project)s AND target_id = e.id AND undone_at IS NULL)
    AND NOT EXISTS (SELECT FROM mention WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = e.id)
    AND NOT EXISTS (SELECT FROM claim WHERE org_id = %(org)s AND project_id = %(project)s
        AND original_source_id IS NOT NULL AND (original_source_id = e.id OR original_target_id = e.id))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND source_id = e.id AND (retracted_at IS NULL OR NOT e.named))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND target_id = e.id AND (retracted_at IS NULL OR NOT e.named))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND source_id = e.id AND (retracted_at IS NULL OR NOT e.named))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND target_id = e.id AND (retracted_at IS NULL OR NOT e.named))
    AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s
        AND original_source_id IS NOT NULL AND (original_source_id = e.id OR original_target_id = e.id))

-- naming injections --
-- The whole log of the scope is read: it is written with every answer and searched only when something is forgotten.
-- "gone" has kinds and ids as one text each.
SELECT i.id, (
    SELECT count(*) FROM unnest(i.element_kinds, i.element_ids) e (kind, id) WHERE e.kind || ' ' || e.id = ANY(%(gone)s::text[])
) AS times
FROM injection i
WHERE i.org_id = %(org)s AND i.project_id = %(project)s
    AND EXISTS (SELECT FROM unnest(i.element_ids) e (id) WHERE e.id = ANY(%(ids)s::text[]))

-- forget references --
UPDATE injection i SET
    element_kinds = ARRAY(
        SELECT e.kind FROM unnest(i.element_kinds, i.element_ids) WITH ORDINALITY e (kind, id, place)
        WHERE e.kind || ' ' || e.id <> ALL(%(gone)s::text[]) ORDER BY e.place
    ),
    element_ids = ARRAY(
        SELECT e.id FROM unnest(i.element_kinds, i.element_ids) WITH ORDINALITY e (kind, id, place)
        WHERE e.kind || ' ' || e.id <> ALL(%(gone)s::text[]) ORDER BY e.place
    )
WHERE i.org_id = %(org)s AND i.project_id = %(project)s AND i.id = ANY(%(injections)s::text[])

-- scoped tables --
-- The rows of vector_index, which the app role may not delete, go with those of scope. Names with a number are of shards.
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind = 'r' AND c.relname <> 'vector_index'
    AND c.relname !~ '_[0-9]+$'

-- remove scope --
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s
