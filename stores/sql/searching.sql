-- Finding elements by vector, by text and by name. Results that can have thousands of rows are returned as one row of
-- byte strings, each a column in network byte order, because decoding rows one by one costs more than finding them.

-- nearest exactly --
-- The candidates are the nearest of all vectors by distances in half precision, which take half as long, before the view
-- is applied, which costs as much as several distances and seldom hides anything. They are ranked by their distances to the
-- query as it is given, so that every store gives the same. Returns how many candidates there were as well.
WITH candidate AS MATERIALIZED (
    SELECT id, embedding::vector <=> (SELECT %(vector)s::vector) AS value
    FROM (
        SELECT id, embedding FROM {vectors} v WHERE org_id = %(org)s AND project_id = %(project)s
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
    (SELECT id, embedding::vector <=> %(vector)s::vector AS value FROM {vectors} v
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
FROM {vectors} v WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = ANY(%(found)s::{id}[])

-- locate --
SELECT {hits} FROM (
    SELECT e.id, e.signature, e.importance_weight AS importance, 0 AS value FROM entity e
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND {entity view}
    ORDER BY e.id
) hit

-- lexical --
-- BM25 as in graphsearch.text.bm25. Terms that nearly every document has yield no candidates and have the longest lists:
-- they are added only for those candidates that, with all that these terms could add, are no worse than the last of the
-- best. Sums are rounded, so that equal documents have equal scores in whatever order the terms were added. Sorted before
-- they are joined, no more of the elements are looked up than are returned.
WITH candidate AS MATERIALIZED (
    {scored} HAVING bool_or(q.term = ANY(%(chosen)s::text[]))
), least AS MATERIALIZED (
    SELECT CASE WHEN count(*) = %(limit)s THEN min(value) - %(most_added)s::float8 ELSE 0 END AS value
    FROM (
        SELECT s.value FROM (SELECT * FROM candidate ORDER BY value DESC OFFSET 0) s
        JOIN {kind} e ON e.id = s.id
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
        ORDER BY s.value DESC LIMIT %(limit)s
    ) best
), near AS MATERIALIZED (
    SELECT c.id, c.value FROM candidate c JOIN least ON c.value >= least.value
)
SELECT {hits} FROM (
    SELECT e.id, e.signature, {importance} AS importance, s.value
    FROM (
        SELECT id, round(1e9 * sum(value)) / 1e9 AS value FROM (
            SELECT id, value FROM near
            UNION ALL
            SELECT p.id, q.idf * (p.frequency / (p.frequency
                + %(k1)s::float8 * (%(flat)s::float8 + %(b)s::float8 * p.length / %(average)s::float8)))
            FROM unnest(%(common)s::text[], %(common_idf)s::float8[]) q (term, idf)
            JOIN {kind}_posting p ON p.term = q.term
            WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.term = ANY(%(common)s::text[])
                AND p.id IN (SELECT id FROM near)
        ) parts
        GROUP BY id ORDER BY value DESC, id OFFSET 0
    ) s
    JOIN {kind} e ON e.id = s.id
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
    ORDER BY s.value DESC, s.id LIMIT %(limit)s
) hit

-- lexical by candidates --
-- The same where every term yields candidates: their sums are the scores.
SELECT {hits} FROM (
    SELECT e.id, e.signature, {importance} AS importance, s.value
    FROM (
        {scored} ORDER BY value DESC, id OFFSET 0
    ) s
    JOIN {kind} e ON e.id = s.id
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
    ORDER BY s.value DESC, s.id LIMIT %(limit)s
) hit

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
FROM ({named}) n
GROUP BY n.place, n.name, n.id
ORDER BY n.id, n.place

-- find words --
SELECT wanted.word, p.entity_id, p.ordinal > 0
FROM unnest(%(words)s::text[], %(terms)s::text[]) wanted (word, term)
CROSS JOIN LATERAL (
    SELECT entity_id, ordinal FROM name_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND term = wanted.term AND size = 0
    ORDER BY entity_id LIMIT %(limit)s
) p

-- find beginnings --
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
SELECT c.place, c.entity_id, l.names[c.ordinal + 1]
FROM candidate c
CROSS JOIN LATERAL (
    SELECT names FROM entity_lookup WHERE org_id = %(org)s AND project_id = %(project)s AND id = c.entity_id OFFSET 0
) l
