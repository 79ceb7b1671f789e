-- What changes elements. A batch lies in temporary tables incoming_…; it is copied there in the order of an index, which is
-- written fastest so. Unchanged rows are not written again.

-- dangling claims --
-- What a batch refers to and is not stored.
SELECT DISTINCT 'claim', i.type, ends.id
FROM incoming_claim i CROSS JOIN LATERAL (VALUES (i.source_id), (i.target_id)) ends (id)
LEFT JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ends.id
WHERE e.id IS NULL

-- dangling mentions --
SELECT DISTINCT 'mention', i.surface, i.entity_id FROM incoming_mention i
LEFT JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.entity_id
WHERE e.id IS NULL

-- existing --
SELECT id FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- none existing --
-- Whether the scope has none at all, and whether it has none of these.
SELECT empty, empty OR NOT EXISTS (
    SELECT FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])
)
FROM (
    SELECT NOT EXISTS (SELECT FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s) AS empty
) scope

-- missing --
SELECT i.id FROM unnest(%(ids)s::{id}[]) i (id)
WHERE NOT EXISTS (
    SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id
)

-- upsert entities --
INSERT INTO entity AS e (org_id, project_id, id, type, given_type, name, folded_name, name_hash, description, aliases, given_aliases,
    named, labels, attributes, importance_weight, feedback_weight, valid_from, valid_to, created_at, merged_into, signature, embedding,
    scope_hash)
SELECT %(org)s, %(project)s, id, type, given_type, name, folded_name, name_hash, description, aliases, aliases,
    named, labels, attributes, importance_weight, feedback_weight, valid_from, valid_to, created_at, merged_into, signature, embedding,
    %(scope)s
FROM incoming_entity
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

-- drop aliases --
DELETE FROM entity_alias a
WHERE a.org_id = %(org)s AND a.project_id = %(project)s AND a.entity_id = ANY(%(ids)s::uuid[])
    AND NOT EXISTS (SELECT FROM incoming_alias i WHERE i.entity_id = a.entity_id AND i.ordinal = a.ordinal)

-- upsert aliases --
INSERT INTO entity_alias AS a (org_id, project_id, entity_id, ordinal, name, hash)
SELECT %(org)s, %(project)s, entity_id, ordinal, name, hash FROM incoming_alias
ON CONFLICT (org_id, project_id, entity_id, ordinal) DO UPDATE SET name = excluded.name, hash = excluded.hash
WHERE a.name <> excluded.name

-- memories with another signature --
SELECT i.id FROM incoming_memory i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.id
WHERE m.signature <> i.signature

-- with other traits --
SELECT i.id FROM incoming_entity i
JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id
WHERE (e.signature, e.importance_weight, e.valid_from, e.valid_to, e.merged_into)
    IS DISTINCT FROM (i.signature, i.importance_weight, i.valid_from, i.valid_to, i.merged_into)

-- groups leading to --
SELECT DISTINCT source_id, type FROM claim
WHERE org_id = %(org)s AND project_id = %(project)s AND target_id = ANY(%(ids)s::uuid[]) AND type = ANY(%(types)s::text[])

-- moved memories --
SELECT i.id FROM incoming_memory i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.id
WHERE m.occurred_at IS DISTINCT FROM i.occurred_at

-- upsert memories --
INSERT INTO memory AS m (org_id, project_id, id, text, subject, speaker, session_id, position, occurred_at, source, labels,
    attributes, feedback_weight, created_at, signature)
SELECT %(org)s, %(project)s, id, text, subject, speaker, session_id, position, occurred_at, source, labels,
    attributes, feedback_weight, created_at, signature
FROM incoming_memory
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    text = excluded.text, subject = excluded.subject, speaker = excluded.speaker, session_id = excluded.session_id,
    position = excluded.position, occurred_at = excluded.occurred_at, source = excluded.source, labels = excluded.labels,
    attributes = excluded.attributes, signature = excluded.signature
WHERE (m.text, m.subject, m.speaker, m.session_id, m.position, m.occurred_at, m.source, m.labels, m.attributes, m.signature)
    IS DISTINCT FROM (excluded.text, excluded.subject, excluded.speaker, excluded.session_id, excluded.position,
        excluded.occurred_at, excluded.source, excluded.labels, excluded.attributes, excluded.signature)

