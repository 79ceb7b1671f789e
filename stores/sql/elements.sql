-- What is read as whole elements. {kind} is entity, relation or memory; {view} the filter of that kind.

-- entity columns --
e.id, e.type, e.name, e.description, {aliases}, {labels}, {attributes}, e.importance_weight, e.feedback_weight,
e.valid_from, e.valid_to, e.created_at, e.merged_into

-- relation columns --
e.id, e.source_id, e.type, e.target_id, e.valid_from, e.valid_to, e.fact, e.kind, e.confidence, {labels}, {attributes},
e.feedback_weight, {evidence}, e.supported_at, e.created_at, e.retracted_at

-- memory columns --
e.id, e.text, e.subject, e.speaker, e.session_id, e.position, e.occurred_at, e.source, {labels}, {attributes},
e.feedback_weight, e.created_at

-- aliases --
-- Most of these are empty, and to decode what is empty takes as long as the rest of a row.
nullif(e.aliases, '{}') AS aliases

-- labels --
nullif(e.labels, '{}') AS labels

-- evidence --
nullif(e.evidence, '{}') AS evidence

-- attributes --
nullif(e.attributes, '{}') AS attributes

-- entity view --
(e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.created_at <= %(known_at)s AND e.merged_into IS NULL

-- relation view --
((e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.confidence >= %(least)s OR {refolded})
AND e.created_at <= %(known_at)s AND (e.retracted_at IS NULL OR %(known_at)s < e.retracted_at)
AND NOT {skipped} AND {only}

-- refolded --
e.signature = ANY(%(refolded)s::bigint[])

-- skipped --
(e.type_hash = ANY(ARRAY(SELECT hashtextextended(name, 0) FROM unnest(%(skipped)s::text[]) name)) AND (
    SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
) = ANY(%(skipped)s::text[]))

-- only --
(cardinality(%(only)s::text[]) = 0
OR (e.type_hash = ANY(ARRAY(SELECT hashtextextended(name, 0) FROM unnest(%(only)s::text[]) name)) AND (
    SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
) = ANY(%(only)s::text[])))

-- memory view --
e.created_at <= %(known_at)s AND (e.occurred_at IS NULL OR e.occurred_at <= %(as_of)s)

-- scope --
SELECT s.alpha, s.analyser, s.embedder, s.dimensions, s.merges, s.signatures_dropped, s.shares, s.changes,
    hashtextextended(s.org_id, hashtextextended(s.project_id, 0)) AS scope_hash,
    (SELECT coalesce(jsonb_object_agg(t.kind, jsonb_build_array(t.documents, t.total_length, t.vectors, t.behind)), jsonb_build_object())
        FROM tally t WHERE t.org_id = s.org_id AND t.project_id = s.project_id) AS tallies,
    (SELECT coalesce(jsonb_agg(to_jsonb(r) - 'org_id' - 'project_id'), jsonb_build_array())
        FROM relation_type r WHERE r.org_id = s.org_id AND r.project_id = s.project_id) AS types
FROM scope s
WHERE s.org_id = {org_id} AND s.project_id = {project_id}

-- get --
SELECT {columns} FROM {kind} e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::{id}[])

-- following --
e.id >= coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000') AND e.id IS DISTINCT FROM %(after)s::uuid

-- list entity --
SELECT {columns} FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s
    AND {following} AND (%(type)s::text IS NULL OR e.type = %(type)s)
ORDER BY e.id LIMIT %(limit)s

-- every relation --
-- Those that are not settled are in no index by their ends. Of two parts the planner looks into each in its own way, for
-- constants: joined it would read all of both.
(SELECT * FROM relation WHERE settled UNION ALL SELECT * FROM relation WHERE NOT settled)

-- list relation --
SELECT {columns} FROM {listed} e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.retracted_at IS NULL
    AND {following} AND (%(type)s::text IS NULL OR e.type = %(type)s) {condition}
ORDER BY e.id LIMIT %(limit)s

-- of entity --
AND (e.source_id = %(entity_id)s OR e.target_id = %(entity_id)s)

-- list memory --
SELECT {columns} FROM memory e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s
    AND e.id > coalesce(%(after)s::text, '') {condition}
ORDER BY e.id LIMIT %(limit)s

-- of source --
AND e.source = %(source)s

-- of session --
AND e.session_id = %(session_id)s

-- list mentions --
SELECT memory_id, entity_id, surface, type, span_start, span_end, confidence FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (memory_id = ANY(%(memory_ids)s::text[]) OR entity_id = ANY(%(entity_ids)s::uuid[]))

-- claims of memories --
SELECT c.*, m.occurred_at FROM claim c JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)
WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.memory_id = ANY(%(memory_ids)s::text[])

