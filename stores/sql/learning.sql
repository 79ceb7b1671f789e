-- The effect of outcomes on the weights of elements.

-- apply outcome --
-- A new outcome x moves the weight w: w ← α·x + (1 − α)·w, unless the session has an outcome for the element already.
-- Returns what it moved, with the number of outcomes. Outcomes are looked up by their whole key: a join would read all
-- outcomes of the scope.
UPDATE {kind} e SET
    feedback_weight = least(1, greatest(0, %(alpha)s * %(outcome)s + (1 - %(alpha)s) * e.feedback_weight)),
    outcomes = e.outcomes + 1
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = ANY(%(ids)s::{id}[]) AND (
    SELECT o.seq FROM outcome o
    WHERE o.org_id = %(org)s AND o.project_id = %(project)s AND o.kind = '{kind}' AND o.element_id = e.id::text
        AND o.session_id = %(session_id)s
) IS NULL
RETURNING e.id, e.outcomes

-- keep outcomes --
INSERT INTO outcome (org_id, project_id, kind, element_id, session_id, seq, outcome)
SELECT %(org)s, %(project)s, %(kind)s, id, %(session_id)s, seq, %(outcome)s
FROM unnest(%(ids)s::text[], %(seqs)s::integer[]) moved (id, seq)
RETURNING 1

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
