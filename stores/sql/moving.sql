-- A scope as records, read page by page in order of key, and loaded into an empty scope.

-- number of rows --
SELECT count(*) FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s

-- stored entities --
SELECT {entity columns}, e.given_type, nullif(e.given_aliases, '{}') AS given_aliases, e.named, w.words,
    s.content AS signature, halfvec_send(coalesce(e.embedding, v.embedding)) AS vector
FROM entity e
LEFT JOIN entity_words w ON w.org_id = %(org)s AND w.project_id = %(project)s AND w.id = e.id
LEFT JOIN signature s ON s.org_id = %(org)s AND s.project_id = %(project)s AND s.code = e.signature
LEFT JOIN entity_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = e.id
WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])
ORDER BY e.id

-- stored memories --
SELECT {memory columns}, e.merges, halfvec_send(v.embedding) AS vector
FROM memory e
LEFT JOIN memory_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = e.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::text[])
ORDER BY e.id

-- stored relations --
SELECT {relation columns}, e.folded, e.lapsed_at, e.original_source_id, e.original_target_id,
    s.content AS signature, halfvec_send(v.embedding) AS vector
FROM relation e
LEFT JOIN signature s ON s.org_id = %(org)s AND s.project_id = %(project)s AND s.code = e.signature
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = e.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[])
ORDER BY e.id

-- page of ids --
SELECT {key} FROM {table}
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::{id} IS NULL OR {key} > %(after)s::{id})
ORDER BY {key} LIMIT %(limit)s

-- page --
SELECT * FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND {key} > %(after)s ORDER BY {key} LIMIT %(limit)s

-- outcomes of kind --
SELECT element_id, session_id, seq, outcome FROM outcome
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND element_id = ANY(%(ids)s::text[])
ORDER BY element_id, seq

-- codes there --
SELECT code FROM signature WHERE org_id = %(org)s AND project_id = %(project)s AND code = ANY(%(codes)s::bigint[])

-- page of pairs --
SELECT low_id, high_id FROM distinct_pair
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (%(low)s::uuid IS NULL OR (low_id, high_id) > (%(low)s::uuid, %(high)s::uuid))
ORDER BY low_id, high_id LIMIT %(limit)s

-- page of links --
SELECT from_id, to_id, type, created_at FROM memory_link
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (%(from)s::text IS NULL OR (from_id, to_id, type) > (%(from)s, %(to)s, %(type)s))
ORDER BY from_id, to_id, type LIMIT %(limit)s

-- occupied --
SELECT EXISTS (SELECT FROM entity WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM memory WHERE org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM merge WHERE org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM session WHERE org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM proposal WHERE org_id = %(org)s AND project_id = %(project)s)

-- load settings --
UPDATE scope SET alpha = %(alpha)s, embedder = %(embedder)s, dimensions = %(dimensions)s, merges = %(merges)s, shares = false,
    id_key = %(id_key)s, next_embedder = NULL, next_dimensions = NULL
WHERE org_id = %(org)s AND project_id = %(project)s

-- load merges --
INSERT INTO merge (org_id, project_id, id, number, source_id, target_id, created_at, mentions, claims, relations, held, undone_at)
SELECT %(org)s, %(project)s, id, number, source_id, target_id, created_at, mentions, claims, relations, held, undone_at
FROM incoming_merge
RETURNING 1

-- load entities --
INSERT INTO entity (org_id, project_id, id, {entity written}, given_aliases, outcomes, scope_hash)
SELECT %(org)s, %(project)s, i.id, {entity written}, given_aliases, outcomes, %(scope)s
FROM incoming_entity i JOIN incoming_entity_origin g ON g.id = i.id
RETURNING 1

-- load memories --
INSERT INTO memory (org_id, project_id, id, {memory written}, outcomes, merges)
SELECT %(org)s, %(project)s, i.id, {memory written}, outcomes, merges
FROM incoming_memory i JOIN incoming_memory_origin g ON g.id = i.id
RETURNING 1

-- load relations --
INSERT INTO relation (org_id, project_id, id, {relation written}, settled, outcomes, lapsed_at, original_source_id, original_target_id)
SELECT %(org)s, %(project)s, i.id, {relation written}, %(settled)s, outcomes, lapsed_at, original_source_id, original_target_id
FROM incoming_relation i JOIN incoming_relation_origin g ON g.id = i.id
RETURNING 1

-- load outcomes --
INSERT INTO outcome (org_id, project_id, kind, element_id, session_id, seq, outcome)
SELECT %(org)s, %(project)s, %(kind)s, element_id, session_id, seq, outcome
FROM unnest(%(ids)s::text[], %(sessions)s::text[], %(seqs)s::integer[], %(outcomes)s::float8[])
    given (element_id, session_id, seq, outcome)
RETURNING 1

-- load sessions --
INSERT INTO session (org_id, project_id, id, principal)
SELECT %(org)s, %(project)s, id, principal FROM unnest(%(ids)s::text[], %(principals)s::text[]) given (id, principal)
RETURNING 1

-- load injections --
INSERT INTO injection (org_id, project_id, id, session_id, principal, created_at, tokens, element_kinds, element_ids)
SELECT %(org)s, %(project)s, id, session_id, principal, created_at, tokens, element_kinds, element_ids
FROM incoming_injection
RETURNING 1
