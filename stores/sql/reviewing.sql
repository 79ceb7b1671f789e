-- Proposals: calls of operations that wait for a person.

-- propose --
INSERT INTO proposal (org_id, project_id, id, created_at, state, decided_at, content)
VALUES (%(org)s, %(project)s, %(id)s, %(created_at)s, %(state)s, %(decided_at)s, %(content)s::json)
ON CONFLICT DO NOTHING

-- proposals --
SELECT content FROM proposal
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s::uuid[])) AND (%(state)s::text IS NULL OR state = %(state)s::text)
    AND (%(after)s::uuid IS NULL OR (created_at, id) > (
        SELECT created_at, id FROM proposal WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(after)s::uuid
    ))
ORDER BY created_at, id LIMIT %(limit)s

-- decide --
-- Changes nothing where another transaction has decided, for which this one waits.
UPDATE proposal SET state = %(state)s, decided_at = %(decided_at)s, content = %(content)s::json
WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(id)s
    AND state = %(was)s AND decided_at IS NOT DISTINCT FROM %(since)s::timestamptz
