-- Walks from entities along relations, and from memories to the entities they mention and back. In columns, as searches.

-- expand --
-- The strongest relations of each entity and direction. They need no sorting: they come in the order of the frontier,
-- and each direction in that of its index. The index answers alone, because a thousand scattered rows of the table cost
-- more than all else; only feedback that was moved and copied endpoint columns that are NULL are looked up. An entity that is not in
-- view gets no importance: a column of flags would cost as much as a column of numbers. The scope's hash is compared as
-- a value; the policy's expression would be evaluated for every entity of the frontier.
--
-- With it come the relations of the entities that are reached, unless these are as many as a limit: a walk goes on from
-- them. The first hop has a number of rows, and the second begins at further entities.
WITH first AS MATERIALIZED (
    {hops}
), reached AS MATERIALIZED (
    SELECT DISTINCT far AS id FROM first WHERE far NOT IN (SELECT unnest(%(frontier)s::uuid[])) LIMIT %(most)s
), further AS MATERIALIZED (
    SELECT id, row_number() OVER (ORDER BY id) AS place FROM reached WHERE (SELECT count(*) FROM reached) < %(most)s
), hop AS MATERIALIZED (
    SELECT * FROM first
    UNION ALL
    SELECT f.place, x.* FROM further f CROSS JOIN LATERAL ({steps around}) x
)
SELECT steps.*, others.* FROM (
    SELECT
        (SELECT int8send(count(*)) FROM first) AS walked,
        (SELECT string_agg(uuid_send(id), '' ORDER BY id) FROM further) AS further,
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
        string_agg(int8send(signature), '') AS signatures
    FROM hop e
) steps CROSS JOIN (
    SELECT
        string_agg(uuid_send(id), ''),
        string_agg(int8send(signature), ''),
        string_agg(float8send(CASE WHEN {entity view} THEN importance_weight ELSE 'NaN' END), '')
    FROM entity e
    WHERE scope_hash = %(scope)s AND org_id = %(org)s AND project_id = %(project)s
        AND id IN (SELECT far FROM hop WHERE far_columns IS NULL)
) others

-- left out --
-- Why the view leaves relations out, of the strongest of each entity and direction in any view.
SELECT reason, count(*) FROM (
    SELECT DISTINCT e.id, CASE
        WHEN e.retracted_at <= %(known_at)s THEN 'not_known'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND e.created_at > %(known_at)s THEN 'not_known'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND (e.valid_from > %(as_of)s OR e.valid_to <= %(since)s) THEN 'not_held'
        WHEN NOT e.signature = ANY(%(refolded)s::bigint[]) AND e.confidence < %(least)s THEN 'low_confidence'
        WHEN {of skipped type} THEN 'skipped_type'
        WHEN NOT ({of wanted type}) THEN 'other_type'
    END AS reason
    FROM ({hops}) e
) reasons
WHERE reason IS NOT NULL GROUP BY reason ORDER BY reason

-- relations signed --
SELECT coalesce(string_agg(uuid_send(id), '' ORDER BY id), '') FROM (
    SELECT id FROM relation
    WHERE org_id = %(org)s AND project_id = %(project)s AND signature = ANY(%(codes)s::bigint[]) AND retracted_at IS NULL
    ORDER BY id LIMIT %(limit)s
) found

-- related --
SELECT {ids}, coalesce(string_agg(int8send(signature), ''), '') {relation steps} FROM (
    SELECT e.id, e.signature {relation ends}
    FROM unnest(%(found)s::uuid[]) WITH ORDINALITY f (id, place)
    JOIN relation e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = f.id
    ORDER BY f.place
) found

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
SELECT {neighbours} FROM (
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
SELECT {neighbours} FROM (
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
SELECT {neighbours} FROM (
    SELECT f.place, e.id, 1 AS times, e.side = 2 AS about, e.signature
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
