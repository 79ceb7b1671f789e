-- Walks from entities along relations, and from memories to the entities they mention and back. In columns, as searches.

-- expand --
-- The strongest relations of each entity and direction. They need no sorting: they come in the order of the frontier,
-- and each direction in that of its index. The index answers alone, because a thousand scattered rows of the table cost
-- more than all else; only feedback that was moved and copied endpoint columns that are NULL are looked up. An entity that is not in
-- view gets no importance: a column of flags would cost as much as a column of numbers. The scope's hash is compared as
-- a value; the policy's expression would be evaluated for every entity of the frontier.
SELECT places, ids, fars, far_columns, confidences, sinces, feedbacks, signatures, others.* FROM (
    SELECT
        string_agg(int8send(CASE WHEN outgoing THEN place ELSE -place END), '') AS places,
        string_agg(uuid_send(e.id), '') AS ids,
        string_agg(uuid_send(far), '') AS fars,
        string_agg(uuid_send(coalesce(far_columns, repeat('0', 32)::uuid)), '') AS far_columns,
        string_agg(float8send(confidence), '') AS confidences,
        string_agg(timestamptz_send({since}), '') AS sinces,
        string_agg(float8send(CASE WHEN e.learned THEN (
            SELECT r.feedback_weight FROM relation r
            WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
        ) ELSE 0.5 END), '') AS feedbacks,
        string_agg(int8send(signature), '') AS signatures,
        array_agg(far) FILTER (WHERE far_columns IS NULL) AS others
    FROM {hops} e
) relations CROSS JOIN LATERAL (
    SELECT
        string_agg(uuid_send(id), ''),
        string_agg(int8send(signature), ''),
        string_agg(float8send(CASE WHEN {entity view} THEN importance_weight ELSE 'NaN' END), '')
    FROM entity e
    WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s AND id = ANY(relations.others)
) others

-- left out --
-- Why the view leaves relations out, of the strongest of each entity and direction in any view.
SELECT reason, count(*) FROM (
    SELECT DISTINCT e.id, CASE
        WHEN e.retracted_at <= %(known_at)s THEN 'not_known'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND e.created_at > %(known_at)s THEN 'not_known'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND (e.valid_from > %(as_of)s OR e.valid_to <= %(since)s) THEN 'not_held'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND e.confidence < %(least)s THEN 'low_confidence'
        WHEN (
            e.type_hash = ANY(ARRAY(SELECT hashtextextended(name, 0) FROM unnest(%(skipped)s::text[]) name)) AND (
                SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
            ) = ANY(%(skipped)s::text[])
        ) THEN 'skipped_type'
        WHEN NOT (
            cardinality(%(only)s::text[]) = 0
            OR (e.type_hash = ANY(ARRAY(SELECT hashtextextended(name, 0) FROM unnest(%(only)s::text[]) name)) AND (
                SELECT r.type FROM relation r WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = e.id
            ) = ANY(%(only)s::text[]))
        ) THEN 'other_type'
    END AS reason
    FROM {hops} e
) reasons
WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason

-- relations signed --
SELECT coalesce(string_agg(uuid_send(id), '' ORDER BY id), '') FROM (
    SELECT id FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND signature = ANY(%(codes)s::bigint[]) AND retracted_at IS NULL
    ORDER BY id LIMIT %(limit)s
) found

-- related --
-- Relations with what a view asks of both ends, so that no end is looked up again.
SELECT
    coalesce(string_agg(uuid_send(id), ''), ''),
    coalesce(string_agg(float8send(confidence), ''), ''),
    coalesce(string_agg(timestamptz_send(since), ''), ''),
    coalesce(string_agg(float8send(feedback_weight), ''), ''),
    coalesce(string_agg(int8send(signature), ''), ''),
    coalesce(string_agg(uuid_send(source_id), ''), ''),
    coalesce(string_agg(int8send(source_signature), ''), ''),
    coalesce(string_agg(float8send(source_importance), ''), ''),
    coalesce(string_agg(boolsend(source_holds), ''), ''),
    coalesce(string_agg(uuid_send(target_id), ''), ''),
    coalesce(string_agg(int8send(target_signature), ''), ''),
    coalesce(string_agg(float8send(target_importance), ''), ''),
    coalesce(string_agg(boolsend(target_holds), ''), '')
