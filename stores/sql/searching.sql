-- Finding elements by vector, by text and by name. Results that can have thousands of rows are returned as one row of
-- byte strings, each a column in network byte order, because decoding rows one by one costs more than finding them.

-- nearest exactly --
-- The candidates are the nearest of all vectors by distances in half precision, which take half as long, before the view
-- is applied, which costs as much as several distances and seldom hides anything. They are ranked by their distances to the
-- query as it is given, so that every store gives the same. Returns how many candidates there were as well.
WITH candidate AS MATERIALIZED (
    SELECT id, embedding::vector <=> (SELECT %(vector)s::vector) AS value
    FROM (
        SELECT id, embedding FROM {kind}_embedding v WHERE org_id = %(org)s AND project_id = %(project)s
        ORDER BY embedding <=> (SELECT %(vector)s::vector::halfvec), id LIMIT %(candidates)s
    ) rough
)
SELECT {hits}, (SELECT count(*) FROM candidate)
FROM {nearest candidates} hit

-- nearest by index --
-- The candidates are those that the scope's part of the index gives, and the nearest of the vectors that are not in it.
-- Returns how many the part gave as well, the distance of the last, and how many of these are as near as the last hit.
WITH indexed AS MATERIALIZED (
    SELECT id, embedding::vector <=> %(vector)s::vector AS value FROM {kind}_embedding_part
    WHERE part = %(part)s AND org_id = %(org)s AND project_id = %(project)s
    ORDER BY embedding::halfvec(%(dimensions)s) <=> %(vector)s::halfvec(%(dimensions)s) LIMIT %(candidates)s
), candidate AS MATERIALIZED (
    SELECT id, value FROM indexed
    UNION ALL
    (SELECT id, embedding::vector <=> %(vector)s::vector AS value FROM {kind}_embedding v
    WHERE org_id = %(org)s AND project_id = %(project)s AND generation >= %(generation)s
    ORDER BY value, id LIMIT %(candidates)s)
)
SELECT
    {hits},
    (SELECT count(*) FROM indexed),
    (SELECT max(value) FROM indexed),
    (SELECT count(*) FROM indexed WHERE value <= max(hit.value))
FROM {nearest candidates} hit

-- vectors by key --
-- All of one length, each as it is sent: a header of two two-byte numbers, then its numbers.
SELECT {ids}, coalesce(string_agg(vector_send(v.embedding::vector), ''), '')
FROM {kind}_embedding v WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = ANY(%(found)s::{id}[])

-- locate --
SELECT {hits} FROM (
    SELECT e.id, e.signature, e.importance_weight AS importance, 0 AS value FROM entity e
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND {entity view}
    ORDER BY e.id
) hit

-- lexical --
-- BM25 as in graphsearch.text.bm25. Terms that nearly every document has yield no candidates and have the longest lists:
-- they are added only for those candidates that, with all that these terms could add, are no worse than the last of the
-- best. Sums are rounded, so that equal documents have equal scores in whatever order the terms were added. Elements are
-- looked up one by one, best first, and no more of them than are returned. In how many documents a term occurs may be given.
-- Relations are returned as steps as well: they are walked next.
WITH wanted AS MATERIALIZED (
    SELECT term, ln(1 + (%(total)s - n + 0.5) / (n + 0.5)) AS idf,
        n < %(few)s::float8 OR NOT bool_or(n < %(few)s::float8) OVER () AS chosen
    FROM (
        SELECT a.term, coalesce(a.documents, t.documents, 0)::float8 AS n
        FROM unnest(%(terms)s::text[], %(documents)s::bigint[]) a (term, documents)
        LEFT JOIN term t ON t.org_id = %(org)s AND t.project_id = %(project)s AND t.kind = '{kind}' AND t.term = a.term
    ) counted WHERE n > 0
), candidate AS MATERIALIZED (
    SELECT p.id, round(1e9 * sum({share of score})) / 1e9 AS value
    FROM wanted CROSS JOIN LATERAL ({postings} OFFSET 0) p
    WHERE wanted.chosen GROUP BY p.id
), near AS MATERIALIZED (
    SELECT id, value FROM candidate WHERE value >= CASE WHEN EXISTS (SELECT FROM wanted WHERE NOT chosen) THEN (
        SELECT CASE WHEN count(*) = %(limit)s THEN min(value) ELSE 0 END FROM (
            SELECT s.value FROM (SELECT * FROM candidate ORDER BY value DESC OFFSET 0) s CROSS JOIN LATERAL (
                SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = s.id AND {view} OFFSET 0
            ) e
            ORDER BY s.value DESC LIMIT %(limit)s
        ) best
    ) - (SELECT sum(idf) + 0.000001 FROM wanted WHERE NOT chosen) ELSE 0 END
), hit AS MATERIALIZED (
    SELECT e.*, s.value FROM (
        SELECT id, round(1e9 * sum(value)) / 1e9 AS value FROM (
            SELECT id, value FROM near
            UNION ALL
            SELECT p.id, {share of score}
            FROM wanted CROSS JOIN LATERAL ({postings} OFFSET 0) p
            WHERE NOT wanted.chosen AND p.id IN (SELECT id FROM near)
        ) parts
        GROUP BY id ORDER BY value DESC, id OFFSET 0
    ) s CROSS JOIN LATERAL (
        SELECT e.id, e.signature, {importance} AS importance {ends} FROM {kind} e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = s.id AND {view} OFFSET 0
    ) e
    ORDER BY s.value DESC, s.id LIMIT %(limit)s
)
SELECT {hits} {steps} FROM (SELECT * FROM hit ORDER BY value DESC, id) hit

