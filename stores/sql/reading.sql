-- Whole elements, and counts of them.

-- get --
SELECT {columns} FROM {kind} e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::{id}[])

-- ends of relations --
SELECT {entity columns} FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id IN (
    SELECT unnest(ARRAY[source_id, target_id]) FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])
)

-- list entity --
SELECT {entity columns} FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s
    AND e.id >= coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000') AND e.id IS DISTINCT FROM %(after)s::uuid
    AND (%(type)s::text IS NULL OR e.type = %(type)s)
ORDER BY e.id LIMIT %(limit)s

-- list relation --
SELECT {relation columns} FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.retracted_at IS NULL
    AND e.id >= coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000') AND e.id IS DISTINCT FROM %(after)s::uuid
    AND (%(type)s::text IS NULL OR e.type = %(type)s)
ORDER BY e.id LIMIT %(limit)s

-- list relations of entity --
-- Unsettled relations are in no index by their ends. The planner finds the settled and the unsettled each in its own way
-- only in a union of two parts.
SELECT {relation columns} FROM (SELECT * FROM relation WHERE settled UNION ALL SELECT * FROM relation WHERE NOT settled) e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.retracted_at IS NULL
    AND e.id >= coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000') AND e.id IS DISTINCT FROM %(after)s::uuid
    AND (%(type)s::text IS NULL OR e.type = %(type)s) AND (e.source_id = %(entity_id)s OR e.target_id = %(entity_id)s)
ORDER BY e.id LIMIT %(limit)s

-- list memory --
SELECT {memory columns} FROM memory e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id > coalesce(%(after)s::text, '')
    AND (%(source)s::text IS NULL OR e.source = %(source)s)
    AND (%(session_id)s::text IS NULL OR e.session_id = %(session_id)s)
    AND (%(subject)s::text IS NULL OR e.subject = %(subject)s)
    AND (%(label)s::text IS NULL OR %(label)s = ANY(e.labels))
    AND (%(before)s::timestamptz IS NULL OR coalesce(e.occurred_at, e.created_at) < %(before)s)
    AND (%(owner)s::text IS NULL OR e.signature IN (
        SELECT s.code FROM signature s
        WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.content ->> 'owner' = %(owner)s
    ))
ORDER BY e.id LIMIT %(limit)s

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
-- Without the claims whose two ends became one entity by a merge.
SELECT c.*, m.occurred_at
FROM unnest(%(sources)s::uuid[], %(types)s::text[], %(targets)s::uuid[]) g (source_id, type, target_id)
JOIN claim c ON c.source_id = g.source_id AND c.type = g.type
    AND (g.target_id = '00000000-0000-0000-0000-000000000000' OR c.target_id = g.target_id)
JOIN memory m ON (m.org_id, m.project_id, m.id) = (c.org_id, c.project_id, c.memory_id)
WHERE c.org_id = %(org)s AND c.project_id = %(project)s
    AND (c.source_id <> c.target_id OR c.original_source_id IS NOT DISTINCT FROM c.original_target_id)

-- surfaces of entities --
SELECT e.id, forms.surface_hash, forms.surface FROM unnest(%(ids)s::uuid[]) e (id) CROSS JOIN LATERAL (
    WITH {forms}
    SELECT surface_hash, surface FROM forms
    UNION ALL
    SELECT DISTINCT surface_hash, surface FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = e.id
) forms

-- memories of surfaces --
SELECT wanted.place, mentioned.memory_id
FROM unnest(%(ids)s::uuid[], %(hashes)s::bigint[]) WITH ORDINALITY wanted (id, surface_hash, place)
CROSS JOIN LATERAL (
    (SELECT DISTINCT memory_id FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = wanted.id AND surface_hash = wanted.surface_hash
    ORDER BY memory_id LIMIT %(limit)s)
    UNION ALL
    (SELECT DISTINCT memory_id FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = wanted.id
        AND surface_hash = wanted.surface_hash
    ORDER BY memory_id LIMIT %(limit)s)
) mentioned

-- first memories of entities --
-- By when they were written; of merged entities, those of the mentions that moved. The index holds what is read of others.
SELECT e.id, written.created_at, written.memory_id FROM unnest(%(ids)s::uuid[]) e (id) CROSS JOIN LATERAL (
    SELECT created_at, memory_id FROM (
        (SELECT DISTINCT ON (memory_id) memory_id, created_at FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
        ORDER BY memory_id)
        UNION ALL
        SELECT DISTINCT memory_id, created_at FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = e.id
    ) distinct_memory
    ORDER BY created_at, memory_id LIMIT %(limit)s
) written

-- words of entities --
SELECT id, words FROM entity_words
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- unembedded facts --
SELECT {relation columns} FROM unembedded_fact f
JOIN relation e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = f.id
WHERE f.org_id = %(org)s AND f.project_id = %(project)s AND (%(after)s::uuid IS NULL OR f.id > %(after)s)
    AND e.fact <> '' AND e.retracted_at IS NULL
ORDER BY f.id LIMIT %(limit)s

-- facts --
SELECT {relation columns} FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND (%(after)s::uuid IS NULL OR e.id > %(after)s)
    AND e.fact <> '' AND e.retracted_at IS NULL
ORDER BY e.id LIMIT %(limit)s

-- relation types --
SELECT name, prior, half_life_days, hop_scores, functional, causal, skip, state FROM relation_type
WHERE org_id = %(org)s AND project_id = %(project)s

-- signatures --
SELECT code, content FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s AND code = ANY(%(codes)s::bigint[])

-- shared signatures --
SELECT coalesce(string_agg(int8send(code), '' ORDER BY code), '') FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s AND shared

-- every signature --
-- Read off the elements: a signature may be stored for longer than one has it.
SELECT coalesce(string_agg(int8send(signature), '' ORDER BY signature), '') FROM (
    SELECT signature FROM entity WHERE org_id = %(org)s AND project_id = %(project)s
    UNION SELECT signature FROM relation WHERE org_id = %(org)s AND project_id = %(project)s
    UNION SELECT signature FROM memory WHERE org_id = %(org)s AND project_id = %(project)s
) used

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

-- entities by type --
SELECT type, count(*) FROM entity WHERE org_id = %(org)s AND project_id = %(project)s GROUP BY type ORDER BY type

-- relations by type --
SELECT type, count(*) FROM relation
WHERE org_id = %(org)s AND project_id = %(project)s AND retracted_at IS NULL GROUP BY type ORDER BY type

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
