-- Writing elements with their mentions and claims. A batch is first copied into temporary tables incoming_…, in the
-- order of an index, which is fastest. An upsert does not write unchanged rows; an insert is for rows that are all new,
-- and fails if one is not.

-- existing --
SELECT id FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- none existing --
SELECT NOT EXISTS (
    SELECT FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])
)

-- missing --
SELECT i.id FROM unnest(%(ids)s::{id}[]) i (id)
WHERE NOT EXISTS (
    SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id
)

-- with other endpoint columns --
SELECT i.id, e.signature,
    (e.type, e.given_type, e.name, e.description, e.given_aliases, e.named, e.labels, e.attributes, e.importance_weight, e.valid_from, e.valid_to,
        e.merged_into)
    IS NOT DISTINCT FROM (i.type, i.given_type, i.name, i.description, i.aliases, i.named, i.labels, i.attributes, i.importance_weight, i.valid_from,
        i.valid_to, i.merged_into)
FROM incoming_entity i
JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id
WHERE (e.signature, e.importance_weight, e.valid_from, e.valid_to, e.merged_into)
    IS DISTINCT FROM (i.signature, i.importance_weight, i.valid_from, i.valid_to, i.merged_into)

-- renamed entities --
-- Those with another name, or merged or separated, and what they were and are merged into.
SELECT unnest(array_remove(ARRAY[e.id, e.merged_into, i.merged_into], NULL)) FROM incoming_entity i
JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id
WHERE (e.name, e.merged_into) IS DISTINCT FROM (i.name, i.merged_into)

-- insert entities --
INSERT INTO entity (org_id, project_id, id, {entity written}, given_aliases, scope_hash)
SELECT %(org)s, %(project)s, id, {entity written}, aliases, %(scope)s FROM incoming_entity
RETURNING 1

-- upsert entities --
INSERT INTO entity AS e (org_id, project_id, id, {entity written}, given_aliases, scope_hash)
SELECT %(org)s, %(project)s, id, {entity written}, aliases, %(scope)s FROM incoming_entity
ON CONFLICT (scope_hash, id, org_id, project_id) DO UPDATE SET
    type = excluded.type, given_type = excluded.given_type,
    name = excluded.name, folded_name = excluded.folded_name, name_hash = excluded.name_hash,
    description = excluded.description, given_aliases = excluded.given_aliases, named = excluded.named, labels = excluded.labels,
    attributes = excluded.attributes, importance_weight = excluded.importance_weight, valid_from = excluded.valid_from,
    valid_to = excluded.valid_to, merged_into = excluded.merged_into, signature = excluded.signature
WHERE (e.type, e.given_type, e.name, e.description, e.given_aliases, e.named, e.labels, e.attributes, e.importance_weight, e.valid_from, e.valid_to,
        e.merged_into, e.signature)
    IS DISTINCT FROM (excluded.type, excluded.given_type, excluded.name, excluded.description, excluded.given_aliases, excluded.named, excluded.labels,
        excluded.attributes, excluded.importance_weight, excluded.valid_from, excluded.valid_to, excluded.merged_into,
        excluded.signature)
RETURNING 1

-- memories with another signature --
SELECT i.id, m.signature FROM incoming_memory i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.id
WHERE m.signature <> i.signature

-- moved memories --
SELECT i.id FROM incoming_memory i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.id
WHERE m.occurred_at IS DISTINCT FROM i.occurred_at

-- rewritten memories --
SELECT i.id FROM incoming_memory i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.id
WHERE (m.text, m.subject, m.speaker, m.occurred_at) IS DISTINCT FROM (i.text, i.subject, i.speaker, i.occurred_at)

-- upsert memories --
INSERT INTO memory AS m (org_id, project_id, id, {memory written})
SELECT %(org)s, %(project)s, id, {memory written} FROM incoming_memory
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    text = excluded.text, subject = excluded.subject, speaker = excluded.speaker, session_id = excluded.session_id,
    position = excluded.position, occurred_at = excluded.occurred_at, zone = excluded.zone, source = excluded.source,
    labels = excluded.labels, attributes = excluded.attributes, signature = excluded.signature
WHERE (m.text, m.subject, m.speaker, m.session_id, m.position, m.occurred_at, m.zone, m.source, m.labels, m.attributes,
        m.signature)
    IS DISTINCT FROM (excluded.text, excluded.subject, excluded.speaker, excluded.session_id, excluded.position,
        excluded.occurred_at, excluded.zone, excluded.source, excluded.labels, excluded.attributes, excluded.signature)