-- drop mentions --
DELETE FROM mention n
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.memory_id = ANY(%(memory_ids)s::text[])
    AND NOT EXISTS (SELECT FROM incoming_mention i WHERE i.memory_id = n.memory_id AND i.ordinal = n.ordinal)

-- upsert mentions --
INSERT INTO mention AS n (org_id, project_id, memory_id, ordinal, entity_id, surface, type, spoken_hash, span_start, span_end,
    confidence, said_entity_id, created_at, occurred_at, signature)
SELECT %(org)s, %(project)s, i.memory_id, i.ordinal, i.entity_id, i.surface, i.type, i.spoken_hash, i.span_start, i.span_end,
    i.confidence, i.said_entity_id, m.created_at, m.occurred_at, m.signature
FROM incoming_mention i
JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = i.memory_id
ORDER BY i.memory_id, i.ordinal
ON CONFLICT (org_id, project_id, memory_id, ordinal) DO UPDATE SET
    entity_id = excluded.entity_id, surface = excluded.surface, type = excluded.type, spoken_hash = excluded.spoken_hash,
    span_start = excluded.span_start, span_end = excluded.span_end, confidence = excluded.confidence,
    said_entity_id = excluded.said_entity_id, occurred_at = excluded.occurred_at, signature = excluded.signature
WHERE (n.entity_id, n.surface, n.type, n.span_start, n.span_end, n.confidence, n.said_entity_id, n.occurred_at, n.signature)
    IS DISTINCT FROM (excluded.entity_id, excluded.surface, excluded.type, excluded.span_start, excluded.span_end, excluded.confidence,
        excluded.said_entity_id, excluded.occurred_at, excluded.signature)

-- drop claims --
DELETE FROM claim n
WHERE n.org_id = %(org)s AND n.project_id = %(project)s AND n.memory_id = ANY(%(memory_ids)s::text[])
    AND NOT EXISTS (SELECT FROM incoming_claim i WHERE i.memory_id = n.memory_id AND i.ordinal = n.ordinal)

-- upsert claims --
INSERT INTO claim AS n (org_id, project_id, memory_id, ordinal, source_id, type, target_id, confidence, valid_from,
    valid_to, kind, fact, span_start, span_end, extractor, said_source_id, said_target_id)
SELECT %(org)s, %(project)s, memory_id, ordinal, source_id, type, target_id, confidence, valid_from,
    valid_to, kind, fact, span_start, span_end, extractor, said_source_id, said_target_id
FROM incoming_claim ORDER BY memory_id, ordinal
ON CONFLICT (org_id, project_id, memory_id, ordinal) DO UPDATE SET
    source_id = excluded.source_id, type = excluded.type, target_id = excluded.target_id,
    confidence = excluded.confidence, valid_from = excluded.valid_from, valid_to = excluded.valid_to,
    kind = excluded.kind, fact = excluded.fact, span_start = excluded.span_start, span_end = excluded.span_end,
    extractor = excluded.extractor, said_source_id = excluded.said_source_id, said_target_id = excluded.said_target_id
WHERE (n.source_id, n.type, n.target_id, n.confidence, n.valid_from, n.valid_to, n.kind, n.fact, n.span_start, n.span_end,
        n.extractor, n.said_source_id, n.said_target_id)
    IS DISTINCT FROM (excluded.source_id, excluded.type, excluded.target_id, excluded.confidence, excluded.valid_from,
        excluded.valid_to, excluded.kind, excluded.fact, excluded.span_start, excluded.span_end, excluded.extractor,
        excluded.said_source_id, excluded.said_target_id)

-- upsert relations --
INSERT INTO relation AS r (org_id, project_id, id, source_id, type, target_id, valid_from, valid_to, fact, kind,
    confidence, weight, labels, attributes, feedback_weight, evidence, supported_at, created_at, retracted_at, folded,
    signature, settled, source_traits, target_traits)
SELECT %(org)s, %(project)s, id, source_id, type, target_id, valid_from, valid_to, fact, kind,
    confidence, weight, labels, attributes, feedback_weight, evidence, supported_at, created_at, retracted_at, folded,
    signature, %(settled)s, CASE WHEN %(settled)s THEN {source traits} END, CASE WHEN %(settled)s THEN {target traits} END
