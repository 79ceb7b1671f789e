-- The names of entities: as given, as in mentions, and as folded from both.

-- names of entities --
SELECT {entity columns}, e.given_type, e.given_aliases, e.named, ARRAY(
    WITH {forms}
    SELECT ARRAY[surface, type] FROM forms
) AS forms, e.signature, ARRAY(
    SELECT DISTINCT signature FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
) AS mentions
FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- given names --
SELECT {entity columns}, e.given_type, e.given_aliases, e.named FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- surface forms of merged --
SELECT DISTINCT original_entity_id, surface, type FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND original_entity_id = ANY(%(ids)s::uuid[])

-- surfaces in memories --
SELECT DISTINCT coalesce(original_entity_id, entity_id), surface FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])

-- names of surfaces --
-- The names of some entities that are surfaces of another.
SELECT DISTINCT e.name FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])
    AND EXISTS (
        SELECT FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = %(id)s AND surface = e.name
    )

-- first surface form --
-- The surface and the type of the earliest mention, of those that have one of the types where types are given.
SELECT n.surface, n.type FROM mention n JOIN memory m ON (m.org_id, m.project_id, m.id) = (n.org_id, n.project_id, n.memory_id)
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.entity_id = %(root)s
    AND coalesce(n.original_entity_id, n.entity_id) = ANY(%(ids)s::uuid[])
    AND (%(types)s::text[] IS NULL OR n.type = ANY(%(types)s::text[]))
ORDER BY m.occurred_at NULLS FIRST, n.memory_id, n.span_start NULLS FIRST, n.span_end, n.surface, n.type LIMIT 1

-- stated types --
-- The types of entities that come from mentions and were not given.
SELECT id, type FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND named AND type <> given_type

-- mentioning signatures --
-- The distinct signatures of the memories that mention entities.
SELECT entity_id, array_agg(DISTINCT signature) FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])
GROUP BY entity_id

-- sign entities --
UPDATE entity e SET type = i.type, signature = i.signature
FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(codes)s::bigint[]) i (id, type, signature)
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id

-- rename entities --
UPDATE entity e SET name = i.name, folded_name = i.folded_name, name_hash = i.name_hash, aliases = i.aliases
FROM incoming_naming i WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id

-- drop aliases --
-- Aliases are numbered from 1, so that those beyond the number that an entity has now are gone.
DELETE FROM entity_alias a USING unnest(%(ids)s::uuid[], %(counts)s::integer[]) had (entity_id, count)
WHERE a.org_id = %(org)s AND a.project_id = %(project)s AND a.entity_id = ANY(%(ids)s::uuid[])
    AND a.entity_id = had.entity_id AND a.ordinal > had.count

-- insert aliases --
INSERT INTO entity_alias (org_id, project_id, entity_id, ordinal, name, hash)
SELECT %(org)s, %(project)s, entity_id, ordinal, name, hash FROM incoming_alias
RETURNING 1

-- upsert aliases --
INSERT INTO entity_alias AS a (org_id, project_id, entity_id, ordinal, name, hash)
SELECT %(org)s, %(project)s, entity_id, ordinal, name, hash FROM incoming_alias
ON CONFLICT (org_id, project_id, entity_id, ordinal) DO UPDATE SET name = excluded.name, hash = excluded.hash
WHERE a.name <> excluded.name

-- names to index --
-- An entity that was merged into another has no names to index; the other has them.
SELECT e.id, CASE WHEN {unmerged} THEN e.name || e.aliases ELSE ARRAY[]::text[] END AS names
FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- same lookups --
SELECT i.id FROM incoming_lookup i
JOIN entity_lookup l ON l.org_id = %(org)s AND l.project_id = %(project)s AND l.id = i.id AND l.id = ANY(%(ids)s::uuid[])
WHERE (l.names, l.terms, l.sizes, l.ordinals, l.positions) = (i.names, i.terms, i.sizes, i.ordinals, i.positions)

-- leave lookups out --
DELETE FROM incoming_lookup WHERE id = ANY(%(ids)s::uuid[])

-- drop name postings --
-- Each posting is looked up by itself, as in "drop postings".
DELETE FROM name_posting p
USING (
    SELECT there.place
    FROM entity_lookup l
    CROSS JOIN LATERAL unnest(l.terms, l.sizes, l.ordinals) u (term, size, ordinal)
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM name_posting
        WHERE org_id = %(org)s AND project_id = %(project)s
            AND term = u.term AND size = u.size AND entity_id = l.id AND ordinal = u.ordinal
        LIMIT 1
    ) there
    WHERE l.org_id = %(org)s AND l.project_id = %(project)s AND l.id = ANY(%(ids)s::uuid[])
) old
WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.ctid = old.place

-- upsert lookups --
INSERT INTO entity_lookup (org_id, project_id, id, names, terms, sizes, ordinals, positions)
SELECT %(org)s, %(project)s, id, names, terms, sizes, ordinals, positions FROM incoming_lookup ORDER BY id
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    names = excluded.names, terms = excluded.terms, sizes = excluded.sizes, ordinals = excluded.ordinals, positions = excluded.positions

-- post names --
INSERT INTO name_posting (org_id, project_id, term, size, entity_id, ordinal, position)
SELECT %(org)s, %(project)s, u.term, u.size, i.id, u.ordinal, u.position
FROM incoming_lookup i, unnest(i.terms, i.sizes, i.ordinals, i.positions) u (term, size, ordinal, position)
ORDER BY u.term, u.size, i.id, u.ordinal
RETURNING 1
