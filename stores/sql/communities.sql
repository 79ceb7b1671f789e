-- Communities, and the edges that they are found in.

-- edges --
SELECT
    coalesce(string_agg(uuid_send(id), ''), ''),
    coalesce(string_agg(uuid_send(source_id), ''), ''),
    coalesce(string_agg(uuid_send(target_id), ''), ''),
    coalesce(string_agg(float8send(confidence), ''), '')
FROM (
    SELECT e.id, e.source_id, e.target_id, e.confidence FROM relation e
    WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {following} AND {view}
    ORDER BY e.id LIMIT %(limit)s
) page

-- communities --
SELECT id, density FROM community
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))

-- members --
SELECT community_id, entity_id, strength, place FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR community_id = ANY(%(ids)s))
ORDER BY entity_id

-- communities of --
SELECT entity_id, community_id FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(entity_ids)s::uuid[])

-- merged away --
SELECT id FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) AND merged_into IS NOT NULL

-- names of --
SELECT id, name FROM entity WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- drop communities --
DELETE FROM community
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))

-- drop members --
DELETE FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND (%(ids)s::uuid[] IS NULL OR community_id = ANY(%(ids)s))

-- insert communities --
INSERT INTO community (org_id, project_id, id, density)
SELECT %(org)s, %(project)s, id, density FROM unnest(%(ids)s::uuid[], %(densities)s::float8[]) c (id, density)

-- insert members --
INSERT INTO community_member (org_id, project_id, entity_id, community_id, strength, place)
SELECT %(org)s, %(project)s, entity_id, community_id, strength, place
FROM unnest(%(entity_ids)s::uuid[], %(community_ids)s::uuid[], %(strengths)s::float8[], %(places)s::integer[])
    m (entity_id, community_id, strength, place)

-- leave communities --
DELETE FROM community_member
WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])
RETURNING community_id

-- too small --
SELECT c.id FROM community c
WHERE c.org_id = %(org)s AND c.project_id = %(project)s AND c.id = ANY(%(ids)s::uuid[])
    AND (SELECT count(*) FROM community_member m
        WHERE m.org_id = %(org)s AND m.project_id = %(project)s AND m.community_id = c.id) < 2