RETURNING 1

-- drop mentions --
-- Mentions and claims are numbered within their memory from 0: those from the number that it has now on are gone.
DELETE FROM mention n USING unnest(%(memory_ids)s::text[], %(mentions)s::integer[]) had (memory_id, count)
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.memory_id = ANY(%(memory_ids)s::text[])
    AND n.memory_id = had.memory_id AND n.ordinal >= had.count

-- upsert mentions --
INSERT INTO mention AS n (org_id, project_id, memory_id, ordinal, entity_id, surface, type, surface_hash, span_start, span_end,
    confidence, original_entity_id, created_at, occurred_at, signature)
SELECT %(org)s, %(project)s, i.memory_id, i.ordinal, i.entity_id, i.surface, i.type, i.surface_hash, i.span_start, i.span_end,
    i.confidence, i.original_entity_id, m.created_at, m.occurred_at, m.signature
FROM incoming_mention i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.memory_id
ORDER BY i.memory_id, i.ordinal
ON CONFLICT (org_id, project_id, memory_id, ordinal) DO UPDATE SET
    entity_id = excluded.entity_id, surface = excluded.surface, type = excluded.type, surface_hash = excluded.surface_hash,
    span_start = excluded.span_start, span_end = excluded.span_end, confidence = excluded.confidence,
    original_entity_id = excluded.original_entity_id, occurred_at = excluded.occurred_at, signature = excluded.signature
WHERE (n.entity_id, n.surface, n.type, n.span_start, n.span_end, n.confidence, n.original_entity_id, n.occurred_at, n.signature)
    IS DISTINCT FROM (excluded.entity_id, excluded.surface, excluded.type, excluded.span_start, excluded.span_end, excluded.confidence,
        excluded.original_entity_id, excluded.occurred_at, excluded.signature)

-- drop claims --
DELETE FROM claim n USING unnest(%(memory_ids)s::text[], %(claims)s::integer[]) had (memory_id, count)
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.memory_id = ANY(%(memory_ids)s::text[])
    AND n.memory_id = had.memory_id AND n.ordinal >= had.count

-- upsert claims --
INSERT INTO claim AS n (org_id, project_id, memory_id, ordinal, source_id, type, target_id, confidence, valid_from,
    valid_to, kind, fact, span_start, span_end, extractor, ceiling, original_source_id, original_target_id)
SELECT %(org)s, %(project)s, memory_id, ordinal, source_id, type, target_id, confidence, valid_from,
    valid_to, kind, fact, span_start, span_end, extractor, ceiling, original_source_id, original_target_id
FROM incoming_claim ORDER BY memory_id, ordinal
ON CONFLICT (org_id, project_id, memory_id, ordinal) DO UPDATE SET
    source_id = excluded.source_id, type = excluded.type, target_id = excluded.target_id,
    confidence = excluded.confidence, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
    kind = excluded.kind, fact = excluded.fact, span_start = excluded.span_start, span_end = excluded.span_end,
    extractor = excluded.extractor, ceiling = excluded.ceiling, original_source_id = excluded.original_source_id, original_target_id = excluded.original_target_id
WHERE (n.source_id, n.type, n.target_id, n.confidence, n.valid_from, n.valid_to, n.kind, n.fact, n.span_start, n.span_end,
        n.extractor, n.ceiling, n.original_source_id, n.original_target_id)
    IS DISTINCT FROM (excluded.source_id, excluded.type, excluded.target_id, excluded.confidence, excluded.valid_from,
        excluded.valid_to, excluded.kind, excluded.fact, excluded.span_start, excluded.span_end, excluded.extractor,
        excluded.ceiling, excluded.original_source_id, excluded.original_target_id)

-- groups leading to --
SELECT DISTINCT source_id, type FROM claim
WHERE org_id = %(org)s AND project_id = %(project)s AND target_id = ANY(%(ids)s::uuid[]) AND type = ANY(%(types)s::text[])

-- groups of type --
SELECT DISTINCT source_id, type FROM claim WHERE org_id = %(org)s AND project_id = %(project)s AND type = %(name)s

