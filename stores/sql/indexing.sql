-- What searches by words, by names and by vectors read, kept up to date with the rows that are written. An INSERT of rows
-- from arrays returns something, or a cluster would make it a COPY, which row-level security forbids.

-- upsert words --
INSERT INTO entity_words AS w (org_id, project_id, id, words)
SELECT %(org)s, %(project)s, id, words FROM unnest(%(ids)s::uuid[], %(words)s::jsonb[]) AS given (id, words)
ON CONFLICT (org_id, project_id, id) DO UPDATE SET words = excluded.words WHERE w.words <> excluded.words

-- put vectors --
-- The numbers of all vectors are one array.
INSERT INTO {kind}_embedding AS v (org_id, project_id, id, dimensions, embedding, generation)
SELECT %(org)s, %(project)s, id, %(length)s, {vector given}, %(generation)s
FROM unnest(%(ids)s::{id}[]) WITH ORDINALITY new (id, place)
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    dimensions = excluded.dimensions, embedding = excluded.embedding, generation = excluded.generation
WHERE v.embedding <> excluded.embedding

-- vectors there --
SELECT count(*) FROM {kind}_embedding WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- changed vectors --
SELECT v.id FROM unnest(%(ids)s::{id}[]) WITH ORDINALITY new (id, place)
JOIN {kind}_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = new.id
WHERE v.embedding <> {vector given}

-- count vectors --
INSERT INTO tally AS t (org_id, project_id, kind, vectors) VALUES (%(org)s, %(project)s, '{kind}', %(step)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET vectors = t.vectors + %(step)s

-- drop copies --
-- Copies of vectors in the scope's part of the vector index.
DELETE FROM {kind}_embedding_part
WHERE part = %(part)s AND org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- list facts --
INSERT INTO unembedded_fact (org_id, project_id, id)
SELECT %(org)s, %(project)s, f.id FROM unnest(%(ids)s::uuid[]) f (id)
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = f.id
WHERE v.id IS NULL
ORDER BY f.id ON CONFLICT DO NOTHING

-- list all facts --
INSERT INTO unembedded_fact (org_id, project_id, id)
SELECT %(org)s, %(project)s, r.id FROM relation r
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = r.id
WHERE r.org_id = %(org)s AND r.project_id = %(project)s AND v.id IS NULL AND r.fact <> '' AND r.retracted_at IS NULL
ORDER BY r.id ON CONFLICT DO NOTHING

-- remove postings --
-- Each posting is looked up by itself: without statistics the planner would read all postings of the scope for a few.
DELETE FROM {kind}_posting p
USING (
    SELECT there.place FROM unnest(%(terms)s::text[], %(ids)s::{id}[]) old (term, id)
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {kind}_posting
        WHERE org_id = %(org)s AND project_id = %(project)s AND term = old.term AND id = old.id
        LIMIT 1
    ) there
) old
WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.ctid = old.place

-- sweep postings --
-- All that are left of some elements, wherever they are.
WITH gone AS (
    DELETE FROM {kind}_posting
    WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])
    RETURNING term
)
SELECT DISTINCT term FROM gone

-- add postings --
INSERT INTO {kind}_posting (org_id, project_id, term, id, frequency, length)
SELECT %(org)s, %(project)s, term, id, frequency, length
FROM unnest(%(terms)s::text[], %(ids)s::{id}[], %(frequencies)s::real[], %(lengths)s::real[]) new (term, id, frequency, length)
ORDER BY term, id
RETURNING 1

-- add to terms --
INSERT INTO term AS t (org_id, project_id, kind, term, documents)
SELECT %(org)s, %(project)s, '{kind}', term, step
FROM unnest(%(terms)s::text[], %(steps)s::bigint[]) change (term, step) ORDER BY term
ON CONFLICT (org_id, project_id, kind, term) DO UPDATE SET documents = t.documents + excluded.documents

-- count terms anew --
INSERT INTO term AS t (org_id, project_id, kind, term, documents)
SELECT %(org)s, %(project)s, '{kind}', term, (
    SELECT count(*) FROM {kind}_posting p WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.term = had.term
)
FROM unnest(%(terms)s::text[]) had (term) ORDER BY term
ON CONFLICT (org_id, project_id, kind, term) DO UPDATE SET documents = excluded.documents

-- remove unused terms --
DELETE FROM term
WHERE org_id = %(org)s AND project_id = %(project)s AND kind = '{kind}' AND term = ANY(%(terms)s::text[]) AND documents = 0

-- add to sums --
INSERT INTO tally AS t (org_id, project_id, kind, documents, total_length)
VALUES (%(org)s, %(project)s, '{kind}', %(documents)s, %(length)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET
    documents = t.documents + excluded.documents, total_length = t.total_length + excluded.total_length

-- remove name postings --
-- Each posting is looked up by itself, as in "remove postings".
DELETE FROM name_posting p
USING (
    SELECT there.place
    FROM unnest(%(terms)s::text[], %(sizes)s::integer[], %(ids)s::uuid[], %(ordinals)s::integer[]) old (term, size, id, ordinal)
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM name_posting
        WHERE org_id = %(org)s AND project_id = %(project)s
            AND term = old.term AND size = old.size AND entity_id = old.id AND ordinal = old.ordinal
        LIMIT 1
    ) there
) old
WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.ctid = old.place

-- add name postings --
INSERT INTO name_posting (org_id, project_id, term, size, entity_id, ordinal, position)
SELECT %(org)s, %(project)s, term, size, id, ordinal, position
FROM unnest(%(terms)s::text[], %(sizes)s::integer[], %(ids)s::uuid[], %(ordinals)s::integer[], %(positions)s::integer[])
    new (term, size, id, ordinal, position)
ORDER BY term, size, id, ordinal
RETURNING 1

-- add aliases --
INSERT INTO entity_alias (org_id, project_id, entity_id, ordinal, name, hash)
SELECT %(org)s, %(project)s, id, ordinal, name, hash
FROM unnest(%(ids)s::uuid[], %(ordinals)s::integer[], %(names)s::text[], %(hashes)s::bigint[]) new (id, ordinal, name, hash)
ORDER BY id, ordinal
RETURNING 1

-- shadows to vectors --
INSERT INTO {kind}_embedding (org_id, project_id, id, dimensions, embedding, generation)
SELECT org_id, project_id, id, vector_dims(embedding), embedding, %(generation)s FROM {kind}_shadow
WHERE org_id = %(org)s AND project_id = %(project)s AND embedding IS NOT NULL ORDER BY id
