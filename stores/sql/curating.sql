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

-- what would move --
SELECT
    (SELECT count(*) FROM mention WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = %(id)s),
    (SELECT count(*) FROM claim
        WHERE org_id = %(org)s AND project_id = %(project)s AND (source_id = %(id)s OR target_id = %(id)s)),
    (SELECT count(*) FROM (SELECT * FROM relation WHERE settled UNION ALL SELECT * FROM relation WHERE NOT settled) r
        WHERE org_id = %(org)s AND project_id = %(project)s AND (source_id = %(id)s OR target_id = %(id)s)
            AND retracted_at IS NULL)

-- count merge --
UPDATE scope SET merges = merges + 1 WHERE org_id = %(org)s AND project_id = %(project)s RETURNING merges

-- keep merge --
INSERT INTO merge (org_id, project_id, id, number, source_id, target_id, created_at, mentions, claims, relations, held)
VALUES (%(org)s, %(project)s, %(id)s, %(number)s, %(source_id)s, %(target_id)s, %(created_at)s, %(mentions)s, %(claims)s,
    %(relations)s, %(held)s)

-- count held --
UPDATE merge SET held = held + %(step)s
WHERE org_id = %(org)s AND project_id = %(project)s AND source_id = ANY(%(ids)s::uuid[]) AND undone_at IS NULL

-- end merge --
UPDATE merge SET undone_at = %(now)s WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(id)s

-- drop merges --
DELETE FROM merge
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (source_id = ANY(%(ids)s::uuid[]) OR target_id = ANY(%(ids)s::uuid[]))

-- retarget merges --
UPDATE merge SET target_id = %(target_id)s
WHERE org_id = %(org)s AND project_id = %(project)s AND target_id = %(id)s AND undone_at IS NULL
RETURNING source_id

-- merge into --
UPDATE entity SET merged_into = %(target_id)s
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- move mentions --
UPDATE mention SET original_entity_id = coalesce(original_entity_id, entity_id), entity_id = %(target_id)s
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = %(id)s

-- move claims --
-- Returns the groups that the claims belong to now and belonged to before.
WITH moved AS (
    UPDATE claim SET
        original_source_id = coalesce(original_source_id, source_id), original_target_id = coalesce(original_target_id, target_id),
        source_id = CASE WHEN source_id = %(id)s THEN %(target_id)s::uuid ELSE source_id END,
        target_id = CASE WHEN target_id = %(id)s THEN %(target_id)s::uuid ELSE target_id END
    WHERE org_id = %(org)s AND project_id = %(project)s AND (source_id = %(id)s OR target_id = %(id)s)
    RETURNING source_id, type
)
SELECT source_id, type FROM moved UNION SELECT %(id)s, type FROM moved

-- bring mentions back --
UPDATE mention SET entity_id = %(id)s, original_entity_id = nullif(original_entity_id, %(id)s)
WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = ANY(%(ids)s::uuid[])

-- bring claims back --
WITH moved AS (
    SELECT c.memory_id, c.ordinal, c.source_id AS old_source_id,
        CASE WHEN c.original_source_id = ANY(%(ids)s::uuid[]) THEN %(id)s ELSE c.source_id END AS source_id,
        CASE WHEN c.original_target_id = ANY(%(ids)s::uuid[]) THEN %(id)s ELSE c.target_id END AS target_id
    FROM claim c
    WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.original_source_id IS NOT NULL
        AND (c.original_source_id = ANY(%(ids)s::uuid[]) OR c.original_target_id = ANY(%(ids)s::uuid[]))
), back AS (
    UPDATE claim c SET source_id = m.source_id, target_id = m.target_id,
        original_source_id = CASE WHEN (c.original_source_id, c.original_target_id) <> (m.source_id, m.target_id)
            THEN c.original_source_id END,
        original_target_id = CASE WHEN (c.original_source_id, c.original_target_id) <> (m.source_id, m.target_id)
            THEN c.original_target_id END
    FROM moved m
    WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.memory_id = m.memory_id AND c.ordinal = m.ordinal
    RETURNING c.source_id, c.type, m.old_source_id
)
SELECT source_id, type FROM back UNION SELECT old_source_id, type FROM back

