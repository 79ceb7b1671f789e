-- What was surfaced to sessions, and what their outcomes did.

-- log injection --
INSERT INTO injection (org_id, project_id, id, session_id, principal, created_at, tokens, element_kinds, element_ids)
VALUES (%(org)s, %(project)s, %(id)s, %(session_id)s, %(principal)s, %(created_at)s, %(tokens)s, %(kinds)s, %(ids)s)
ON CONFLICT DO NOTHING

-- injections --
SELECT id, session_id, principal, created_at, tokens, element_kinds, element_ids FROM injection
WHERE org_id = %(org)s AND project_id = %(project)s AND session_id = %(session_id)s
ORDER BY created_at, id

-- lock elements --
SELECT e.id FROM {kind} e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::{id}[])
ORDER BY e.id FOR NO KEY UPDATE

-- apply outcome --
-- A new outcome is folded in: w ← α·x + (1 − α)·w. One that replaces the session's first keeps its place seq among the
-- n outcomes: w ← w + α·(1 − α)^(n − seq)·(x − old). The same again changes nothing. The elements are locked.
WITH given AS (
    SELECT e.id, o.seq, o.outcome AS old FROM {kind} e
    LEFT JOIN outcome o ON o.org_id = %(org)s AND o.project_id = %(project)s AND o.kind = '{kind}'
        AND o.element_id = e.id::text AND o.session_id = %(session_id)s
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::{id}[])
), moved AS (
    UPDATE {kind} e SET
        feedback_weight = least(1, greatest(0, CASE WHEN g.seq IS NULL
            THEN %(alpha)s * %(outcome)s + (1 - %(alpha)s) * e.feedback_weight
            ELSE e.feedback_weight + %(alpha)s * power(1 - %(alpha)s, e.outcomes - g.seq) * (%(outcome)s - g.old) END)),
        outcomes = e.outcomes + (g.seq IS NULL)::integer
    FROM given g
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = g.id AND g.old IS DISTINCT FROM %(outcome)s
    RETURNING e.id, coalesce(g.seq, e.outcomes) AS seq
), history AS (
    INSERT INTO outcome (org_id, project_id, kind, element_id, session_id, seq, outcome)
    SELECT %(org)s, %(project)s, '{kind}', id::text, %(session_id)s, seq, %(outcome)s FROM moved
    ON CONFLICT (org_id, project_id, kind, element_id, session_id) DO UPDATE SET outcome = excluded.outcome
)
SELECT id::text, CASE WHEN old IS NULL THEN 'applied' WHEN old = %(outcome)s THEN 'repeated' ELSE 'replaced' END FROM given

-- outcomes --
SELECT o.kind, o.element_id, o.session_id, o.seq, o.outcome
FROM unnest(%(kinds)s::text[], %(ids)s::text[]) e (kind, id)
JOIN outcome o ON o.kind = e.kind AND o.element_id = e.id
WHERE o.org_id = %(org)s AND o.project_id = %(project)s
ORDER BY o.kind, o.element_id, o.seq
