-- What was surfaced to sessions, and the effect of their outcomes.

-- log injection --
-- The first injection of a session opens it, and none of another principal is logged. Returns the session's owner; no row
-- where a transaction at the same time opened it, whose row this statement waited for but does not see.
WITH opened AS (
    INSERT INTO session (org_id, project_id, id, principal)
    SELECT %(org)s, %(project)s, %(session_id)s, %(principal)s
    WHERE NOT EXISTS (SELECT FROM injection WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(id)s)
    ON CONFLICT DO NOTHING
    RETURNING principal
), owner AS (
    SELECT principal FROM opened
    UNION ALL
    SELECT principal FROM session WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(session_id)s
), logged AS (
    INSERT INTO injection (org_id, project_id, id, session_id, principal, created_at, tokens, element_kinds, element_ids)
    SELECT %(org)s, %(project)s, %(id)s, %(session_id)s, principal, %(created_at)s, %(tokens)s, %(kinds)s, %(ids)s
    FROM owner WHERE principal = %(principal)s
    ON CONFLICT DO NOTHING
)
SELECT principal FROM owner

-- injections --
SELECT id, session_id, principal, created_at, tokens, element_kinds, element_ids FROM injection
WHERE org_id = %(org)s AND project_id = %(project)s AND session_id = %(session_id)s
ORDER BY created_at, id

-- apply outcome --
-- A new outcome x moves the weight w: w ← α·x + (1 − α)·w. Returns the elements that it did not move, because the session
-- has an outcome for them already or because they are not stored. Outcomes are looked up by their whole key: a join would
-- read all outcomes of the scope.
WITH moved AS (
    UPDATE {kind} e SET
        feedback_weight = least(1, greatest(0, %(alpha)s * %(outcome)s + (1 - %(alpha)s) * e.feedback_weight)),
        outcomes = e.outcomes + 1
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::{id}[]) AND (
        SELECT o.seq FROM outcome o
        WHERE o.org_id = %(org)s AND o.project_id = %(project)s AND o.kind = '{kind}' AND o.element_id = e.id::text
            AND o.session_id = %(session_id)s
    ) IS NULL
    RETURNING e.id, e.outcomes AS seq
), history AS (
    INSERT INTO outcome (org_id, project_id, kind, element_id, session_id, seq, outcome)
    SELECT %(org)s, %(project)s, '{kind}', id::text, %(session_id)s, seq, %(outcome)s FROM moved
)
SELECT left_over.id, EXISTS (
    SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = left_over.id
)
FROM (SELECT unnest(%(ids)s::{id}[]) EXCEPT SELECT id FROM moved) left_over (id)

-- replace outcome --
-- An outcome x that replaces the session's first keeps its place seq among the n outcomes:
-- w ← w + α·(1 − α)^(n − seq)·(x − old). Repeating it changes nothing.
WITH given AS (
    SELECT element_id::{id} AS id, seq, outcome AS old FROM outcome
    WHERE org_id = %(org)s AND project_id = %(project)s AND kind = '{kind}' AND session_id = %(session_id)s
        AND element_id = ANY(%(ids)s::{id}[]::text[])
), moved AS (
    UPDATE {kind} e SET feedback_weight = least(1, greatest(0,
        e.feedback_weight + %(alpha)s * power(1 - %(alpha)s, e.outcomes - g.seq) * (%(outcome)s - g.old)))
    FROM given g
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = g.id AND g.old <> %(outcome)s
    RETURNING e.id
), history AS (
    UPDATE outcome o SET outcome = %(outcome)s FROM moved
    WHERE o.org_id = %(org)s AND o.project_id = %(project)s AND o.kind = '{kind}' AND o.element_id = moved.id::text
        AND o.session_id = %(session_id)s
)
SELECT id FROM moved

-- outcomes --
SELECT o.kind, o.element_id, o.session_id, o.seq, o.outcome
FROM unnest(%(kinds)s::text[], %(ids)s::text[]) e (kind, id)
JOIN outcome o ON o.kind = e.kind AND o.element_id = e.id
WHERE o.org_id = %(org)s AND o.project_id = %(project)s
ORDER BY o.kind, o.element_id, o.seq