-- document frequencies --
SELECT term, documents FROM term
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND term = ANY(%(terms)s::text[])

-- documents with all --
-- For each group of terms, the documents of its rarest term are looked up in the postings of the other terms.
WITH wanted AS MATERIALIZED (
    SELECT a.place, a.term, coalesce(t.documents, 0) AS documents
    FROM unnest(%(groups)s::integer[], %(terms)s::text[]) a (place, term)
    LEFT JOIN term t ON t.org_id = %(org)s AND t.project_id = %(project)s AND t.kind = %(kind)s AND t.term = a.term
), rarest AS MATERIALIZED (
    SELECT DISTINCT ON (place) place, term FROM wanted ORDER BY place, documents, term
)
SELECT r.place, (
    SELECT count(*) FROM {kind}_posting p
    WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.term = r.term AND NOT EXISTS (
        SELECT FROM wanted a WHERE a.place = r.place AND a.term <> r.term AND NOT EXISTS (
            SELECT FROM {kind}_posting o
            WHERE o.org_id = %(org)s AND o.project_id = %(project)s AND o.term = a.term AND o.id = p.id
        )
    )
)
FROM rarest r

-- find names --
WITH wanted AS (
    SELECT * FROM unnest(%(names)s::text[], %(folded)s::text[], %(hashes)s::bigint[]) WITH ORDINALITY a (name, folded, hash, place)
)
SELECT n.name, n.id, bool_and(n.alias) AS alias
FROM ({bearers}) n
GROUP BY n.place, n.name, n.id
ORDER BY n.id, n.place

-- named --
-- The entities with one of some names, and those with one of some words that fewer than a limit of entities have; those
-- in view are returned whole. Of other words the first entities are returned by their ids.
WITH wanted AS (
    SELECT * FROM unnest(%(names)s::text[], %(folded)s::text[], %(hashes)s::bigint[]) WITH ORDINALITY a (name, folded, hash, place)
), match AS MATERIALIZED (
    SELECT false AS partly, n.place, n.name, n.id, bool_and(n.alias) AS alias, false AS common
    FROM ({bearers}) n GROUP BY n.place, n.name, n.id
    UNION ALL
    SELECT true, a.place, a.word, p.entity_id, p.ordinal > 0, p.entities >= %(limit)s
    FROM unnest(%(words)s::text[], %(terms)s::text[]) WITH ORDINALITY a (word, term, place)
    CROSS JOIN LATERAL (
        SELECT entity_id, ordinal, count(*) OVER () AS entities FROM (
            SELECT entity_id, ordinal FROM name_posting
            WHERE org_id = %(org)s AND project_id = %(project)s AND term = a.term AND size = 0
            ORDER BY entity_id LIMIT %(limit)s
        ) listed
    ) p
)
SELECT m.name AS written, m.id AS entity, m.alias, m.common, x.*
FROM match m LEFT JOIN LATERAL (
    SELECT {entity columns} FROM entity e
    WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = m.id
        AND NOT m.common AND {entity view}
    OFFSET 0
) x ON true
ORDER BY m.partly, m.id, m.place

-- find words --
-- The words from a term to an ending, without it.
SELECT wanted.word, p.entity_id, p.ordinal > 0
FROM unnest(%(words)s::text[], %(terms)s::text[], %(ends)s::text[]) wanted (word, term, ending)
CROSS JOIN LATERAL (
    SELECT entity_id, min(ordinal) AS ordinal FROM name_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND term >= wanted.term AND term < wanted.ending
    GROUP BY entity_id ORDER BY entity_id LIMIT %(limit)s
) p

-- similar names --
-- Compares the names that share a trigram of their prefixes; graphsearch.claims.naming.prefix_lengths bounds these.
WITH candidate AS MATERIALIZED (
    SELECT DISTINCT wanted.place, p.entity_id, p.ordinal
    FROM unnest(%(places)s::integer[], %(terms)s::text[], %(at)s::integer[], %(lengths)s::integer[], %(low)s::integer[],
        %(high)s::integer[]) wanted (place, term, at, length, low, high)
    CROSS JOIN LATERAL (
        SELECT entity_id, ordinal, position, ceil(%(share)s::float8 * (wanted.length + size) - %(slack)s::float8) AS common, size
        FROM name_posting
        WHERE org_id = %(org)s AND project_id = %(project)s AND term = wanted.term AND size BETWEEN wanted.low AND wanted.high
        OFFSET 0
    ) p
    WHERE p.position <= p.size - p.common AND wanted.at <= wanted.length - p.common
)
SELECT c.place, c.entity_id, e.name
FROM candidate c
CROSS JOIN LATERAL (
    SELECT CASE WHEN c.ordinal = 0 THEN name ELSE aliases[c.ordinal] END AS name FROM entity
    WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s AND id = c.entity_id OFFSET 0
) e
