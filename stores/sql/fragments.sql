-- The fragments that statements share. Some have a text for each kind of element: a statement for every kind has {view}, one
-- for a single kind names it, as in {entity view}. Some have one for scopes where all is settled, and one where a bulk write
-- left something for later (unsettled.sql). A fragment may hold others. {seen} is {relation view}, or true in "left out",
-- which has its own {step}: columns that nobody reads cost a tenth of a walk.

-- entity columns --
-- Most lists and attributes are empty, and decoding an empty one takes as long as the rest of a row.
e.id, e.type, e.name, e.description, nullif(e.aliases, '{}') AS aliases, nullif(e.labels, '{}') AS labels,
nullif(e.attributes, '{}') AS attributes, e.importance_weight, e.feedback_weight, e.valid_from, e.valid_to, e.created_at, e.merged_into

-- relation columns --
e.id, e.source_id, e.type, e.target_id, e.valid_from, e.valid_to, e.fact, e.kind, e.confidence, nullif(e.labels, '{}') AS labels,
nullif(e.attributes, '{}') AS attributes, e.feedback_weight, nullif(e.evidence, '{}') AS evidence, e.supported_at,
e.created_at, e.retracted_at

-- memory columns --
e.id, e.text, e.subject, e.speaker, e.session_id, e.position, e.occurred_at, e.zone, e.source, nullif(e.labels, '{}') AS labels,
nullif(e.attributes, '{}') AS attributes, e.feedback_weight, e.created_at

-- entity view --
(e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.created_at <= %(known_at)s AND e.merged_into IS NULL

-- relation view --
-- The indexes of walks hold the hash of a type; only rows whose hash fits are read for the type itself. Types and their
-- hashes are constants of a plan: they would be computed for every entity of a frontier.
((e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.confidence >= %(least)s AND e.created_at <= %(known_at)s OR e.signature = ANY(%(refolded)s::bigint[]))
AND (e.retracted_at IS NULL OR %(known_at)s < e.retracted_at)
AND NOT (e.type_hash = ANY(%(skipped_hashes)s) AND (
    SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
) = ANY(%(skipped)s::text[]))
AND (cardinality(%(only)s::text[]) = 0
OR (e.type_hash = ANY(%(only_hashes)s) AND (
    SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
) = ANY(%(only)s::text[])))

-- memory view --
e.created_at <= %(known_at)s AND (e.occurred_at IS NULL OR e.occurred_at <= %(as_of)s)

-- entity ids --
coalesce(string_agg(uuid_send(id), ''), '')

-- relation ids --
coalesce(string_agg(uuid_send(id), ''), '')

-- memory ids --
-- Separated by NUL, which no id holds.
coalesce(string_agg(textsend(id), '\x00'::bytea), '')

-- endpoint --
-- The signature and the importance of an end n of relation r, if every view that shows r shows n. A statement adds which
-- end it is: ({endpoint} AND n.id = r.source_id).
SELECT encode(int8send(n.signature) || float8send(n.importance_weight), 'hex')::uuid FROM entity n
WHERE n.scope_hash = %(scope)s AND n.org_id = %(org)s AND n.project_id = %(project)s
    AND n.valid_from IS NULL AND n.valid_to IS NULL AND n.merged_into IS NULL AND n.created_at <= r.created_at

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

-- entity text --
array_to_string(e.name || e.aliases || e.description, E'\n')

-- relation text --
e.fact

-- memory text --
concat_ws(E'\n', e.subject, e.speaker, e.text, to_char(e.occurred_at AT TIME ZONE 'UTC', 'FMDD FMMonth FMYYYY'))

-- unmerged --
(e.merged_into IS NULL OR NOT EXISTS (
    SELECT FROM merge m
    WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.source_id = e.id AND m.undone_at IS NULL
))

-- forms --
-- The distinct surfaces and types of the mentions of entity e, found one after the other in the index.
RECURSIVE forms AS (
    (SELECT surface_hash, surface, type FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id
    ORDER BY surface_hash LIMIT 1)
    UNION ALL
    SELECT later.surface_hash, later.surface, later.type FROM forms CROSS JOIN LATERAL (
        SELECT surface_hash, surface, type FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = e.id AND surface_hash > forms.surface_hash
        ORDER BY surface_hash LIMIT 1
    ) later
)

-- settled vectors --
{kind}_embedding

-- unsettled vectors --
-- The vectors in the rows of entities are in no index.
(
    SELECT org_id, project_id, id, embedding, generation FROM entity_embedding
    UNION ALL
    SELECT org_id, project_id, id, embedding, 2147483647 FROM entity WHERE embedding IS NOT NULL
)

-- nearest candidates --
-- Sorted before they are joined, hardly more of the elements are looked up than are returned.
(
    SELECT e.id, e.signature, {importance} AS importance, c.value
    FROM (SELECT id, value FROM candidate ORDER BY value, id OFFSET 0) c JOIN {kind} e ON e.id = c.id
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {view}
    ORDER BY c.value, c.id LIMIT %(limit)s
)

-- settled named --
SELECT wanted.place, wanted.name, x.id, x.alias FROM wanted CROSS JOIN LATERAL (
    SELECT e.id, false AS alias FROM entity e
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.embedding IS NULL
        AND e.name_hash = wanted.hash AND e.folded_name = wanted.folded AND {unmerged}
    UNION ALL
    SELECT entity_id, true FROM entity_alias
    WHERE org_id = %(org)s AND project_id = %(project)s AND hash = wanted.hash AND name = wanted.folded
) x

-- unsettled named --
-- The unsettled entities are read once for all the names.
{settled named}
UNION ALL
SELECT wanted.place, wanted.name, e.id, false
FROM wanted JOIN entity e ON e.name_hash = wanted.hash AND e.folded_name = wanted.folded
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.embedding IS NOT NULL AND {unmerged}

-- scored step --
weight, e.id, confidence, signature, learned, supported_at, valid_from, created_at

-- counted step --
weight, e.id, confidence, signature, type_hash, valid_from, valid_to, created_at, retracted_at

-- outgoing --
true AS outgoing, target_id AS far, target_columns AS far_columns, {step}

-- incoming --
false, source_id, source_columns, {step}

-- steps around --
-- The strongest relations of an entity f in either direction.
(SELECT {outgoing} FROM relation e
WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
    AND settled AND source_id = f.id AND {seen}
ORDER BY weight DESC, id LIMIT %(limit)s)
UNION ALL
(SELECT {incoming} FROM relation e
WHERE e.scope_hash = %(scope)s AND e.org_id = %(org)s AND e.project_id = %(project)s
    AND settled AND target_id = f.id AND {seen}
ORDER BY weight DESC, id LIMIT %(limit)s)

-- settled hops --
(
    SELECT f.place, x.* FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place), LATERAL ({steps around}) x
)

-- settled beyond --
UNION ALL
SELECT f.place, x.* FROM further f CROSS JOIN LATERAL ({steps around}) x

-- unsettled beyond --
-- Unsettled relations are read once for a frontier that is known.

-- unsettled hops --
-- The unsettled relations are read once for the whole frontier, and ranked among the settled ones.
(
    SELECT * FROM (
        SELECT *, row_number() OVER (PARTITION BY place, outgoing ORDER BY weight DESC, id) AS rank FROM (
            SELECT * FROM {settled hops} settled
            UNION ALL
            SELECT f.place, {outgoing}
            FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.source_id = f.id
            WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled AND {seen}
            UNION ALL
            SELECT f.place, {incoming}
            FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place) JOIN relation e ON e.target_id = f.id
            WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND NOT e.settled AND {seen}
        ) met
    ) ranked
    WHERE rank <= %(limit)s ORDER BY place, outgoing DESC, rank
)

