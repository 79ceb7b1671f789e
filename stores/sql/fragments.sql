-- The fragments that statements share. Some have a text for a kind of element: a statement for every kind has {view}, one
-- for a single kind names it, as in {entity view}. A fragment may hold others. {seen} is {relation view}, or true in "left out",
-- which has its own {step}: columns that nobody reads cost a tenth of a walk.

-- entity columns --
-- Those of which graphsearch.stores.in_postgres.tables makes an entity.
e.type, e.name, e.id, e.description, nullif(e.aliases, '{}'), nullif(e.labels, '{}'), nullif(e.attributes, '{}'),
e.importance_weight, e.feedback_weight, e.valid_from, e.valid_to, e.created_at, e.merged_into, e.given_type,
nullif(e.given_aliases, '{}'), e.named, e.signature

-- entity view --
(e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.created_at <= %(known_at)s AND e.merged_into IS NULL

-- relation view --
-- The indexes of walks hold the hash of a type; only rows whose hash fits are read for the type itself. Types and their
-- hashes are constants of a plan: they would be computed for every entity of a frontier.
((e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.confidence >= %(least)s AND e.created_at <= %(known_at)s OR e.signature = ANY(%(refolded)s::bigint[]))
AND (e.retracted_at IS NULL OR %(known_at)s < e.retracted_at)
AND NOT ({of skipped type}) AND ({of wanted type})

-- of skipped type --
e.type_hash = ANY(%(skipped_hashes)s) AND {type of relation} = ANY(%(skipped)s::text[])

-- of wanted type --
cardinality(%(only)s::text[]) = 0 OR (e.type_hash = ANY(%(only_hashes)s) AND {type of relation} = ANY(%(only)s::text[]))

-- type of relation --
(SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id)

-- memory view --
e.created_at <= %(known_at)s AND (e.occurred_at IS NULL OR e.occurred_at <= %(as_of)s)

-- ids --
coalesce(string_agg(uuid_send(id), ''), '')

-- memory ids --
-- Separated by NUL, which no id holds.
coalesce(string_agg(textsend(id), '\x00'::bytea), '')

-- neighbours --
coalesce(string_agg(int8send(place), ''), ''),
{ids},
coalesce(string_agg(int8send(times), ''), ''),
coalesce(string_agg(boolsend(about), ''), ''),
coalesce(string_agg(int8send(signature), ''), '')

-- since --
-- When relation e was last supported as of the view: by its evidence, else when it began to hold, else when it was
-- created.
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

-- nearest candidates --
-- Sorted before they are joined, hardly more of the elements are looked up than are returned.
(
    SELECT e.id, e.signature, {importance} AS importance, c.value
    FROM (SELECT id, value FROM candidate ORDER BY value, id OFFSET 0) c JOIN {kind} e ON e.id = c.id
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
    ORDER BY c.value, c.id LIMIT %(limit)s
)

-- bearers --
-- The entities with a wanted name or alias.
SELECT wanted.place, wanted.name, x.id, x.alias FROM wanted CROSS JOIN LATERAL (
    SELECT e.id, false AS alias FROM entity e
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s
        AND e.name_hash = wanted.hash AND e.folded_name = wanted.folded AND e.merged_into IS NULL
    UNION ALL
    SELECT entity_id, true FROM entity_alias
    WHERE org_id = %(org)s AND project_id = %(project)s AND hash = wanted.hash AND name = wanted.folded
) x

-- vector given --
(%(numbers)s::real[])[(place - 1) * %(length)s::bigint + 1 : place * %(length)s::bigint]::halfvec

-- scored step --
weight, e.id, confidence, signature, learned, supported_at, valid_from, created_at

-- counted step --
weight, e.id, confidence, signature, type_hash, valid_from, valid_to, created_at, retracted_at

-- steps around --
-- The strongest relations of an entity f in either direction.
(SELECT true AS outgoing, target_id AS far, target_columns AS far_columns, {step} FROM relation e
WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
    AND source_id = f.id AND {seen}
ORDER BY weight DESC, id LIMIT %(limit)s)
UNION ALL
(SELECT false, source_id, source_columns, {step} FROM relation e
WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
    AND target_id = f.id AND {seen}
ORDER BY weight DESC, id LIMIT %(limit)s)

-- hops --
SELECT f.place, x.* FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place), LATERAL ({steps around}) x

-- hits --
{ids},
coalesce(string_agg(int8send(signature), ''), ''),
coalesce(string_agg(float8send(value), ''), ''),
coalesce(string_agg(float8send(importance), ''), '')

-- postings --
SELECT id, frequency, length FROM {kind}_posting
WHERE org_id = %(org)s AND project_id = %(project)s AND term = wanted.term

-- share of score --
-- What a posting p of a wanted term adds to the BM25 of its text.
wanted.idf * (p.frequency / (p.frequency
    + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * p.length / %(average)s::float8)))

-- relation ends --
-- What a walk needs of a relation, with what a view asks of both ends: so no end is looked up again. An end that is not in
-- view gets no importance.
, e.confidence, {since} AS since, e.feedback_weight, e.source_id, e.target_id,
coalesce(e.source_columns, ({end} AND n.id = e.source_id), repeat('0', 32)::uuid) AS source_columns,
coalesce(e.target_columns, ({end} AND n.id = e.target_id), repeat('0', 32)::uuid) AS target_columns

-- end --
SELECT encode(int8send(n.signature) || float8send(CASE WHEN n.in_view THEN n.importance_weight ELSE 'NaN' END), 'hex')::uuid
FROM (
    SELECT e.id, e.signature, e.importance_weight, {entity view} AS in_view FROM entity e
    WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
) n
WHERE true

-- relation steps --
, coalesce(string_agg(float8send(confidence), ''), ''),
coalesce(string_agg(timestamptz_send(since), ''), ''),
coalesce(string_agg(float8send(feedback_weight), ''), ''),
coalesce(string_agg(uuid_send(source_id), ''), ''),
coalesce(string_agg(uuid_send(source_columns), ''), ''),
coalesce(string_agg(uuid_send(target_id), ''), ''),
coalesce(string_agg(uuid_send(target_columns), ''), '')
