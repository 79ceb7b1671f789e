-- Merges of entities, links of memories, marks of distinct entities, and communities.

-- merges --
SELECT id, source_id, target_id, created_at, mentions, claims, relations, undone_at, number, held FROM merge
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (%(ids)s::uuid[] IS NULL OR source_id = ANY(%(ids)s) OR target_id = ANY(%(ids)s))
    AND (%(id)s::uuid IS NULL OR id = %(id)s)
ORDER BY number

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

-- written since --
SELECT
    (SELECT count(*) FROM mention n
        JOIN memory m ON (m.org_id, m.project_id, m.id) = (n.org_id, n.project_id, n.memory_id)
        WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.entity_id = %(id)s AND m.merges >= %(number)s)
    + (SELECT count(*) FROM claim c
        JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)
        WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND (c.source_id = %(id)s OR c.target_id = %(id)s)
            AND c.source_id <> %(source_id)s AND c.target_id <> %(source_id)s AND m.merges >= %(number)s)

-- communities --
SELECT id, density, summary FROM community
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))