-- relations by original ends --
SELECT {relation columns}, e.folded FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.original_source_id IS NOT NULL
    AND (e.original_source_id = ANY(%(ids)s::uuid[]) OR e.original_target_id = ANY(%(ids)s::uuid[]))

-- original ends --
SELECT id, original_source_id, original_target_id FROM relation
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND original_source_id IS NOT NULL

-- keep original ends --
-- A relation between the entities that it was given with has none of these ends.
UPDATE relation r SET original_source_id = i.source_id, original_target_id = i.target_id
FROM (
    SELECT n.id, original.source_id, original.target_id FROM unnest(%(ids)s::uuid[]) n (id)
    LEFT JOIN unnest(%(original)s::uuid[], %(sources)s::uuid[], %(targets)s::uuid[]) original (id, source_id, target_id) ON original.id = n.id
) i
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id
    AND (r.original_source_id, r.original_target_id) IS DISTINCT FROM (i.source_id, i.target_id)

-- revive relations --
UPDATE relation r SET lapsed_at = i.lapsed_at
FROM unnest(%(ids)s::uuid[], %(times)s::timestamptz[]) i (id, lapsed_at)
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id AND r.retracted_at IS NULL

-- lapse relations --
-- Retract again the relations that a merge brought back.
UPDATE relation SET retracted_at = lapsed_at, lapsed_at = NULL, folded = false
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND lapsed_at IS NOT NULL
RETURNING id

-- written since --
SELECT
    (SELECT count(*) FROM mention n
        JOIN memory m ON (m.org_id, m.project_id, m.id) = (n.org_id, n.project_id, n.memory_id)
        WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.entity_id = %(id)s AND m.merges >= %(number)s)
    + (SELECT count(*) FROM claim c
        JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)
        WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND (c.source_id = %(id)s OR c.target_id = %(id)s)
            AND c.source_id <> %(source_id)s AND c.target_id <> %(source_id)s AND m.merges >= %(number)s)

-- mark proof --
UPDATE memory SET merges = %(merges)s
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::text[])

-- original mentions --
SELECT memory_id, coalesce(original_entity_id, entity_id) AS entity_id, surface, type, span_start, span_end, confidence FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])

-- original claims --
SELECT c.memory_id, coalesce(c.original_source_id, c.source_id) AS source_id, c.type,
    coalesce(c.original_target_id, c.target_id) AS target_id, c.confidence, c.valid_from, c.valid_to, c.kind, c.fact,
    c.span_start, c.span_end, c.extractor, c.ceiling, NULL::timestamptz AS occurred_at
FROM claim c
WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.memory_id = ANY(%(memory_ids)s::text[])

-- leave mentions --
UPDATE mention SET original_entity_id = nullif(%(target_id)s::uuid, entity_id)
WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = %(id)s

-- leave ends --
UPDATE {table} SET
    original_source_id = CASE WHEN original_source_id = %(id)s THEN %(target_id)s::uuid ELSE original_source_id END,
    original_target_id = CASE WHEN original_target_id = %(id)s THEN %(target_id)s::uuid ELSE original_target_id END
WHERE org_id = %(org)s AND project_id = %(project)s AND original_source_id IS NOT NULL
    AND (original_source_id = %(id)s OR original_target_id = %(id)s)

-- link memories --
INSERT INTO memory_link (org_id, project_id, from_id, to_id, type, created_at)
SELECT %(org)s, %(project)s, from_id, to_id, type, created_at
FROM unnest(%(from_ids)s::text[], %(to_ids)s::text[], %(types)s::text[], %(created)s::timestamptz[])
    l (from_id, to_id, type, created_at)
ON CONFLICT DO NOTHING
RETURNING 1

