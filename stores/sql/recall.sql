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
SELECT
    coalesce(string_agg(uuid_send(e.source_id), '' ORDER BY f.place), ''),
    coalesce(string_agg(uuid_send(e.target_id), '' ORDER BY f.place), ''),
    coalesce(string_agg(uuid_send(e.id), '' ORDER BY f.place), ''),
    coalesce(string_agg(float8send(e.confidence), '' ORDER BY f.place), ''),
    coalesce(string_agg(timestamptz_send({since}), '' ORDER BY f.place), ''),
    coalesce(string_agg(float8send(e.feedback_weight), '' ORDER BY f.place), ''),
    coalesce(string_agg(int8send(e.signature), '' ORDER BY f.place), ''),
    coalesce(string_agg(int8send(t.signature), '' ORDER BY f.place), ''),
    coalesce(string_agg(float8send(t.importance_weight), '' ORDER BY f.place), ''),
    coalesce(string_agg(boolsend(t.shown), '' ORDER BY f.place), '')
FROM unnest(%(found)s::uuid[]) WITH ORDINALITY f (id, place)
JOIN relation e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = f.id
JOIN (SELECT e.org_id, e.project_id, e.id, e.signature, e.importance_weight, {entity view} AS shown FROM entity e) t
    ON t.org_id = %(org)s AND t.project_id = %(project)s AND t.id = e.target_id
