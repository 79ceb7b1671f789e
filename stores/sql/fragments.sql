-- The five fragments that statements share: {columns}, {view} and {ids}, which have a text for each kind of element,
-- {endpoint} and {since}. A statement for every kind has {view}; a statement for one kind names it, as in {entity view}.

-- entity columns --
-- Most lists and attributes are empty, and decoding an empty one takes as long as the rest of a row.
e.id, e.type, e.name, e.description, nullif(e.aliases, '{}') AS aliases, nullif(e.labels, '{}') AS labels,
nullif(e.attributes, '{}') AS attributes, e.importance_weight, e.feedback_weight, e.valid_from, e.valid_to, e.created_at, e.merged_into

-- relation columns --
e.id, e.source_id, e.type, e.target_id, e.valid_from, e.valid_to, e.fact, e.kind, e.confidence, nullif(e.labels, '{}') AS labels,
nullif(e.attributes, '{}') AS attributes, e.feedback_weight, nullif(e.evidence, '{}') AS evidence, e.supported_at,
e.created_at, e.retracted_at

-- memory columns --
e.id, e.text, e.subject, e.speaker, e.session_id, e.position, e.occurred_at, e.source, nullif(e.labels, '{}') AS labels,
nullif(e.attributes, '{}') AS attributes, e.feedback_weight, e.created_at

-- entity view --
(e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.created_at <= %(known_at)s AND e.merged_into IS NULL

-- relation view --
-- The indexes of walks hold the hash of a type; only rows whose hash fits are read for the type itself.
((e.valid_from IS NULL OR e.valid_from <= %(as_of)s) AND (e.valid_to IS NULL OR %(since)s < e.valid_to)
AND e.confidence >= %(least)s AND e.created_at <= %(known_at)s OR e.signature = ANY(%(refolded)s::bigint[]))
AND (e.retracted_at IS NULL OR %(known_at)s < e.retracted_at)
AND NOT (e.type_hash = ANY(ARRAY(SELECT hashtextextended(name, 0) FROM unnest(%(skipped)s::text[]) name)) AND (
    SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
) = ANY(%(skipped)s::text[]))
AND (cardinality(%(only)s::text[]) = 0
OR (e.type_hash = ANY(ARRAY(SELECT hashtextextended(name, 0) FROM unnest(%(only)s::text[]) name)) AND (
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