-- memory links --
SELECT from_id, to_id, type, created_at FROM memory_link
WHERE org_id = %(org)s AND project_id = %(project)s AND (from_id = ANY(%(ids)s::text[]) OR to_id = ANY(%(ids)s::text[]))
ORDER BY from_id, to_id, type

-- mark distinct --
INSERT INTO distinct_pair (org_id, project_id, low_id, high_id)
SELECT %(org)s, %(project)s, low_id, high_id FROM unnest(%(low_ids)s::uuid[], %(high_ids)s::uuid[]) p (low_id, high_id)
ON CONFLICT DO NOTHING
RETURNING 1

-- unmark distinct --
DELETE FROM distinct_pair d USING unnest(%(low_ids)s::uuid[], %(high_ids)s::uuid[]) p (low_id, high_id)
WHERE d.org_id = %(org)s AND d.project_id = %(project)s AND d.low_id = p.low_id AND d.high_id = p.high_id

-- distinct pairs --
SELECT low_id, high_id FROM distinct_pair
WHERE org_id = %(org)s AND project_id = %(project)s AND (low_id = ANY(%(ids)s::uuid[]) OR high_id = ANY(%(ids)s::uuid[]))
ORDER BY low_id, high_id

-- communities --
SELECT id, density, summary FROM community
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))

-- members --
SELECT community_id, entity_id, strength, place FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR community_id = ANY(%(ids)s))
ORDER BY entity_id

-- communities of --
SELECT entity_id, community_id FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(entity_ids)s::uuid[])

-- merged away --
SELECT id FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND merged_into IS NOT NULL

-- names of --
SELECT id, name FROM entity WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- drop communities --
DELETE FROM community
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))

-- drop members --
DELETE FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR community_id = ANY(%(ids)s))

-- insert communities --
INSERT INTO community (org_id, project_id, id, density, summary)
SELECT %(org)s, %(project)s, id, density, summary
FROM unnest(%(ids)s::uuid[], %(densities)s::float8[], %(summaries)s::jsonb[]) c (id, density, summary)
RETURNING 1

-- mark summarised --
UPDATE scope SET summarised = true WHERE org_id = %(org)s AND project_id = %(project)s

-- set summary --
UPDATE community SET summary = %(summary)s::jsonb WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(id)s

-- drop summaries --
-- Those of the communities of entities, of the ends of unretracted relations, and of whatever memories state.
UPDATE community SET summary = NULL
WHERE org_id = %(org)s AND project_id = %(project)s AND summary IS NOT NULL AND id IN (
    SELECT m.community_id FROM community_member m
    WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.entity_id IN (
        SELECT unnest(%(entity_ids)s::uuid[])
        UNION ALL
        SELECT unnest(ARRAY[r.source_id, r.target_id]) FROM relation r
        WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = ANY(%(relation_ids)s::uuid[])
            AND r.retracted_at IS NULL
        UNION ALL
        SELECT n.entity_id FROM mention n
        WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.memory_id = ANY(%(memory_ids)s::text[])
        UNION ALL
        SELECT unnest(ARRAY[c.source_id, c.target_id]) FROM claim c
        WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.memory_id = ANY(%(memory_ids)s::text[])
        UNION ALL
        SELECT unnest(ARRAY[p.source_id, p.target_id]) FROM evidence v
        JOIN relation p ON p.org_id = %(org)s AND p.project_id = %(project)s AND p.id = v.relation_id
        WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.memory_id = ANY(%(memory_ids)s::text[])
    )
)

-- insert members --
INSERT INTO community_member (org_id, project_id, entity_id, community_id, strength, place)
SELECT %(org)s, %(project)s, entity_id, community_id, strength, place
FROM unnest(%(entity_ids)s::uuid[], %(community_ids)s::uuid[], %(strengths)s::float8[], %(places)s::integer[])
    m (entity_id, community_id, strength, place)
RETURNING 1

-- leave communities --
DELETE FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])
RETURNING community_id

-- too small --
SELECT c.id FROM community c
WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.id = ANY(%(ids)s::uuid[])
    AND (SELECT count(*) FROM community_member m
        WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.community_id = c.id) < 2
