-- What entities are called, and by what they are found.

-- names of entities --
-- With the surfaces of all their mentions, found one by one along the index.
SELECT {entity columns}, e.given_aliases, e.named, ARRAY(
    WITH RECURSIVE said AS (
        (SELECT surface_hash, surface FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
        ORDER BY surface_hash LIMIT 1)
        UNION ALL
        SELECT later.surface_hash, later.surface FROM said CROSS JOIN LATERAL (
            SELECT surface_hash, surface FROM mention
            WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id AND surface_hash > said.surface_hash
            ORDER BY surface_hash LIMIT 1
        ) later
    )
    SELECT surface FROM said
) AS surfaces
FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- given names --
SELECT {entity columns}, e.given_aliases, e.named FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- surfaces said --
SELECT DISTINCT said_entity_id, surface FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND said_entity_id = ANY(%(ids)s::uuid[])

-- surfaces in memories --
SELECT DISTINCT coalesce(said_entity_id, entity_id), surface FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])

-- first surface --
SELECT n.surface FROM mention n JOIN memory m ON (m.org_id, m.project_id, m.id) = (n.org_id, n.project_id, n.memory_id)
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.entity_id = %(root)s
    AND coalesce(n.said_entity_id, n.entity_id) = ANY(%(ids)s::uuid[])
ORDER BY m.occurred_at NULLS FIRST, n.memory_id, n.span_start NULLS FIRST, n.span_end, n.surface LIMIT 1

-- rename entities --
UPDATE entity e SET name = i.name, folded_name = i.folded_name, name_hash = i.name_hash, aliases = i.aliases
FROM incoming_naming i WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id

-- names to index --
-- None of an entity that was merged into another: that one has them.
SELECT e.id, CASE WHEN e.merged_into IS NOT NULL AND EXISTS (
        SELECT FROM merge m
        WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
    ) THEN ARRAY[]::text[] ELSE e.name || e.aliases END AS names
FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- unnamed --
-- The entities that have no postings yet.
SELECT e.id, e.type, e.name || e.aliases AS names FROM (
    SELECT id FROM entity WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM entity_lookup WHERE org_id = %(org)s AND project_id = %(project)s
) missing
JOIN entity e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT EXISTS (
    SELECT FROM merge m
    WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
)

-- all names --
SELECT e.id, e.type, e.name || e.aliases AS names FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT EXISTS (
    SELECT FROM merge m
    WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
)

-- all distinct pairs --
SELECT low_id, high_id FROM distinct_pair WHERE org_id = %(org)s AND project_id = %(project)s

-- same lookups --
DELETE FROM incoming_lookup i USING entity_lookup l
WHERE l.org_id = %(org)s AND l.project_id = %(project)s AND l.id = i.id
    AND (l.names, l.terms, l.sizes, l.ordinals, l.positions) = (i.names, i.terms, i.sizes, i.ordinals, i.positions)

-- drop name postings --
DELETE FROM name_posting p
USING (
    SELECT l.id, u.term, u.size, u.ordinal
    FROM incoming_lookup i
    JOIN entity_lookup l ON l.org_id = %(org)s AND l.project_id = %(project)s AND l.id = i.id
    CROSS JOIN LATERAL unnest(l.terms, l.sizes, l.ordinals) u (term, size, ordinal)
) old
WHERE p.org_id = %(org)s AND p.project_id = %(project)s
    AND p.term = old.term AND p.size = old.size AND p.entity_id = old.id AND p.ordinal = old.ordinal

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

-- drop lookups --
DELETE FROM entity_lookup
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- find words --
SELECT asked.word, p.entity_id, p.ordinal > 0
FROM unnest(%(words)s::text[], %(terms)s::text[]) asked (word, term)
CROSS JOIN LATERAL (
    SELECT entity_id, ordinal FROM name_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND term = asked.term AND size = 0
    ORDER BY entity_id LIMIT %(limit)s
) p

-- find beginnings --
SELECT asked.word, p.entity_id, p.ordinal > 0
FROM unnest(%(words)s::text[], %(terms)s::text[], %(ends)s::text[]) asked (word, term, ending)
CROSS JOIN LATERAL (
    SELECT entity_id, min(ordinal) AS ordinal FROM name_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND term >= asked.term AND term < asked.ending
    GROUP BY entity_id ORDER BY entity_id LIMIT %(limit)s
) p

