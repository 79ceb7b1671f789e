-- What entities are called, and by what they are found.

-- names of entities --
-- With the surfaces and types of all their mentions, found one by one along the index.
SELECT {entity columns}, e.given_type, e.given_aliases, e.named, ARRAY(
    WITH RECURSIVE said AS (
        (SELECT spoken_hash, surface, type FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
        ORDER BY spoken_hash LIMIT 1)
        UNION ALL
        SELECT later.spoken_hash, later.surface, later.type FROM said CROSS JOIN LATERAL (
            SELECT spoken_hash, surface, type FROM mention
            WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id AND spoken_hash > said.spoken_hash
            ORDER BY spoken_hash LIMIT 1
        ) later
    )
    SELECT ARRAY[surface, type] FROM said
) AS spoken
FROM entity e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- given names --
SELECT {entity columns}, e.given_type, e.given_aliases, e.named FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])

-- surfaces of entities --
SELECT e.id, said.spoken_hash, said.surface FROM unnest(%(ids)s::uuid[]) e (id) CROSS JOIN LATERAL (
    WITH RECURSIVE said AS (
        (SELECT spoken_hash, surface FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
        ORDER BY spoken_hash LIMIT 1)
        UNION ALL
        SELECT later.spoken_hash, later.surface FROM said CROSS JOIN LATERAL (
            SELECT spoken_hash, surface FROM mention
            WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id AND spoken_hash > said.spoken_hash
            ORDER BY spoken_hash LIMIT 1
        ) later
    )
    SELECT spoken_hash, surface FROM said
) said

-- sayings --
SELECT asked.place, said.memory_id
FROM unnest(%(ids)s::uuid[], %(hashes)s::bigint[]) WITH ORDINALITY asked (id, spoken_hash, place)
CROSS JOIN LATERAL (
    SELECT DISTINCT memory_id FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = asked.id AND spoken_hash = asked.spoken_hash
    ORDER BY memory_id LIMIT %(limit)s
) said

-- spoken of merged --
SELECT DISTINCT said_entity_id, surface, type FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND said_entity_id = ANY(%(ids)s::uuid[])

-- surfaces in memories --
SELECT DISTINCT coalesce(said_entity_id, entity_id), surface FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])

-- first spoken --
-- The surface and the type of the earliest mention that has one of the types, or of the earliest.
SELECT n.surface, n.type FROM mention n JOIN memory m ON (m.org_id, m.project_id, m.id) = (n.org_id, n.project_id, n.memory_id)
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.entity_id = %(root)s
    AND coalesce(n.said_entity_id, n.entity_id) = ANY(%(ids)s::uuid[])
    AND (%(types)s::text[] IS NULL OR n.type = ANY(%(types)s::text[]))
ORDER BY m.occurred_at NULLS FIRST, n.memory_id, n.span_start NULLS FIRST, n.span_end, n.surface, n.type LIMIT 1

-- types told --
-- The types that entities show and were not given.
SELECT id, type FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND named AND type <> given_type

-- retype entities --
UPDATE entity e SET type = i.type, signature = i.signature
FROM unnest(%(ids)s::uuid[], %(types)s::text[], %(codes)s::bigint[]) i (id, type, signature)
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id

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
WHERE l.org_id = %(org)s AND l.project_id = %(project)s AND l.id = i.id AND l.id = ANY(%(ids)s::uuid[])
    AND (l.names, l.terms, l.sizes, l.ordinals, l.positions) = (i.names, i.terms, i.sizes, i.ordinals, i.positions)