FROM (
    SELECT e.id, e.source_id, e.target_id, e.confidence, {since} AS since, e.feedback_weight, e.signature,
        s.signature AS source_signature, s.importance_weight AS source_importance, s.holds AS source_holds,
        t.signature AS target_signature, t.importance_weight AS target_importance, t.holds AS target_holds
    FROM unnest(%(found)s::uuid[]) WITH ORDINALITY f (id, place)
    JOIN relation e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = f.id
    JOIN (
        SELECT e.id, e.signature, e.importance_weight, {entity view} AS holds FROM entity e
        WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s
    ) s ON s.id = e.source_id
    JOIN (
        SELECT e.id, e.signature, e.importance_weight, {entity view} AS holds FROM entity e
        WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s
    ) t ON t.id = e.target_id
    ORDER BY f.place
) steps

-- edges --
SELECT
    coalesce(string_agg(uuid_send(id), ''), ''),
    coalesce(string_agg(uuid_send(source_id), ''), ''),
    coalesce(string_agg(uuid_send(target_id), ''), ''),
    coalesce(string_agg(float8send(confidence), ''), '')
FROM (
    SELECT e.id, e.source_id, e.target_id, e.confidence FROM relation e
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s
        AND e.id >= coalesce(%(after)s::uuid, '00000000-0000-0000-0000-000000000000') AND e.id IS DISTINCT FROM %(after)s::uuid
        AND {relation view}
    ORDER BY e.id LIMIT %(limit)s
) page

-- mentioning --
-- From the index alone, in its order, and read no further than to see that there are too many.
SELECT
    coalesce(string_agg(int8send(place), ''), ''),
    {memory ids},
    coalesce(string_agg(int8send(times), ''), ''),
    coalesce(string_agg(boolsend(about), ''), ''),
    coalesce(string_agg(int8send(signature), ''), '')
FROM (
    SELECT f.place, e.id, e.times, e.about, e.signature
    FROM unnest(%(frontier)s::uuid[]) WITH ORDINALITY f (id, place)
    CROSS JOIN LATERAL (
        SELECT *, count(*) OVER () AS found FROM (
            SELECT memory_id AS id, count(*) AS times, bool_or(span_start IS NULL) AS about,
                min(created_at) AS created_at, min(occurred_at) AS occurred_at, min(signature) AS signature
            FROM mention
            WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = f.id
            GROUP BY memory_id ORDER BY memory_id LIMIT %(limit)s + 1
        ) counted
    ) e
    WHERE e.found <= %(limit)s AND {memory view}
) found

-- mentioned --
SELECT
    coalesce(string_agg(int8send(place), ''), ''),
    {entity ids},
    coalesce(string_agg(int8send(times), ''), ''),
    coalesce(string_agg(boolsend(about), ''), ''),
    coalesce(string_agg(int8send(signature), ''), '')
FROM (
    SELECT f.place, e.id, x.times, x.about, e.signature
    FROM unnest(%(frontier)s::text[]) WITH ORDINALITY f (id, place)
    CROSS JOIN LATERAL (
        SELECT entity_id, count(*) AS times, bool_or(span_start IS NULL) AS about, count(*) OVER () AS found FROM mention
        WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = f.id
        GROUP BY entity_id
    ) x
    JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = x.entity_id
    WHERE x.found <= %(limit)s AND {entity view}
    ORDER BY f.place, e.id
) found

-- turns --
-- The memories right before and right after each in its session.
SELECT
    coalesce(string_agg(int8send(place), ''), ''),
    {memory ids},
    coalesce(string_agg(int8send(1), ''), ''),
    coalesce(string_agg(boolsend(side = 2), ''), ''),
    coalesce(string_agg(int8send(signature), ''), '')
FROM (
    SELECT f.place, e.id, e.side, e.signature
    FROM unnest(%(frontier)s::text[]) WITH ORDINALITY f (id, place)
    JOIN memory m ON m.org_id = %(org)s AND m.project_id = %(project)s AND m.id = f.id AND m.session_id <> ''
    CROSS JOIN LATERAL (
        (SELECT 1 AS side, b.* FROM memory b
        WHERE b.org_id = %(org)s AND b.project_id = %(project)s AND b.session_id = m.session_id AND b.session_id <> ''
            AND (b.position, b.id) < (m.position, m.id)
        ORDER BY b.position DESC, b.id DESC LIMIT 1)
        UNION ALL
        (SELECT 2, a.* FROM memory a
        WHERE a.org_id = %(org)s AND a.project_id = %(project)s AND a.session_id = m.session_id AND a.session_id <> ''
            AND (a.position, a.id) > (m.position, m.id)
        ORDER BY a.position, a.id LIMIT 1)
    ) e
    WHERE {memory view}
    ORDER BY f.place, e.side
) found
