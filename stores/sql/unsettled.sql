-- What a bulk write leaves for later, how it is read until then, and how it is settled. A write of many new elements
-- does not enter them where they would be found faster, because that costs more than writing the rows themselves:
--
--   what is deferred                        how it is recorded                        settled by
--   documents and name postings             tally.behind of the kind, and no row in   "undocumented …", then as any write
--                                           …_document; "fall behind" sets it
--   relations in the indexes of walks,      relation.settled = false                  "settle relations"
--   and the columns of their ends
--   an entity's vector in entity_embedding, entity.embedding IS NOT NULL              "move vectors", "moved vectors"
--   and its name in the index of names
--   vectors in the index of a large scope   …_embedding.generation, not below that    index.vector_index
--                                           of vector_index
--
-- Until then these statements read them row by row; answers are the same. Vectors stay unsettled in a scope that is searched
-- exactly. graphsearch.stores.in_postgres.index.indexing decides what is deferred and when it is settled.

-- fall behind --
INSERT INTO tally AS t (org_id, project_id, kind, behind) VALUES (%(org)s, %(project)s, '{kind}', %(behind)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET behind = excluded.behind WHERE t.behind <> excluded.behind

-- undocumented entity --
-- The texts that graphsearch.text.bm25.searchable_text makes, and the words that entities are found by in addition.
SELECT e.id, array_to_string(e.name || e.aliases || e.description, E'\n') AS text, coalesce((
    SELECT w.words FROM entity_words w
    WHERE w.org_id = %(org)s AND w.project_id = %(project)s AND w.id = e.id
), '{}') AS words FROM (
    SELECT id FROM entity WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM entity_document WHERE org_id = %(org)s AND project_id = %(project)s
    LIMIT %(limit)s
) missing
JOIN entity e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s

-- undocumented relation --
SELECT e.id, e.fact AS text, '{}'::jsonb AS words FROM (
    SELECT id FROM relation WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM relation_document WHERE org_id = %(org)s AND project_id = %(project)s
    LIMIT %(limit)s
) missing
JOIN relation e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s

-- undocumented memory --
SELECT e.id, concat_ws(
    E'\n', e.subject, e.speaker, e.text, to_char(e.occurred_at AT TIME ZONE 'UTC', 'FMDD FMMonth FMYYYY')
) AS text, '{}'::jsonb AS words FROM (
    SELECT id FROM memory WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM memory_document WHERE org_id = %(org)s AND project_id = %(project)s
    LIMIT %(limit)s
) missing
JOIN memory e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s

-- unnamed --
-- The names of entities that have no name postings yet.
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

-- find names unsettled --
-- As "find names"; the unsettled entities are read once for all the names.
WITH wanted AS (
    SELECT * FROM unnest(%(names)s::text[], %(folded)s::text[], %(hashes)s::bigint[]) WITH ORDINALITY a (name, folded, hash, place)
)
SELECT n.name, n.id, bool_and(n.alias) AS alias
FROM (
    SELECT wanted.place, wanted.name, x.id, x.alias FROM wanted CROSS JOIN LATERAL (
        SELECT e.id, false AS alias FROM entity e
        WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.embedding IS NULL
            AND e.name_hash = wanted.hash AND e.folded_name = wanted.folded AND (e.merged_into IS NULL OR NOT EXISTS (
                SELECT FROM merge m
                WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
            ))
        UNION ALL
        SELECT entity_id, true FROM entity_alias
        WHERE org_id = %(org)s AND project_id = %(project)s AND hash = wanted.hash AND name = wanted.folded
    ) x
    UNION ALL
    SELECT wanted.place, wanted.name, e.id, false
    FROM wanted JOIN entity e ON e.name_hash = wanted.hash AND e.folded_name = wanted.folded
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.embedding IS NOT NULL
        AND (e.merged_into IS NULL OR NOT EXISTS (
            SELECT FROM merge m
            WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
        ))
) n
GROUP BY n.place, n.name, n.id
ORDER BY n.id, n.place

-- unsettled entities nearest exactly --
-- As "nearest exactly", and the vectors in the rows of entities.
WITH candidate AS MATERIALIZED (
    SELECT id, embedding::vector <=> %(vector)s::vector AS value FROM (
        SELECT org_id, project_id, id, embedding FROM entity_embedding
        UNION ALL
        SELECT org_id, project_id, id, embedding FROM entity WHERE embedding IS NOT NULL
    ) v
    WHERE org_id = %(org)s AND project_id = %(project)s
    ORDER BY value, id LIMIT %(candidates)s
)
SELECT
    {entity ids},
    coalesce(string_agg(int8send(signature), ''), ''),
    coalesce(string_agg(float8send(value), ''), ''),
    coalesce(string_agg(float8send(importance), ''), ''),
    (SELECT count(*) FROM candidate)
FROM (
    SELECT e.id, e.signature, e.importance_weight AS importance, c.value
    FROM candidate c JOIN entity e ON e.id = c.id
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {entity view}
    ORDER BY c.value, e.id LIMIT %(limit)s
) hit

-- unsettled entities nearest by index --
-- As "nearest by index", and the vectors in the rows of entities.
WITH indexed AS MATERIALIZED (
    SELECT id, embedding::vector <=> %(vector)s::vector AS value FROM entity_embedding_part
    WHERE part = %(part)s AND org_id = %(org)s AND project_id = %(project)s
    ORDER BY embedding::halfvec(%(dimensions)s) <=> %(vector)s::halfvec(%(dimensions)s) LIMIT %(candidates)s
), candidate AS MATERIALIZED (
    SELECT id, value FROM indexed
    UNION ALL
    (SELECT id, embedding::vector <=> %(vector)s::vector AS value FROM (
        SELECT org_id, project_id, id, embedding FROM entity_embedding WHERE generation >= %(generation)s
        UNION ALL
        SELECT org_id, project_id, id, embedding FROM entity WHERE embedding IS NOT NULL
    ) v
    WHERE org_id = %(org)s AND project_id = %(project)s
    ORDER BY value, id LIMIT %(candidates)s)
)
SELECT
    {entity ids},
    coalesce(string_agg(int8send(signature), ''), ''),
    coalesce(string_agg(float8send(value), ''), ''),
    coalesce(string_agg(float8send(importance), ''), ''),
    (SELECT count(*) FROM indexed),
    (SELECT count(*) FROM indexed WHERE value <= max(hit.value))
FROM (
    SELECT e.id, e.signature, e.importance_weight AS importance, c.value
    FROM candidate c JOIN entity e ON e.id = c.id
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {entity view}
    ORDER BY c.value, e.id LIMIT %(limit)s
) hit

-- unsettled vectors by key --
SELECT {entity ids}, coalesce(string_agg(vector_send(v.embedding::vector), ''), '')
FROM (
    SELECT org_id, project_id, id, embedding FROM entity_embedding
    UNION ALL
    SELECT org_id, project_id, id, embedding FROM entity WHERE embedding IS NOT NULL
) v
WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = ANY(%(found)s::uuid[])

-- expand unsettled --
-- As "expand"; the unsettled relations are read once for the whole frontier, and ranked among the settled ones.
SELECT places, ids, fars, far_columns, confidences, sinces, feedbacks, signatures, others.* FROM (
    SELECT
        string_agg(int8send(CASE WHEN outgoing THEN place ELSE -place END), '') AS places,
        string_agg(uuid_send(e.id), '') AS ids,
        string_agg(uuid_send(far), '') AS fars,
        string_agg(uuid_send(coalesce(far_columns, '00000000000000000000000000000000')), '') AS far_columns,
        string_agg(float8send(confidence), '') AS confidences,
        string_agg(timestamptz_send({since}), '') AS sinces,
        string_agg(float8send(CASE WHEN e.learned THEN (
            SELECT r.feedback_weight FROM relation r
            WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
        ) ELSE 0.5 END), '') AS feedbacks,
        string_agg(int8send(signature), '') AS signatures,
        array_agg(far) FILTER (WHERE far_columns IS NULL) AS others
    FROM (
        SELECT * FROM (
            SELECT *, row_number() OVER (PARTITION BY place, outgoing ORDER BY weight DESC, id) AS rank FROM (
                SELECT f.place, x.* FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place)
                CROSS JOIN LATERAL (
                    (SELECT true AS outgoing, e.target_id AS far, e.target_columns AS far_columns, e.weight,
                        e.id, e.confidence, e.signature, e.learned, e.supported_at, e.valid_from, e.created_at
                    FROM relation e
                    WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
                        AND e.settled AND e.source_id = f.id AND {relation view}
                    ORDER BY e.weight DESC, e.id LIMIT %(limit)s)
                    UNION ALL
                    (SELECT false, e.source_id, e.source_columns, e.weight,
                        e.id, e.confidence, e.signature, e.learned, e.supported_at, e.valid_from, e.created_at
                    FROM relation e
                    WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
                        AND e.settled AND e.target_id = f.id AND {relation view}
                    ORDER BY e.weight DESC, e.id LIMIT %(limit)s)
                ) x
                UNION ALL
                SELECT f.place, true, e.target_id, e.target_columns, e.weight,
                    e.id, e.confidence, e.signature, e.learned, e.supported_at, e.valid_from, e.created_at
                FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.source_id = f.id
                WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled AND {relation view}
                UNION ALL
                SELECT f.place, false, e.source_id, e.source_columns, e.weight,
                    e.id, e.confidence, e.signature, e.learned, e.supported_at, e.valid_from, e.created_at
                FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.target_id = f.id
                WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled AND {relation view}
            ) met
        ) ranked
        WHERE rank <= %(limit)s ORDER BY place, outgoing DESC, rank
    ) e
) relations CROSS JOIN LATERAL (
    SELECT
        string_agg(uuid_send(id), ''),
        string_agg(int8send(signature), ''),
        string_agg(float8send(CASE WHEN {entity view} THEN importance_weight ELSE 'NaN' END), '')
    FROM entity e
    WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s AND id = ANY(relations.others)
) others

