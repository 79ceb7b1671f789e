-- Surfaces and words of entities, and signatures.

-- surfaces of entities --
-- The distinct surfaces and types of the mentions of entity e, found one after the other in the index.
SELECT e.id, forms.surface_hash, forms.surface FROM unnest(%(ids)s::uuid[]) e (id) CROSS JOIN LATERAL (
    WITH RECURSIVE forms AS (
        (SELECT surface_hash, surface, type FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
        ORDER BY surface_hash LIMIT 1)
        UNION ALL
        SELECT later.surface_hash, later.surface, later.type FROM forms CROSS JOIN LATERAL (
            SELECT surface_hash, surface, type FROM mention
            WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id AND surface_hash > forms.surface_hash
            ORDER BY surface_hash LIMIT 1
        ) later
    )
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

-- signatures --
SELECT code, content FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s AND code = ANY(%(codes)s::bigint[])

-- shared signatures --
SELECT coalesce(string_agg(int8send(code), '' ORDER BY code), '') FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s AND shared

-- every signature --
SELECT coalesce(string_agg(int8send(code), '' ORDER BY code), '') FROM signature
WHERE org_id = %(org)s AND project_id = %(project)s