-- relations folded --
SELECT {relation columns}, e.folded FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND e.folded
    AND EXISTS (SELECT FROM claim c WHERE c.org_id = %(org)s AND c.project_id = %(project)s)

-- relations of groups --
-- The unsettled are joined apart: the planner would read all of a union before it joins it.
SELECT {relation columns}, e.folded FROM (
    SELECT r.* FROM unnest(%(sources)s::uuid[], %(types)s::text[], %(targets)s::uuid[]) g (source_id, type, target_id)
    JOIN relation r ON r.source_id = g.source_id AND r.type = g.type
        AND (g.target_id = '00000000-0000-0000-0000-000000000000' OR r.target_id = g.target_id)
    WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.settled
    UNION ALL
    SELECT r.* FROM unnest(%(sources)s::uuid[], %(types)s::text[], %(targets)s::uuid[]) g (source_id, type, target_id)
    JOIN relation r ON r.source_id = g.source_id AND r.type = g.type
        AND (g.target_id = '00000000-0000-0000-0000-000000000000' OR r.target_id = g.target_id)
    WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND NOT r.settled
) e

-- relations proved --
SELECT {relation columns}, e.folded FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id IN (
    SELECT relation_id FROM evidence
    WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])
)

-- relations touching --
SELECT {relation columns}, e.folded
FROM (SELECT * FROM relation WHERE settled UNION ALL SELECT * FROM relation WHERE NOT settled) e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND (
    e.id = ANY(%(relation_ids)s::uuid[]) OR e.source_id = ANY(%(entity_ids)s::uuid[])
    OR e.target_id = ANY(%(entity_ids)s::uuid[])
)

-- columns of ends --
-- The endpoint columns of entities, for relations that are not older than the entity.
SELECT n.id, encode(int8send(n.signature) || float8send(n.importance_weight), 'hex')::uuid, n.created_at FROM entity n
WHERE n.scope_hash = %(scope)s AND n.org_id = %(org)s AND n.project_id = %(project)s AND n.id = ANY(%(ids)s::uuid[])
    AND n.valid_from IS NULL AND n.valid_to IS NULL AND n.merged_into IS NULL

-- insert relations --
INSERT INTO relation (org_id, project_id, id, {relation written}, settled)
SELECT %(org)s, %(project)s, id, {relation written}, %(settled)s FROM incoming_relation
RETURNING 1

-- reworded relations --
-- Those that are retracted, state something else, or lose evidence.
SELECT r.id FROM incoming_relation i
JOIN relation r ON r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id
WHERE r.retracted_at IS NULL AND (
    i.retracted_at IS NOT NULL OR NOT r.evidence <@ i.evidence
    OR (r.source_id, r.type, r.target_id, r.valid_from, r.valid_to, r.fact)
        IS DISTINCT FROM (i.source_id, i.type, i.target_id, i.valid_from, i.valid_to, i.fact)
)

-- upsert relations --
INSERT INTO relation AS r (org_id, project_id, id, {relation written}, settled)
SELECT %(org)s, %(project)s, id, {relation written}, true FROM incoming_relation
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    source_id = excluded.source_id, type = excluded.type, target_id = excluded.target_id,
    valid_from = excluded.valid_from, valid_to = excluded.valid_to, fact = excluded.fact, kind = excluded.kind,
    confidence = excluded.confidence, weight = excluded.weight, labels = excluded.labels,
    attributes = excluded.attributes, evidence = excluded.evidence, supported_at = excluded.supported_at,
    retracted_at = excluded.retracted_at, folded = r.folded OR excluded.folded, signature = excluded.signature,
    source_columns = CASE WHEN r.source_id = excluded.source_id THEN r.source_columns
        WHEN r.settled AND excluded.created_at <= r.created_at THEN excluded.source_columns END,
    target_columns = CASE WHEN r.target_id = excluded.target_id THEN r.target_columns
        WHEN r.settled AND excluded.created_at <= r.created_at THEN excluded.target_columns END
WHERE (r.source_id, r.type, r.target_id, r.valid_from, r.valid_to, r.fact, r.kind, r.confidence, r.weight, r.labels,
        r.attributes, r.evidence, r.supported_at, r.retracted_at, r.folded)
    IS DISTINCT FROM (excluded.source_id, excluded.type, excluded.target_id, excluded.valid_from, excluded.valid_to,
        excluded.fact, excluded.kind, excluded.confidence, excluded.weight, excluded.labels, excluded.attributes,
        excluded.evidence, excluded.supported_at, excluded.retracted_at, r.folded OR excluded.folded)