-- similar names --
-- Names that share a trigram of their prefixes, as long as they may be (graphsearch.naming.prefix_lengths), compared.
WITH candidate AS MATERIALIZED (
    SELECT DISTINCT asked.place, p.entity_id, p.ordinal
    FROM unnest(%(places)s::integer[], %(terms)s::text[], %(at)s::integer[], %(lengths)s::integer[], %(low)s::integer[],
        %(high)s::integer[]) asked (place, term, at, length, low, high)
    CROSS JOIN LATERAL (
        SELECT entity_id, ordinal, position, ceil(%(share)s::float8 * (asked.length + size) - %(slack)s::float8) AS common, size
        FROM name_posting
        WHERE org_id = %(org)s AND project_id = %(project)s AND term = asked.term AND size BETWEEN asked.low AND asked.high
        OFFSET 0
    ) p
    WHERE p.position <= p.size - p.common AND asked.at <= asked.length - p.common
), compared AS (
    SELECT c.place, c.entity_id, n.name, similarity(n.name, (%(folded)s::text[])[c.place])::float8 AS similarity
    FROM candidate c
    CROSS JOIN LATERAL (
        SELECT names[c.ordinal + 1] AS name FROM entity_lookup
        WHERE org_id = %(org)s AND project_id = %(project)s AND id = c.entity_id
        OFFSET 0
    ) n
)
SELECT place, entity_id, name, similarity FROM compared WHERE similarity >= %(threshold)s::float8

-- similar pairs --
-- Of the trigrams that a name is found by, p of them, two names so similar have c in common at least; so they share one of
-- the p - c + 1 that are the rarest in this scope. (c is the least for any name as long as it may be, shorter or longer.)
WITH often AS MATERIALIZED (
    SELECT term, count(*) AS times FROM name_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND size > 0
    GROUP BY term
), ranked AS (
    SELECT p.term, p.size, p.entity_id, p.ordinal,
        row_number() OVER (PARTITION BY p.entity_id, p.ordinal ORDER BY o.times, p.term) AS rank
    FROM name_posting p JOIN often o ON o.term = p.term
    WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.size > 0
), rarest AS MATERIALIZED (
    SELECT term, size, entity_id, ordinal FROM ranked
    WHERE rank <= size - ceil(%(indexed)s::float8 * size - %(slack)s::float8) + 1 - greatest(0, least(
        size - ceil(%(indexed)s::float8 * size / %(threshold)s::float8 + %(slack)s::float8),
        ceil(%(threshold)s::float8 * size - %(slack)s::float8) - ceil(%(indexed)s::float8 * size + %(slack)s::float8)
    ))
), candidate AS MATERIALIZED (
    SELECT DISTINCT a.entity_id AS one_id, a.ordinal AS one, b.entity_id AS other_id, b.ordinal AS other
    FROM rarest a JOIN rarest b ON b.term = a.term
        AND b.size BETWEEN a.size AND floor(a.size / %(threshold)s::float8 + %(slack)s::float8)
        AND (a.size < b.size OR a.entity_id < b.entity_id) AND a.entity_id <> b.entity_id
), compared AS (
    SELECT least(c.one_id, c.other_id) AS low_id, greatest(c.one_id, c.other_id) AS high_id,
        similarity(n.name, o.name)::float8 AS similarity
    FROM candidate c
    CROSS JOIN LATERAL (
        SELECT names[c.one + 1] AS name FROM entity_lookup
        WHERE org_id = %(org)s AND project_id = %(project)s AND id = c.one_id
        OFFSET 0
    ) n
    CROSS JOIN LATERAL (
        SELECT names[c.other + 1] AS name FROM entity_lookup
        WHERE org_id = %(org)s AND project_id = %(project)s AND id = c.other_id
        OFFSET 0
    ) o
    CROSS JOIN LATERAL (
        SELECT type FROM entity WHERE org_id = %(org)s AND project_id = %(project)s AND id = c.one_id OFFSET 0
    ) e
    CROSS JOIN LATERAL (
        SELECT type FROM entity WHERE org_id = %(org)s AND project_id = %(project)s AND id = c.other_id OFFSET 0
    ) f
    WHERE e.type = f.type
)
SELECT low_id, high_id, max(similarity) AS similarity FROM compared
WHERE similarity >= %(threshold)s::float8 AND NOT EXISTS (
    SELECT FROM distinct_pair d
    WHERE d.org_id = %(org)s AND d.project_id = %(project)s AND d.low_id = compared.low_id AND d.high_id = compared.high_id
)
GROUP BY low_id, high_id ORDER BY similarity DESC, low_id, high_id LIMIT %(limit)s