FROM incoming_relation r
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    source_id = excluded.source_id, type = excluded.type, target_id = excluded.target_id,
    valid_from = excluded.valid_from, valid_to = excluded.valid_to, fact = excluded.fact, kind = excluded.kind,
    confidence = excluded.confidence, weight = excluded.weight, labels = excluded.labels,
    attributes = excluded.attributes, evidence = excluded.evidence, supported_at = excluded.supported_at,
    retracted_at = excluded.retracted_at, folded = r.folded OR excluded.folded, signature = excluded.signature,
    source_traits = CASE WHEN r.source_id = excluded.source_id THEN r.source_traits
        WHEN r.settled AND excluded.created_at <= r.created_at THEN excluded.source_traits END,
    target_traits = CASE WHEN r.target_id = excluded.target_id THEN r.target_traits
        WHEN r.settled AND excluded.created_at <= r.created_at THEN excluded.target_traits END
WHERE (r.source_id, r.type, r.target_id, r.valid_from, r.valid_to, r.fact, r.kind, r.confidence, r.weight, r.labels,
        r.attributes, r.evidence, r.supported_at, r.retracted_at, r.folded)
    IS DISTINCT FROM (excluded.source_id, excluded.type, excluded.target_id, excluded.valid_from, excluded.valid_to,
        excluded.fact, excluded.kind, excluded.confidence, excluded.weight, excluded.labels, excluded.attributes,
        excluded.evidence, excluded.supported_at, excluded.retracted_at, r.folded OR excluded.folded)

-- sign relations written --
-- Those that are as they were, but not what they were folded together with.
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

-- signatures of --
SELECT id, signature FROM {kind}
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- relations folded --
SELECT {columns}, e.folded FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::uuid[]) AND e.folded
    AND EXISTS (SELECT FROM claim c WHERE c.org_id = %(org)s AND c.project_id = %(project)s)

-- relations of groups --
SELECT {columns}, e.folded FROM {of groups} e

-- of groups --
-- Those that are not settled are joined apart: of a union that is joined the planner would read all.
(
    SELECT r.* FROM {groups} JOIN relation r ON {in group}
    WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.settled
    UNION ALL
    SELECT r.* FROM {groups} JOIN relation r ON {in group}
    WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND NOT r.settled
)

-- groups --
unnest(%(sources)s::uuid[], %(types)s::text[], %(targets)s::uuid[]) g (source_id, type, target_id)

-- in group --
r.source_id = g.source_id AND r.type = g.type
AND (g.target_id = '00000000-0000-0000-0000-000000000000' OR r.target_id = g.target_id)

-- relations proved --
SELECT {columns}, e.folded FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id IN (
    SELECT relation_id FROM evidence
    WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])
)

-- settle relations --
-- In the order in which they lie.
UPDATE relation r SET settled = true, source_traits = {source traits}, target_traits = {target traits}
WHERE org_id = %(org)s AND project_id = %(project)s AND ctid = ANY(ARRAY(
    SELECT ctid FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled LIMIT %(limit)s
))

-- source traits --
(SELECT {traits} FROM entity n WHERE {here} AND n.id = r.source_id AND {always seen})

-- target traits --
(SELECT {traits} FROM entity n WHERE {here} AND n.id = r.target_id AND {always seen})

-- traits --
encode(int8send(n.signature) || float8send(n.importance_weight), 'hex')::uuid

-- always seen --
n.valid_from IS NULL AND n.valid_to IS NULL AND n.merged_into IS NULL AND n.created_at <= r.created_at

-- tell of sources --
UPDATE relation r SET source_traits = {source traits} WHERE {here} AND r.settled AND r.source_id = ANY(%(ids)s::uuid[])

-- tell of targets --
UPDATE relation r SET target_traits = {target traits} WHERE {here} AND r.settled AND r.target_id = ANY(%(ids)s::uuid[])

-- retract relations --
UPDATE relation SET retracted_at = %(now)s, folded = false
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND retracted_at IS NULL

-- sign relations --
UPDATE relation r SET signature = i.signature
FROM unnest(%(ids)s::uuid[], %(codes)s::bigint[]) i (id, signature)
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id AND r.signature <> i.signature

