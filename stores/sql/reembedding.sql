-- Changing the embedding model of a scope: shadows, which are the new vectors beside the old ones, and the switch.

-- shadows to vectors --
INSERT INTO {kind}_embedding (org_id, project_id, id, dimensions, embedding, generation)
SELECT org_id, project_id, id, vector_dims(embedding), embedding, %(generation)s FROM {kind}_shadow
WHERE org_id = %(org)s AND project_id = %(project)s AND embedding IS NOT NULL ORDER BY id