RETURNING 1

-- sign relations written --
-- Relations that are unchanged, but were folded together with others than before.
UPDATE relation r SET signature = i.signature FROM incoming_relation i
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id AND r.signature <> i.signature

-- drop evidence --
DELETE FROM evidence v USING incoming_relation i
WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.relation_id = i.id AND v.memory_id <> ALL(i.evidence)

-- insert evidence --
INSERT INTO evidence (org_id, project_id, memory_id, relation_id)
SELECT %(org)s, %(project)s, memory_id, i.id FROM incoming_relation i, unnest(i.evidence) memory_id
ORDER BY memory_id, i.id
ON CONFLICT DO NOTHING

-- copy columns of sources --
UPDATE relation r SET source_columns = ({endpoint} AND n.id = r.source_id)
WHERE r.scope_hash = %(scope)s AND r.org_id = %(org)s AND r.project_id = %(project)s AND r.settled AND r.source_id = ANY(%(ids)s::uuid[])

-- copy columns of targets --
UPDATE relation r SET target_columns = ({endpoint} AND n.id = r.target_id)
WHERE r.scope_hash = %(scope)s AND r.org_id = %(org)s AND r.project_id = %(project)s AND r.settled AND r.target_id = ANY(%(ids)s::uuid[])

-- retract relations --
UPDATE relation SET retracted_at = %(now)s, folded = false
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND retracted_at IS NULL

-- sign relations --
UPDATE relation r SET signature = i.signature
FROM unnest(%(ids)s::uuid[], %(codes)s::bigint[]) i (id, signature)
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id AND r.signature <> i.signature

-- signatures of --
SELECT id, signature FROM {kind}
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- known signatures --
-- The codes that are stored, and whether with this content.
SELECT s.code, s.content = given.content
FROM unnest(%(codes)s::bigint[], %(contents)s::jsonb[]) given (code, content) JOIN signature s ON s.code = given.code
WHERE s.org_id = %(org)s AND s.project_id = %(project)s

-- keep signatures --
INSERT INTO signature (org_id, project_id, code, content, shared)
SELECT %(org)s, %(project)s, code, content, (content ->> 'shared')::boolean
FROM unnest(%(codes)s::bigint[], %(contents)s::jsonb[]) given (code, content) ORDER BY code
ON CONFLICT DO NOTHING

-- drop signatures --
DELETE FROM signature s
WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.content ->> 'kind' = '{kind}'
    AND (%(codes)s::bigint[] IS NULL OR s.code = ANY(%(codes)s))
    AND NOT EXISTS (
        SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.signature = s.code
    )

-- mark shared --
UPDATE scope SET shares = true WHERE org_id = %(org)s AND project_id = %(project)s

-- count dropped signatures --
UPDATE scope SET signatures_dropped = signatures_dropped + %(dropped)s
WHERE org_id = %(org)s AND project_id = %(project)s

-- bind embedder --
UPDATE scope SET embedder = %(embedder)s, dimensions = %(dimensions)s
WHERE org_id = %(org)s AND project_id = %(project)s

-- register types --
INSERT INTO relation_type (org_id, project_id, name, prior, half_life_days, hop_scores, functional, causal, skip, state)
VALUES (%(org)s, %(project)s, %(name)s, %(prior)s, %(half_life_days)s, %(hop_scores)s, %(functional)s, %(causal)s, %(skip)s, %(state)s)
ON CONFLICT (org_id, project_id, name) DO UPDATE SET
    prior = excluded.prior, half_life_days = excluded.half_life_days, hop_scores = excluded.hop_scores,
    functional = excluded.functional, causal = excluded.causal, skip = excluded.skip,
    state = excluded.state

-- weigh relations --
UPDATE relation SET weight = confidence * %(prior)s
WHERE org_id = %(org)s AND project_id = %(project)s AND type = %(name)s AND weight <> confidence * %(prior)s

-- count --
INSERT INTO counter AS c (org_id, project_id, name, number)
SELECT %(org)s, %(project)s, name, number FROM unnest(%(names)s::text[], %(numbers)s::bigint[]) given (name, number)
ON CONFLICT (org_id, project_id, name) DO UPDATE SET number = c.number + excluded.number
