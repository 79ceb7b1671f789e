-- What searches and walks. They answer in columns: one row of byte strings, each the values of one column in network
-- order, because decoding thousands of rows one by one costs more than finding them.

-- entity ids --
coalesce(string_agg(uuid_send(id), ''), '')

-- relation ids --
{entity ids}

-- memory ids --
-- Texts, which hold no NUL and are not empty.
coalesce(string_agg(textsend(id), '\x00'::bytea), '')

-- columns of hits --
SELECT
    {ids},
    coalesce(string_agg(int8send(signature), ''), ''),
    coalesce(string_agg(float8send(value), ''), ''),
    coalesce(string_agg(float8send(importance), ''), '')
FROM ({found}) found

-- vectors waiting --
(
    SELECT org_id, project_id, id, embedding, settled FROM entity_embedding
    UNION ALL
    SELECT org_id, project_id, id, embedding, false FROM entity WHERE embedding IS NOT NULL
)

-- nearest exactly --
-- Distances are of the query as it is, not rounded to float16: every store then gives the same.
SELECT e.id, e.signature, {importance} AS importance, v.embedding::vector <=> %(vector)s::vector AS value
FROM {vectors} v
JOIN {kind} e ON (e.org_id, e.project_id, e.id) = (v.org_id, v.project_id, v.id)
WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND {view}
ORDER BY value, e.id LIMIT %(limit)s

-- nearest by index --
SELECT * FROM (
    (SELECT e.id, e.signature, {importance} AS importance, v.embedding::vector <=> %(vector)s::vector AS value
    FROM {kind}_embedding v
    JOIN {kind} e ON (e.org_id, e.project_id, e.id) = (v.org_id, v.project_id, v.id)
    WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.dimensions = {dimensions} AND v.settled AND {view}
    ORDER BY v.embedding::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) LIMIT %(limit)s)
    UNION ALL
    (SELECT e.id, e.signature, {importance} AS importance, v.embedding::vector <=> %(vector)s::vector AS value
    FROM {vectors} v
    JOIN {kind} e ON (e.org_id, e.project_id, e.id) = (v.org_id, v.project_id, v.id)
    WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND NOT v.settled AND {view}
    ORDER BY value, e.id LIMIT %(limit)s)
) nearest
ORDER BY value, id LIMIT %(limit)s

-- vectors by key --
-- Of one length, each as it is sent: two numbers of two bytes, its length and nothing, then its numbers.
SELECT {ids}, coalesce(string_agg(vector_send(v.embedding::vector), ''), '')
FROM {vectors} v WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = ANY(%(found)s::{id}[])

-- document frequencies --
SELECT term, documents FROM term
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND term = ANY(%(terms)s::text[])

-- documents with all --
-- Of each group the documents of its rarest term are looked up in the postings of the others.
WITH asked AS MATERIALIZED (
    SELECT a.place, a.term, coalesce(t.documents, 0) AS documents
    FROM unnest(%(groups)s::integer[], %(terms)s::text[]) a (place, term)
    LEFT JOIN term t ON t.org_id = %(org)s AND t.project_id = %(project)s AND t.kind = %(kind)s AND t.term = a.term
), rarest AS MATERIALIZED (
    SELECT DISTINCT ON (place) place, term FROM asked ORDER BY place, documents, term
)
SELECT r.place, (
    SELECT count(*) FROM {kind}_posting p
    WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.term = r.term AND NOT EXISTS (
        SELECT FROM asked a WHERE a.place = r.place AND a.term <> r.term AND NOT EXISTS (
            SELECT FROM {kind}_posting o
            WHERE o.org_id = %(org)s AND o.project_id = %(project)s AND o.term = a.term AND o.id = p.id
        )
    )
)
FROM rarest r

