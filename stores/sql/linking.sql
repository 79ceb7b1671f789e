-- Links that somebody made, and what a forgetting takes along beside the elements.

-- link memories --
INSERT INTO memory_link (org_id, project_id, from_id, to_id, type, created_at)
SELECT %(org)s, %(project)s, from_id, to_id, type, created_at
FROM unnest(%(from_ids)s::text[], %(to_ids)s::text[], %(types)s::text[], %(created)s::timestamptz[])
    l (from_id, to_id, type, created_at)
ON CONFLICT DO NOTHING

-- memory links --
SELECT from_id, to_id, type, created_at FROM memory_link
WHERE org_id = %(org)s AND project_id = %(project)s AND (from_id = ANY(%(ids)s::text[]) OR to_id = ANY(%(ids)s::text[]))
ORDER BY from_id, to_id, type

-- delete links --
DELETE FROM memory_link
WHERE org_id = %(org)s AND project_id = %(project)s AND (from_id = ANY(%(ids)s::text[]) OR to_id = ANY(%(ids)s::text[]))

-- mark distinct --
INSERT INTO distinct_pair (org_id, project_id, low_id, high_id)
SELECT %(org)s, %(project)s, low_id, high_id FROM unnest(%(low_ids)s::uuid[], %(high_ids)s::uuid[]) p (low_id, high_id)
ON CONFLICT DO NOTHING

-- unmark distinct --
DELETE FROM distinct_pair d USING unnest(%(low_ids)s::uuid[], %(high_ids)s::uuid[]) p (low_id, high_id)
WHERE d.org_id = %(org)s AND d.project_id = %(project)s AND d.low_id = p.low_id AND d.high_id = p.high_id

-- distinct pairs --
SELECT low_id, high_id FROM distinct_pair
WHERE org_id = %(org)s AND project_id = %(project)s AND (low_id = ANY(%(ids)s::uuid[]) OR high_id = ANY(%(ids)s::uuid[]))
ORDER BY low_id, high_id

-- delete marks --
DELETE FROM distinct_pair
WHERE org_id = %(org)s AND project_id = %(project)s AND (low_id = ANY(%(ids)s::uuid[]) OR high_id = ANY(%(ids)s::uuid[]))

-- naming injections --
-- The whole log of the scope is read: it is written at every answer and searched at a forgetting alone. Kind and id are
-- one text in "gone".
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

-- overlapping groups --
-- Those in which a relation begins before one that began earlier has ended.
SELECT DISTINCT source_id, type FROM (
    SELECT source_id, type, coalesce(valid_from, '-infinity') AS start, max(coalesce(valid_to, 'infinity')) OVER (
        PARTITION BY source_id, type ORDER BY coalesce(valid_from, '-infinity'), id
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS taken_until
    FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL AND type = ANY(%(types)s::text[])
) periods
WHERE start < taken_until
ORDER BY source_id, type
