-- What recall walks: from memories to the entities they mention and back, and along sessions. In columns, as searches.

-- columns of steps --
SELECT
    coalesce(string_agg(int8send(place), ''), ''),
    {ids},
    coalesce(string_agg(int8send(times), ''), ''),
    coalesce(string_agg(boolsend(about), ''), ''),
    coalesce(string_agg(int8send(signature), ''), '')
FROM ({found}) found

-- mentioning --
-- From the index alone, read no further than to see that there are too many; its order is the one asked for.
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
WHERE e.found <= %(limit)s AND {view}

-- mentioned --
SELECT f.place, e.id, x.times, x.about, e.signature
FROM unnest(%(frontier)s::text[]) WITH ORDINALITY f (id, place)
CROSS JOIN LATERAL (
    SELECT entity_id, count(*) AS times, bool_or(span_start IS NULL) AS about, count(*) OVER () AS found FROM mention
    WHERE org_id = %(org)s AND project_id = %(project)s AND memory_id = f.id
    GROUP BY entity_id
) x
JOIN entity e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = x.entity_id
WHERE x.found <= %(limit)s AND {view}
ORDER BY f.place, e.id

-- turns --
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
WHERE {view}
ORDER BY f.place, e.side

-- related --
-- With what is asked of both ends, so that neither is looked for again.
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
    JOIN {ends} s ON s.id = e.source_id
    JOIN {ends} t ON t.id = e.target_id
    ORDER BY f.place
) steps

-- ends --
(SELECT e.id, e.signature, e.importance_weight, {entity view} AS holds FROM entity e WHERE {here})