-- lexical --
-- BM25 as graphsearch.text.bm25. Terms that are everywhere make no candidates and have the longest lists: they are
-- added up for those candidates alone that are, with all that these terms could add, no worse than the last of the best.
-- Sums are rounded, so that equal documents have equal scores in whatever order the terms were added up. Sorted
-- before they are joined, no more of the elements are looked up than are shown.
WITH candidate AS MATERIALIZED (
    {candidates} HAVING bool_or(q.term = ANY(%(candidates)s::text[]))
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
SELECT e.id, e.signature, {importance} AS importance, s.value
FROM (
    SELECT id, round(1e9 * sum(value)) / 1e9 AS value FROM (
        SELECT id, value FROM near
        UNION ALL
        SELECT p.id, {weight}
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

-- lexical by candidates --
-- The same where no term is everywhere: candidates are all there is, and their sums the scores.
SELECT e.id, e.signature, {importance} AS importance, s.value
FROM (SELECT * FROM ({candidates}) candidate ORDER BY value DESC, id OFFSET 0) s
JOIN {kind} e ON e.id = s.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
ORDER BY s.value DESC, s.id LIMIT %(limit)s

-- candidates --
SELECT p.id, round(1e9 * sum({weight})) / 1e9 AS value
FROM unnest(%(terms)s::text[], %(idf)s::float8[]) q (term, idf)
JOIN (
    SELECT term, id, frequency, length FROM {kind}_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND term = ANY(%(candidates)s::text[])
    UNION ALL
    SELECT * FROM unnest(%(new_terms)s::text[], %(new_ids)s::{id}[], %(new_frequencies)s::float8[], %(new_lengths)s::float8[])
) p ON p.term = q.term
GROUP BY p.id

-- weight --
q.idf * (p.frequency / (p.frequency
    + %(k1)s::float8 * (%(flat)s::float8 + %(b)s::float8 * p.length / %(average)s::float8)))

-- locate --
SELECT e.id, e.signature, e.importance_weight AS importance, 0::float8 AS value
FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND {view}
ORDER BY e.id

-- expand --
-- The rows need no sorting: they come in the order of the frontier, and each side in that of its index. Nor is the table
-- read, but for what the indexes leave out: a thousand rows that lie apart cost more than all else. Nor are the entities
-- that relations lead to, but for those of which the relations do not tell; of these, one that is not in view has no
-- importance: a column more of flags would cost as much as a column of numbers.
SELECT places, ids, fars, traits, confidences, sinces, feedbacks, signatures, others.* FROM (
    SELECT
        string_agg(int8send(CASE WHEN outgoing THEN place ELSE -place END), '') AS places,
        string_agg(uuid_send(e.id), '') AS ids,
        string_agg(uuid_send(far), '') AS fars,
        string_agg(uuid_send(coalesce(traits, '00000000000000000000000000000000')), '') AS traits,
        string_agg(float8send(confidence), '') AS confidences,
        string_agg(timestamptz_send({since}), '') AS sinces,
        string_agg(float8send({feedback}), '') AS feedbacks,
        string_agg(int8send(signature), '') AS signatures,
        array_agg(far) FILTER (WHERE traits IS NULL) AS others
    FROM ({steps}) e
) relations CROSS JOIN LATERAL (
    SELECT
        string_agg(uuid_send(id), ''),
        string_agg(int8send(signature), ''),
        string_agg(float8send(CASE WHEN {entity view} THEN importance_weight ELSE 'NaN' END), '')
    FROM entity e WHERE {here} AND id = ANY(relations.others)
) others

-- here --
-- As the wall says it, but as a value: the wall's expression would be evaluated for every entity of a frontier.
scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s

-- settled steps --
-- The strongest relations of each entity and direction.
SELECT f.place, x.* FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place)
CROSS JOIN LATERAL (
    (SELECT true AS outgoing, e.target_id AS far, e.target_traits AS traits, e.weight, {walked}
    FROM relation e
    WHERE {here} AND e.settled AND e.source_id = f.id AND {seen}
    ORDER BY e.weight DESC, e.id LIMIT %(limit)s)
    UNION ALL
    (SELECT false, e.source_id, e.source_traits, e.weight, {walked}
    FROM relation e
    WHERE {here} AND e.settled AND e.target_id = f.id AND {seen}
    ORDER BY e.weight DESC, e.id LIMIT %(limit)s)
) x

-- all steps --
-- The same where relations may be unsettled: those are read once for the whole frontier.
SELECT * FROM (
    SELECT *, row_number() OVER (PARTITION BY place, outgoing ORDER BY weight DESC, id) AS rank FROM (
        {settled steps}
        UNION ALL
        SELECT f.place, true, e.target_id, e.target_traits, e.weight, {walked}
        FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.source_id = f.id
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled AND {seen}
        UNION ALL
        SELECT f.place, false, e.source_id, e.source_traits, e.weight, {walked}
        FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.target_id = f.id
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled AND {seen}
    ) met
) ranked
WHERE rank <= %(limit)s ORDER BY place, outgoing DESC, rank

-- met --
e.id, e.confidence, e.signature, e.learned, e.supported_at, e.valid_from, e.created_at

-- feedback --
CASE WHEN e.learned THEN (
    SELECT r.feedback_weight FROM relation r
    WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
) ELSE 0.5 END

-- since --
coalesce(
    CASE WHEN e.supported_at <= %(as_of)s THEN e.supported_at
    WHEN e.supported_at > %(as_of)s THEN (
        SELECT max(m.occurred_at)
        FROM relation r
        CROSS JOIN LATERAL unnest(r.evidence) v (memory_id)
        JOIN memory m ON (m.org_id, m.project_id, m.id) = (r.org_id, r.project_id, v.memory_id)
        WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id AND m.occurred_at <= %(as_of)s
    ) END,
    e.valid_from, e.created_at
)

-- left out --
SELECT reason, count(*) FROM (
    SELECT DISTINCT e.id, CASE
        WHEN e.created_at > %(known_at)s OR e.retracted_at <= %(known_at)s THEN 'not_known'
        WHEN NOT {refolded} AND (e.valid_from > %(as_of)s OR e.valid_to <= %(since)s) THEN 'not_held'
        WHEN NOT {refolded} AND e.confidence < %(least)s THEN 'low_confidence'
        WHEN {skipped} THEN 'skipped_type'
        WHEN NOT {only} THEN 'other_type'
    END AS reason
    FROM ({steps}) e
) reasons
WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason

-- looked at --
e.id, e.created_at, e.retracted_at, e.valid_from, e.valid_to, e.confidence, e.type_hash, e.signature
