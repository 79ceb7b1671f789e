-- What a bulk write leaves for later, how it is read until then, and how it is settled. A write of many new elements
-- does not enter them where they would be found faster, because that costs more than writing the rows themselves:
--
--   what is deferred                        how it is recorded                        settled by
--   documents and name postings             tally.behind of the kind, and no row in   "undocumented …", then as any write
--                                           …_document; "fall behind" sets it
--   relations in the indexes of walks,      relation.settled = false                  "settle relations"
--   and the columns of their ends
--   an entity's vector in entity_embedding, entity.embedding IS NOT NULL              "move vectors", "moved vectors"
--   and its name in the index of names
--   vectors in the index of a large scope   …_embedding.generation, not below that    index.vector_index
--                                           of vector_index
--
-- Until then they are read row by row: by the statements here, and by those that hold a fragment with a text for unsettled
-- rows (fragments.sql); answers are the same. Vectors stay unsettled in a scope that is searched exactly. graphsearch.stores.in_postgres.index.indexing decides what is deferred and when it is settled.

-- fall behind --
INSERT INTO tally AS t (org_id, project_id, kind, behind) VALUES (%(org)s, %(project)s, '{kind}', %(behind)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET behind = excluded.behind WHERE t.behind <> excluded.behind

-- undocumented --
-- The texts that graphsearch.text.bm25.searchable_text makes.
SELECT e.id, {text} AS text FROM (
    SELECT id FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM {kind}_document WHERE org_id = %(org)s AND project_id = %(project)s
    LIMIT %(limit)s
) missing
JOIN {kind} e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s

-- unnamed --
-- The names of entities that have no name postings yet.
SELECT e.id, e.type, e.name || e.aliases AS names FROM (
    SELECT id FROM entity WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM entity_lookup WHERE org_id = %(org)s AND project_id = %(project)s
) missing
JOIN entity e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s AND {unmerged}

-- settling --
-- Until the tables are analysed again the planner underestimates nested loops.
SET LOCAL enable_nestloop = off

-- settle relations --
-- In the order in which they are stored.
UPDATE relation r SET settled = true,
    source_columns = ({endpoint} AND n.id = r.source_id), target_columns = ({endpoint} AND n.id = r.target_id)
WHERE org_id = %(org)s AND project_id = %(project)s AND ctid = ANY(ARRAY(
    SELECT ctid FROM relation WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled LIMIT %(limit)s
))

-- unmoved vectors --
SELECT id FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND embedding IS NOT NULL
    AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))
LIMIT %(limit)s

-- move vectors --
INSERT INTO entity_embedding (org_id, project_id, id, dimensions, embedding, generation)
SELECT org_id, project_id, id, %(dimensions)s, embedding, %(generation)s FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) ORDER BY id

-- moved vectors --
UPDATE entity SET embedding = NULL
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])
