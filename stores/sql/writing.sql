-- Writing elements with their mentions and claims. A batch is first copied into temporary tables incoming_…, in the
-- order of an index, which is fastest. An upsert does not write unchanged rows; an insert is for rows that are all new,
-- and fails if one is not.

-- existing --
SELECT id FROM {table} WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- missing --
SELECT i.id FROM unnest(%(ids)s::{id}[]) i (id)
WHERE NOT EXISTS (
    SELECT FROM {kind} e WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND e.id = i.id
)

-- columns of ends --
-- The endpoint columns of entities, for relations that are not older than the entity.
SELECT n.id, encode(int8send(n.signature) || float8send(n.importance_weight), 'hex')::uuid, n.created_at FROM entity n
WHERE n.scope_hash = %(scope)s AND n.org_id = %(org)s AND n.project_id = %(project)s AND n.id = ANY(%(ids)s::uuid[])
    AND n.valid_from IS NULL AND n.valid_to IS NULL AND n.merged_into IS NULL

-- copy columns of sources --
UPDATE relation r SET source_columns = ({endpoint} AND n.id = r.source_id)
WHERE r.scope_hash = %(scope)s AND r.org_id = %(org)s AND r.project_id = %(project)s AND r.source_id = ANY(%(ids)s::uuid[])

-- copy columns of targets --
UPDATE relation r SET target_columns = ({endpoint} AND n.id = r.target_id)
WHERE r.scope_hash = %(scope)s AND r.org_id = %(org)s AND r.project_id = %(project)s AND r.target_id = ANY(%(ids)s::uuid[])

-- mark shared --
UPDATE scope SET shares = true WHERE org_id = %(org)s AND project_id = %(project)s

-- weigh relations --
UPDATE relation SET weight = confidence * %(prior)s
WHERE org_id = %(org)s AND project_id = %(project)s AND type = %(name)s AND weight <> confidence * %(prior)s

-- count --
INSERT INTO counter AS c (org_id, project_id, name, number)
SELECT %(org)s, %(project)s, name, number FROM unnest(%(names)s::text[], %(numbers)s::bigint[]) given (name, number)
ON CONFLICT (org_id, project_id, name) DO UPDATE SET number = c.number + excluded.number
