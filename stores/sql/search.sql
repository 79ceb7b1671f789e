-- What searches and walks. They answer in columns: one row of byte strings, each the values of one column in network
-- order, because decoding thousands of rows one by one costs more than finding them.

-- columns of ids --
SELECT
    coalesce(string_agg(uuid_send(id), ''::bytea), ''),
    coalesce(string_agg(int8send(signature), ''::bytea), ''),
    coalesce(string_agg(float8send(value), ''::bytea), ''),
    coalesce(string_agg(float8send(importance), ''::bytea), '')
FROM ({found}) found

-- columns of texts --
SELECT
    coalesce(array_agg(id), '{}'),
    coalesce(string_agg(int8send(signature), ''::bytea), ''),
    coalesce(string_agg(float8send(value), ''::bytea), ''),
    coalesce(string_agg(float8send(importance), ''::bytea), '')
FROM ({found}) found

-- nearest exactly --
-- Distances are of the query as it is, not rounded to float16: every store then gives the same.
SELECT e.id, e.signature, {importance} AS importance, v.embedding::vector <=> %(vector)s::vector AS value
FROM {kind}_embedding v
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
    FROM {kind}_embedding v
    JOIN {kind} e ON (e.org_id, e.project_id, e.id) = (v.org_id, v.project_id, v.id)
    WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND NOT v.settled AND {view}
    ORDER BY value, e.id LIMIT %(limit)s)
) nearest
ORDER BY value, id LIMIT %(limit)s

-- document frequencies --
SELECT term, documents FROM term
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND term = ANY(%(terms)s::text[])

-- lexical --
-- BM25 as graphsearch.scoring.lexical: the sum of idf × f / (f + constant + slope × length).
SELECT e.id, e.signature, {importance} AS importance, s.value
FROM (
    SELECT p.id,
        -- rounded, so that equal documents have equal scores in whatever order the terms were added up
        round(1e9 * sum(q.idf * (p.frequency / (p.frequency
            + %(k1)s::float8 * (%(flat)s::float8 + %(b)s::float8 * p.length / %(average)s::float8))))) / 1e9 AS value
    FROM unnest(%(terms)s::text[], %(idf)s::float8[]) q (term, idf)
    JOIN (
        SELECT term, id, frequency, length FROM {kind}_posting
        WHERE org_id = %(org)s AND project_id = %(project)s AND term = ANY(%(terms)s::text[])
        UNION ALL
        SELECT * FROM unnest(%(new_terms)s::text[], %(new_ids)s::{id}[], %(new_frequencies)s::integer[], %(new_lengths)s::integer[])
    ) p ON p.term = q.term
    GROUP BY p.id
    HAVING bool_or(q.term = ANY(%(candidates)s::text[]))
) s
JOIN {kind} e ON e.id = s.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
ORDER BY s.value DESC, e.id LIMIT %(limit)s

-- locate --
SELECT e.id, e.signature, e.importance_weight AS importance, 0::float8 AS value
FROM entity e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND {view}
ORDER BY e.id

-- expand --
-- The rows need no sorting: they come in the order of the frontier, and each side in that of its index. Nor is the table
-- read, but for what the indexes leave out: a thousand rows that lie apart cost more than all else.
SELECT places, ids, fars, confidences, sinces, feedbacks, signatures, far_ends.* FROM (
    SELECT
        coalesce(string_agg(int8send(CASE WHEN outgoing THEN place ELSE -place END), ''::bytea), '') AS places,
        coalesce(string_agg(uuid_send(x.id), ''::bytea), '') AS ids,
        coalesce(string_agg(uuid_send(far), ''::bytea), '') AS fars,
        coalesce(string_agg(float8send(confidence), ''::bytea), '') AS confidences,
        coalesce(string_agg(timestamptz_send(since), ''::bytea), '') AS sinces,
        coalesce(string_agg(float8send(feedback), ''::bytea), '') AS feedbacks,
        coalesce(string_agg(int8send(signature), ''::bytea), '') AS signatures,
        array_agg(far) AS far_ids
    FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place)
    CROSS JOIN LATERAL (
        (SELECT true AS outgoing, e.id, e.target_id AS far, e.confidence, {feedback} AS feedback, e.signature, {since} AS since
        FROM relation e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.source_id = f.id AND {view}
        ORDER BY e.weight DESC, e.id LIMIT %(fan_out)s)
        UNION ALL
        (SELECT false, e.id, e.source_id, e.confidence, {feedback}, e.signature, {since}
        FROM relation e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.target_id = f.id AND {view}
        ORDER BY e.weight DESC, e.id LIMIT %(fan_out)s)
    ) x
) relations CROSS JOIN LATERAL (
    SELECT
        coalesce(string_agg(uuid_send(id), ''::bytea), ''),
        coalesce(string_agg(int8send(signature), ''::bytea), ''),
        coalesce(string_agg(float8send(importance_weight), ''::bytea), ''),
        coalesce(string_agg(boolsend({entity view}), ''::bytea), '')
    FROM (
        SELECT id, signature, importance_weight, valid_from, valid_to, created_at, merged_into FROM entity
        WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(relations.far_ids)
        ORDER BY id
    ) e
) far_ends

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
        WHEN e.valid_from > %(as_of)s OR e.valid_to <= %(as_of)s THEN 'not_held'
        WHEN e.confidence < %(min_edge_confidence)s THEN 'low_confidence'
        WHEN {skipped} THEN 'skipped_type'
    END AS reason
    FROM unnest(%(frontier)s::uuid[]) f (id)
    CROSS JOIN LATERAL (
        (SELECT {looked at} FROM relation e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.source_id = f.id
        ORDER BY e.weight DESC, e.id LIMIT %(looked_at)s)
        UNION ALL
        (SELECT {looked at} FROM relation e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.target_id = f.id
        ORDER BY e.weight DESC, e.id LIMIT %(looked_at)s)
    ) e
) reasons
WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason

-- looked at --
e.id, e.created_at, e.retracted_at, e.valid_from, e.valid_to, e.confidence, e.type_hash