-- drop name postings --
-- Each is looked up, as postings of texts are.
DELETE FROM name_posting p
USING (
    SELECT there.place
    FROM incoming_lookup i
    JOIN entity_lookup l ON l.org_id = %(org)s AND l.project_id = %(project)s AND l.id = i.id AND l.id = ANY(%(ids)s::uuid[])
    CROSS JOIN LATERAL unnest(l.terms, l.sizes, l.ordinals) u (term, size, ordinal)
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM name_posting
        WHERE org_id = %(org)s AND project_id = %(project)s
            AND term = u.term AND size = u.size AND entity_id = l.id AND ordinal = u.ordinal
        LIMIT 1
    ) there
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
-- Names that share a trigram of their prefixes, as long as they may be (graphsearch.claims.naming.prefix_lengths), compared.
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
-- A set-similarity join as in graphsearch.stores.similarity: with its trigrams in order, the rarest of this scope first, a
-- name shares one of its first size - least + 1 with any that has at least so many in common with it. The bits that stand
-- for trigrams differ in no more places than the trigrams do; what is left is compared, then who is called so.
WITH called AS MATERIALIZED (
    SELECT l.id, e.type, n.name
    FROM entity_lookup l
    JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = l.id
    CROSS JOIN LATERAL unnest(l.names) n (name)
    WHERE l.org_id = %(org)s AND l.project_id = %(project)s
), spelt AS MATERIALIZED (
    SELECT row_number() OVER () AS place, name, trigrams
    FROM (SELECT name, show_trgm(name) AS trigrams FROM (SELECT DISTINCT name FROM called) every OFFSET 0) every
    WHERE cardinality(trigrams) <= %(most)s
), gram AS MATERIALIZED (
    SELECT place, cardinality(trigrams) AS size, trigram FROM spelt CROSS JOIN LATERAL unnest(trigrams) t (trigram)
), often AS MATERIALIZED (
    SELECT trigram, count(*) AS times FROM gram GROUP BY trigram
), ranked AS (
    SELECT g.place, g.size, g.trigram, row_number() OVER (PARTITION BY g.place ORDER BY o.times, g.trigram) AS rank,
        bit_or(1::bigint << (hashtext(g.trigram) & 63)) OVER (PARTITION BY g.place)::bit(64) AS bits
    FROM gram g JOIN often o ON o.trigram = g.trigram
), rarest AS MATERIALIZED (
    SELECT * FROM ranked WHERE rank <= size - ceil(%(threshold)s::float8 * size - %(slack)s::float8) + 1
), asked AS MATERIALIZED (
    SELECT a.place, a.size, a.trigram, a.bits, s.size AS other, shared.least
    FROM rarest a
    CROSS JOIN LATERAL generate_series(a.size, floor(a.size / %(threshold)s::float8 + %(slack)s::float8)::integer) s (size)
    CROSS JOIN LATERAL (SELECT ceil(%(share)s::float8 * (a.size + s.size) - %(slack)s::float8)::integer) shared (least)
    WHERE a.rank <= a.size - shared.least + 1
), candidate AS MATERIALIZED (
    SELECT DISTINCT a.place AS one, b.place AS other
    FROM asked a JOIN rarest b ON b.trigram = a.trigram AND b.size = a.other AND b.rank <= b.size - a.least + 1
    WHERE (b.size > a.size OR b.place > a.place) AND bit_count(a.bits # b.bits) <= a.size + b.size - 2 * a.least
), alike AS MATERIALIZED (
    SELECT name AS one, name AS other, 1::float8 AS similarity FROM spelt WHERE trigrams <> '{}'
    UNION ALL
    SELECT one, other, similarity FROM (
        SELECT n.name AS one, o.name AS other, similarity(n.name, o.name)::float8 AS similarity
        FROM candidate c JOIN spelt n ON n.place = c.one JOIN spelt o ON o.place = c.other
        OFFSET 0
    ) compared WHERE similarity >= %(threshold)s::float8
)
SELECT least(c.id, d.id) AS low_id, greatest(c.id, d.id) AS high_id, max(a.similarity) AS similarity
FROM alike a JOIN called c ON c.name = a.one JOIN called d ON d.name = a.other AND d.type = c.type AND d.id <> c.id
WHERE NOT EXISTS (
    SELECT FROM distinct_pair p
    WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.low_id = least(c.id, d.id) AND p.high_id = greatest(c.id, d.id)
)
GROUP BY low_id, high_id ORDER BY similarity DESC, low_id, high_id LIMIT %(limit)s
