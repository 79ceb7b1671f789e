-- A scope as records, read page by page in order of key, and loaded into an empty scope.

-- record counts --
-- In the order of graphsearch.model.stored.RecordKind; then mentions, claims and outcomes.
SELECT
    (SELECT count(*) FROM relation_type WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM counter WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM merge WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM entity WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM memory WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM relation WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM distinct_pair WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM memory_link WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM community WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM session WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM injection WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM mention WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM claim WHERE org_id = %(org)s AND project_id = %(project)s),
    (SELECT count(*) FROM outcome WHERE org_id = %(org)s AND project_id = %(project)s)

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
SELECT id FROM {kind}
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::{id} IS NULL OR id > %(after)s::{id})
ORDER BY id LIMIT %(limit)s

-- page of entity ids --
SELECT id FROM entity
WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s
    AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
ORDER BY id LIMIT %(limit)s

-- outcomes of kind --
SELECT element_id, session_id, seq, outcome FROM outcome
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND element_id = ANY(%(ids)s::text[])
ORDER BY element_id, seq

-- codes there --
SELECT code FROM signature WHERE org_id = %(org)s AND project_id = %(project)s AND code = ANY(%(codes)s::bigint[])

-- page of types --
SELECT name, prior, half_life_days, hop_scores, functional, causal, skip, state FROM relation_type
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::text IS NULL OR name > %(after)s)
ORDER BY name LIMIT %(limit)s

-- page of counters --
SELECT name, number FROM counter
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::text IS NULL OR name > %(after)s)
ORDER BY name LIMIT %(limit)s

-- page of merges --
SELECT id, source_id, target_id, created_at, mentions, claims, relations, undone_at, number, held FROM merge
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::integer IS NULL OR number > %(after)s)
ORDER BY number LIMIT %(limit)s

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

-- page of community ids --
SELECT id FROM community
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::uuid IS NULL OR id > %(after)s::uuid)
ORDER BY id LIMIT %(limit)s

-- page of sessions --
SELECT id, principal FROM session
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::text IS NULL OR id > %(after)s)
ORDER BY id LIMIT %(limit)s

-- page of injections --
SELECT id, session_id, principal, created_at, tokens, element_kinds, element_ids FROM injection
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(after)s::text IS NULL OR id > %(after)s)
ORDER BY id LIMIT %(limit)s

-- occupied --
SELECT EXISTS (SELECT FROM entity WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM memory WHERE org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM merge WHERE org_id = %(org)s AND project_id = %(project)s)
    OR EXISTS (SELECT FROM session WHERE org_id = %(org)s AND project_id = %(project)s)

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
INSERT INTO entity (org_id, project_id, id, type, given_type, name, folded_name, name_hash, description, aliases, given_aliases,
    named, labels, attributes, importance_weight, feedback_weight, outcomes, valid_from, valid_to, created_at, merged_into,
    signature, scope_hash)
SELECT %(org)s, %(project)s, i.id, i.type, i.given_type, i.name, i.folded_name, i.name_hash, i.description, i.aliases,
    g.given_aliases, i.named, i.labels, i.attributes, i.importance_weight, i.feedback_weight, g.outcomes, i.valid_from, i.valid_to,
    i.created_at, i.merged_into, i.signature, %(scope)s
FROM incoming_entity i JOIN incoming_entity_origin g ON g.id = i.id
RETURNING 1

-- load memories --
INSERT INTO memory (org_id, project_id, id, text, subject, speaker, session_id, position, occurred_at, source, labels,
    attributes, feedback_weight, outcomes, created_at, signature, merges)
SELECT %(org)s, %(project)s, i.id, i.text, i.subject, i.speaker, i.session_id, i.position, i.occurred_at, i.source, i.labels,
    i.attributes, i.feedback_weight, g.outcomes, i.created_at, i.signature, g.merges
FROM incoming_memory i JOIN incoming_memory_origin g ON g.id = i.id
RETURNING 1

-- load relations --
INSERT INTO relation (org_id, project_id, id, source_id, type, target_id, valid_from, valid_to, fact, kind,
    confidence, weight, labels, attributes, feedback_weight, outcomes, evidence, supported_at, created_at, retracted_at, folded,
    signature, settled, source_columns, target_columns, lapsed_at, original_source_id, original_target_id)
SELECT %(org)s, %(project)s, i.id, i.source_id, i.type, i.target_id, i.valid_from, i.valid_to, i.fact, i.kind,
    i.confidence, i.weight, i.labels, i.attributes, i.feedback_weight, g.outcomes, i.evidence, i.supported_at, i.created_at,
    i.retracted_at, i.folded, i.signature, %(settled)s, i.source_columns, i.target_columns, g.lapsed_at, g.original_source_id,
    g.original_target_id
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