-- left out unsettled --
SELECT reason, count(*) FROM (
    SELECT DISTINCT e.id, CASE
        WHEN e.retracted_at <= %(known_at)s THEN 'not_known'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND e.created_at > %(known_at)s THEN 'not_known'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND (e.valid_from > %(as_of)s OR e.valid_to <= %(since)s) THEN 'not_held'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND e.confidence < %(least)s THEN 'low_confidence'
        WHEN e.type = ANY(%(skipped)s::text[]) THEN 'skipped_type'
        WHEN cardinality(%(only)s::text[]) > 0 AND e.type <> ALL(%(only)s::text[]) THEN 'other_type'
    END AS reason
    FROM (
        SELECT e.*, row_number() OVER (PARTITION BY place, outgoing ORDER BY weight DESC, id) AS rank FROM (
            SELECT f.place, x.* FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place)
            CROSS JOIN LATERAL (
                (SELECT true AS outgoing,
                    e.weight, e.id, e.created_at, e.retracted_at, e.valid_from, e.valid_to, e.confidence, e.type, e.signature
                FROM relation e
                WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
                    AND e.settled AND e.source_id = f.id
                ORDER BY e.weight DESC, e.id LIMIT %(limit)s)
                UNION ALL
                (SELECT false,
                    e.weight, e.id, e.created_at, e.retracted_at, e.valid_from, e.valid_to, e.confidence, e.type, e.signature
                FROM relation e
                WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
                    AND e.settled AND e.target_id = f.id
                ORDER BY e.weight DESC, e.id LIMIT %(limit)s)
            ) x
            UNION ALL
            SELECT f.place, true,
                e.weight, e.id, e.created_at, e.retracted_at, e.valid_from, e.valid_to, e.confidence, e.type, e.signature
            FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.source_id = f.id
            WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled
            UNION ALL
            SELECT f.place, false,
                e.weight, e.id, e.created_at, e.retracted_at, e.valid_from, e.valid_to, e.confidence, e.type, e.signature
            FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.target_id = f.id
            WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled
        ) e
    ) e
    WHERE rank <= %(limit)s
) reasons
WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason

-- settling --
-- Until the tables are analysed again the planner underestimates nested loops.
SET LOCAL enable_nestloop = off

-- settle relations --
-- In the order in which they are stored.
UPDATE relation r SET settled = true,
    source_columns = ({endpoint} AND n.id = r.source_id), target_columns = ({endpoint} AND n.id = r.target_id)
WHERE org_id = %(org)s AND project_id = %(project)s AND ctid = ANY(ARRAY(
    SELECT ctid FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled LIMIT %(limit)s
))

-- unmoved vectors --
SELECT id FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND embedding IS NOT NULL
    AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))
LIMIT %(limit)s

-- move vectors --
INSERT INTO entity_embedding (org_id, project_id, id, dimensions, embedding, generation)
SELECT org_id, project_id, id, %(dimensions)s, embedding, %(generation)s FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) ORDER BY id

-- moved vectors --
UPDATE entity SET embedding = NULL
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])
