-- Vectors of facts. Once any fact of a scope has one, every relation whose fact has none is listed: what an ingest has to
-- embed is found without reading all relations.

-- drop vectors of changed facts --
DELETE FROM relation_embedding v
WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id IN (
    SELECT r.id FROM incoming_relation i
    JOIN relation r ON r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id
    WHERE r.fact <> i.fact
)

-- list facts written --
INSERT INTO unembedded_fact (org_id, project_id, id)
SELECT %(org)s, %(project)s, i.id FROM incoming_relation i
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = i.id
WHERE v.id IS NULL AND i.fact <> '' AND i.retracted_at IS NULL
ORDER BY i.id ON CONFLICT DO NOTHING

-- list all facts --
INSERT INTO unembedded_fact (org_id, project_id, id)
SELECT %(org)s, %(project)s, r.id FROM relation r
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = r.id
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND v.id IS NULL AND r.fact <> '' AND r.retracted_at IS NULL
ORDER BY r.id ON CONFLICT DO NOTHING

-- strike facts --
DELETE FROM unembedded_fact WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- unembedded facts --
SELECT {columns} FROM unembedded_fact f
JOIN relation e ON e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = f.id
WHERE f.org_id = %(org)s AND f.project_id = %(project)s AND (%(after)s::uuid IS NULL OR f.id > %(after)s)
    AND e.fact <> '' AND e.retracted_at IS NULL
ORDER BY f.id LIMIT %(limit)s

-- facts --
SELECT {columns} FROM relation e
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND (%(after)s::uuid IS NULL OR e.id > %(after)s)
    AND e.fact <> '' AND e.retracted_at IS NULL
ORDER BY e.id LIMIT %(limit)s
