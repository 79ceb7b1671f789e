-- Changing the embedding model of a scope: shadows, which are the new vectors beside the old ones, and the switch.

-- begin reembedding --
UPDATE scope SET next_embedder = %(name)s, next_dimensions = %(length)s
WHERE org_id = %(org)s AND project_id = %(project)s

-- outdated --
-- Elements with a vector and no shadow of their present text, each with a digest of all that the text is made of
-- (graphsearch.text.bm25.embedding_text); "every" are those with a vector. Of a page of vectors by id, or of the whole
-- scope. Shadows are looked up one by one: joins of tables that grow this fast are planned for the size they had.
SELECT {columns}, e.digest FROM (
    SELECT x.*, encode(substr(sha256(convert_to({embedded}, 'UTF8')), 1, 16), 'hex')::uuid AS digest FROM {kind} x
    WHERE x.org_id = %(org)s AND x.project_id = %(project)s AND (%(ids)s::{id}[] IS NULL OR x.id = ANY(%(ids)s::{id}[]))
) e
WHERE (%(ids)s::{id}[] IS NOT NULL OR EXISTS (
    SELECT FROM {kind}_embedding v WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = e.id
)) AND (%(every)s OR e.digest IS DISTINCT FROM (
    SELECT s.digest FROM {kind}_shadow s WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.id = e.id
))
ORDER BY e.id LIMIT %(limit)s

-- put shadows --
INSERT INTO {kind}_shadow (org_id, project_id, id, digest, embedding)
SELECT %(org)s, %(project)s, i.id, i.digest, i.embedding FROM incoming_{kind}_shadow i
JOIN {kind}_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = i.id
ORDER BY i.id
ON CONFLICT (org_id, project_id, id) DO UPDATE SET digest = excluded.digest, embedding = excluded.embedding
RETURNING 1

-- delete shadows of changed vectors --
DELETE FROM {kind}_shadow s USING incoming_{kind}_embedding i, {kind}_embedding v
WHERE s.org_id = %(org)s AND s.project_id = %(project)s AND s.id = i.id
    AND v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = i.id AND v.embedding <> i.embedding

-- shadows to vectors --
INSERT INTO {kind}_embedding (org_id, project_id, id, dimensions, embedding, generation)
SELECT org_id, project_id, id, vector_dims(embedding), embedding, %(generation)s FROM {kind}_shadow
WHERE org_id = %(org)s AND project_id = %(project)s AND embedding IS NOT NULL ORDER BY id

-- switch embedder --
UPDATE scope SET embedder = next_embedder, dimensions = next_dimensions, next_embedder = NULL, next_dimensions = NULL
WHERE org_id = %(org)s AND project_id = %(project)s
