-- Proposals: calls of operations that wait for a person.

-- proposals --
SELECT content FROM proposal
WHERE org_id = %(org)s AND project_id = %(project)s
    AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s::uuid[])) AND (%(state)s::text IS NULL OR state = %(state)s::text)
    AND (%(after)s::uuid IS NULL OR (created_at, id) > (
        SELECT created_at, id FROM proposal WHERE org_id = %(org)s AND project_id = %(project)s AND id = %(after)s::uuid
    ))
ORDER BY created_at, id LIMIT %(limit)s