-- entity embedded --
json_build_array(x.name, x.type, x.description)::text

-- relation embedded --
x.fact

-- memory embedded --
json_build_array(x.subject, x.speaker, x.text)::text

-- entity written --
type, given_type, name, folded_name, name_hash, description, aliases, named, labels, attributes, importance_weight,
feedback_weight, valid_from, valid_to, created_at, merged_into, signature, embedding

-- relation written --
source_id, type, target_id, valid_from, valid_to, fact, kind, confidence, weight, labels, attributes, feedback_weight,
evidence, supported_at, created_at, retracted_at, folded, signature, source_columns, target_columns

-- memory written --
text, subject, speaker, session_id, position, occurred_at, zone, source, labels, attributes, feedback_weight, created_at,
signature

-- hits --
{ids},
coalesce(string_agg(int8send(signature), ''), ''),
coalesce(string_agg(float8send(value), ''), ''),
coalesce(string_agg(float8send(importance), ''), '')

-- settled postings --
SELECT id, frequency, length FROM {kind}_posting
WHERE org_id = %(org)s AND project_id = %(project)s AND term = wanted.term

-- unsettled postings --
-- Those of texts that have no document yet are given.
{settled postings}
UNION ALL
SELECT new.id, new.frequency, new.length
FROM unnest(%(new_terms)s::text[], %(new_ids)s::{id}[], %(new_frequencies)s::float8[], %(new_lengths)s::float8[])
    new (term, id, frequency, length)
WHERE new.term = wanted.term

-- share of score --
-- What a posting p of a wanted term adds to the BM25 of its text.
wanted.idf * (p.frequency / (p.frequency
    + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * p.length / %(average)s::float8)))

-- entity ends --

-- memory ends --

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

-- entity steps --

-- memory steps --

-- relation steps --
, coalesce(string_agg(float8send(confidence), ''), ''),
coalesce(string_agg(timestamptz_send(since), ''), ''),
coalesce(string_agg(float8send(feedback_weight), ''), ''),
coalesce(string_agg(uuid_send(source_id), ''), ''),
coalesce(string_agg(uuid_send(source_columns), ''), ''),
coalesce(string_agg(uuid_send(target_id), ''), ''),
coalesce(string_agg(uuid_send(target_columns), ''), '')