-- keep signatures --
-- The codes that stand for another content already.
WITH given AS (
    SELECT * FROM unnest(%(codes)s::bigint[], %(contents)s::jsonb[]) s (code, content)
), kept AS (
    INSERT INTO signature (org_id, project_id, code, content, shared)
    SELECT %(org)s, %(project)s, code, content, (content ->> 'shared')::boolean FROM given ORDER BY code
    ON CONFLICT DO NOTHING
)
SELECT given.code FROM given JOIN signature s ON s.code = given.code
WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.content <> given.content
UNION ALL
SELECT code FROM given GROUP BY code HAVING count(*) > 1

-- drop signatures --
DELETE FROM signature s
WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.content ->> 'kind' = '{kind}'
    AND (%(codes)s::bigint[] IS NULL OR s.code = ANY(%(codes)s))
    AND NOT EXISTS (
        SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.signature = s.code
    )

-- relations touching --
SELECT {columns}, e.folded FROM {every relation} e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND (
    e.id = ANY(%(relation_ids)s::uuid[]) OR e.source_id = ANY(%(entity_ids)s::uuid[])
    OR e.target_id = ANY(%(entity_ids)s::uuid[])
)

-- delete claims of entities --
DELETE FROM claim
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (source_id = ANY(%(entity_ids)s::uuid[]) OR target_id = ANY(%(entity_ids)s::uuid[]))
RETURNING source_id, type

-- delete claims of relations --
DELETE FROM claim c USING relation r
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = ANY(%(relation_ids)s::uuid[])
    AND (c.org_id, c.project_id, c.source_id, c.type, c.target_id)
        = (r.org_id, r.project_id, r.source_id, r.type, r.target_id)
    AND c.memory_id = ANY(r.evidence)
RETURNING c.source_id, c.type

-- delete claims of memories --
DELETE FROM claim
WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = ANY(%(memory_ids)s::text[])
RETURNING source_id, type, target_id, said_source_id, said_target_id

-- delete mentions --
DELETE FROM mention
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (memory_id = ANY(%(memory_ids)s::text[]) OR entity_id = ANY(%(entity_ids)s::uuid[]))
RETURNING entity_id, coalesce(said_entity_id, entity_id)

-- delete aliases --
DELETE FROM entity_alias
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])

-- delete evidence --
DELETE FROM evidence
WHERE org_id = %(org)s AND project_id = %(project)s AND relation_id = ANY(%(ids)s::uuid[])

-- delete elements --
DELETE FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[]) RETURNING signature

-- scoped tables --
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'project_id'
WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind = 'r'

-- remove scope --
DELETE FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s

-- delete outcomes --
DELETE FROM outcome
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = %(kind)s AND element_id = ANY(%(ids)s::text[])

-- lonely entities --
SELECT f.id FROM unnest(%(ids)s::uuid[]) f (id)
JOIN entity e ON e.id = f.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s
    AND NOT EXISTS (
        SELECT FROM mention WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = f.id
    ) AND {no relation} AND NOT EXISTS (
        SELECT FROM merge
        WHERE org_id = %(org)s AND project_id = %(project)s AND target_id = f.id AND undone_at IS NULL
    ) AND NOT EXISTS (
        SELECT FROM merge
        WHERE org_id = %(org)s AND project_id = %(project)s AND source_id = f.id AND undone_at IS NULL
    )

-- no relation --
NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND source_id = e.id)
AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND settled AND target_id = e.id)
AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND source_id = e.id)
AND NOT EXISTS (SELECT FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled AND target_id = e.id)

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

-- groups of type --
SELECT DISTINCT source_id, type FROM claim WHERE org_id = %(org)s AND project_id = %(project)s AND type = %(name)s

-- grown tables --
-- Those that have grown by a factor, and by some megabytes (of a thousand rows each), since they were analysed. The planner
-- sees by itself that a table is larger; what it does not see is how much of it is one scope's.
SELECT relname FROM pg_catalog.pg_class
WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r'
    AND pg_relation_size(oid) > %(growth)s * relpages * current_setting('block_size')::integer + 1000000 * %(megabytes)s
ORDER BY relname

-- settling --
-- Before the tables are analysed again the planner would take nested loops for cheap.
SET LOCAL enable_nestloop = off

-- count --
INSERT INTO counter AS c (org_id, project_id, name, number)
SELECT %(org)s, %(project)s, name, number FROM unnest(%(names)s::text[], %(numbers)s::bigint[]) given (name, number)
ON CONFLICT (org_id, project_id, name) DO UPDATE SET number = c.number + excluded.number