-- claims of relations --
SELECT DISTINCT c.*, m.occurred_at
FROM relation r
JOIN claim c ON (c.org_id, c.project_id, c.source_id, c.type, c.target_id)
    = (r.org_id, r.project_id, r.source_id, r.type, r.target_id) AND c.memory_id = ANY(r.evidence)
JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = ANY(%(relation_ids)s::uuid[])

-- claims of groups --
SELECT c.*, m.occurred_at
FROM {groups}
JOIN claim c ON c.source_id = g.source_id AND c.type = g.type AND (g.target_id = '00000000-0000-0000-0000-000000000000' OR c.target_id = g.target_id)
JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)
WHERE c.org_id = %(org)s AND c.project_id = %(project)s
    -- what a merge turned on itself is left out
    AND (c.source_id <> c.target_id OR c.said_source_id IS NOT DISTINCT FROM c.said_target_id)

-- find names --
WITH asked AS (
    SELECT * FROM unnest(%(names)s::text[], %(folded)s::text[], %(hashes)s::bigint[]) WITH ORDINALITY a (name, folded, hash, place)
)
SELECT n.name, n.id, bool_and(n.alias) AS alias
FROM (
    SELECT asked.place, asked.name, x.id, x.alias FROM asked CROSS JOIN LATERAL (
        SELECT e.id, false AS alias FROM entity e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.embedding IS NULL
            AND e.name_hash = asked.hash AND e.folded_name = asked.folded AND {not merged}
        UNION ALL
        SELECT entity_id, true FROM entity_alias
        WHERE org_id = %(org)s AND project_id = %(project)s AND hash = asked.hash AND name = asked.folded
    ) x
    {waiting}
) n
GROUP BY n.place, n.name, n.id
ORDER BY n.id, n.place

-- waiting names --
-- Entities that are not settled are in no index by their names: they are read once for all the names.
UNION ALL
SELECT asked.place, asked.name, e.id, false
FROM asked JOIN entity e ON e.name_hash = asked.hash AND e.folded_name = asked.folded
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.embedding IS NOT NULL AND {not merged}

-- not merged --
(e.merged_into IS NULL OR NOT EXISTS (
    SELECT FROM merge m
    WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
))

-- relation types --
SELECT name, prior, half_life_days, hop_scores, functional, causal, skip, state FROM relation_type
WHERE org_id = %(org)s AND project_id = %(project)s

-- signatures --
SELECT code, content FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s AND code = ANY(%(codes)s::bigint[])

-- shared signatures --
SELECT coalesce(string_agg(int8send(code), '' ORDER BY code), '') FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s AND shared

-- mark shared --
UPDATE scope SET shares = true WHERE org_id = %(org)s AND project_id = %(project)s

-- count dropped signatures --
UPDATE scope SET signatures_dropped = signatures_dropped + %(dropped)s
WHERE org_id = %(org)s AND project_id = %(project)s

-- degrees --
SELECT f.id, (
    SELECT count(*) FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND source_id = f.id AND retracted_at IS NULL
) + (
    SELECT count(*) FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND target_id = f.id AND retracted_at IS NULL
) + coalesce(unsettled.count, 0)
FROM unnest(%(ids)s::uuid[]) f (id)
LEFT JOIN (
    SELECT ends.id, count(*) FROM relation CROSS JOIN LATERAL (VALUES (source_id), (target_id)) ends (id)
    WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND retracted_at IS NULL
        AND ends.id = ANY(%(ids)s::uuid[])
    GROUP BY ends.id
) unsettled ON unsettled.id = f.id
WHERE EXISTS (SELECT FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = f.id)

-- counts by type --
SELECT {kind}.type, count(*) FROM {kind}
WHERE org_id = %(org)s AND project_id = %(project)s {condition}
GROUP BY {kind}.type ORDER BY {kind}.type

-- counts --
SELECT
    (SELECT count(*) FROM memory WHERE org_id = %(org)s AND project_id = %(project)s) AS memories,
    (SELECT count(*) FROM claim WHERE org_id = %(org)s AND project_id = %(project)s) AS claims,
    (SELECT count(*) FROM mention WHERE org_id = %(org)s AND project_id = %(project)s) AS mentions,
    (SELECT coalesce(max(degree), 0) FROM (
        SELECT count(*) AS degree FROM (
            SELECT source_id AS id FROM relation
            WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL
            UNION ALL
            SELECT target_id FROM relation
            WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL
        ) ends GROUP BY id
    ) degrees) AS max_degree

-- counters --
SELECT name, number FROM counter WHERE org_id = %(org)s AND project_id = %(project)s ORDER BY name
