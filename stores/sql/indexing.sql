-- Documents, which lexical search reads, and vectors, with their sums.

-- upsert words --
INSERT INTO entity_words AS w (org_id, project_id, id, words)
SELECT %(org)s, %(project)s, id, words FROM unnest(%(ids)s::uuid[], %(words)s::jsonb[]) AS given (id, words)
ON CONFLICT (org_id, project_id, id) DO UPDATE SET words = excluded.words WHERE w.words <> excluded.words

-- remove words --
DELETE FROM entity_words WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- changed documents --
-- A length below 0 drops a document.
INSERT INTO changed_{kind}
SELECT i.id, i.length, i.terms, i.frequencies,
    coalesce(d.length, 0) AS old_length, coalesce(d.terms, ARRAY[]::text[]) AS old_terms, d.id IS NOT NULL AS replaces
FROM incoming_{kind}_document i
LEFT JOIN {kind}_document d ON d.org_id = %(org)s AND d.project_id = %(project)s AND d.id = i.id
    AND d.id = ANY(%(ids)s::{id}[])
WHERE CASE WHEN d.id IS NULL THEN i.length >= 0
    ELSE i.length < 0 OR (d.terms, d.frequencies) IS DISTINCT FROM (i.terms, i.frequencies) END

-- what changed --
-- Whether any document did, and the ids of those that were there before.
SELECT count(*) > 0, coalesce(array_agg(id) FILTER (WHERE replaces), '{}') FROM changed_{kind}

-- count terms --
WITH delta AS MATERIALIZED (
    SELECT term, sum(step) AS step FROM (
        SELECT unnest(terms) AS term, 1 AS step FROM changed_{kind}
        UNION ALL
        SELECT unnest(old_terms), -1 FROM changed_{kind}
    ) steps GROUP BY term HAVING sum(step) <> 0
)
INSERT INTO term AS t (org_id, project_id, kind, term, documents)
SELECT %(org)s, %(project)s, '{kind}', term, step FROM delta ORDER BY term
ON CONFLICT (org_id, project_id, kind, term) DO UPDATE SET documents = t.documents + excluded.documents

-- forget terms --
DELETE FROM term WHERE org_id = %(org)s AND project_id = %(project)s AND kind = '{kind}' AND documents = 0
    AND term IN (SELECT unnest(old_terms) FROM changed_{kind})

-- count documents --
INSERT INTO tally AS t (org_id, project_id, kind, documents, total_length)
SELECT %(org)s, %(project)s, '{kind}',
    coalesce(sum((length > 0)::integer - (old_length > 0)::integer), 0), coalesce(sum(greatest(length, 0) - old_length), 0)
FROM changed_{kind}
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET
    documents = t.documents + excluded.documents, total_length = t.total_length + excluded.total_length

-- drop postings --
-- Each posting is looked up by itself: without statistics the planner would read all postings of the scope for a few.
DELETE FROM {kind}_posting p
USING (
    SELECT there.place
    FROM {kind}_document d
    CROSS JOIN LATERAL unnest(d.terms) old (term)
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {kind}_posting
        WHERE org_id = %(org)s AND project_id = %(project)s AND term = old.term AND id = d.id
        LIMIT 1
    ) there
    WHERE d.org_id = %(org)s AND d.project_id = %(project)s AND d.id = ANY(%(ids)s::{id}[])
) old
WHERE p.org_id = %(org)s AND p.project_id = %(project)s AND p.ctid = old.place

-- drop documents --
DELETE FROM {kind}_document d USING changed_{kind} c
WHERE d.org_id = %(org)s AND d.project_id = %(project)s AND d.id = c.id AND c.length < 0

-- upsert documents --
INSERT INTO {kind}_document (org_id, project_id, id, length, terms, frequencies)
SELECT %(org)s, %(project)s, id, length, terms, frequencies FROM changed_{kind} WHERE length >= 0 ORDER BY id
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    length = excluded.length, terms = excluded.terms, frequencies = excluded.frequencies

-- post documents --
INSERT INTO {kind}_posting (org_id, project_id, term, id, frequency, length)
SELECT %(org)s, %(project)s, u.term, c.id, u.frequency, c.length
FROM changed_{kind} c, unnest(c.terms, c.frequencies) u (term, frequency)
ORDER BY u.term, c.id
RETURNING 1

-- insert vectors --
INSERT INTO {kind}_embedding (org_id, project_id, id, dimensions, embedding, generation)
SELECT %(org)s, %(project)s, id, %(dimensions)s, embedding, %(generation)s FROM incoming_{kind}_embedding
RETURNING 1

-- upsert vectors --
INSERT INTO {kind}_embedding AS v (org_id, project_id, id, dimensions, embedding, generation)
SELECT %(org)s, %(project)s, id, %(dimensions)s, embedding, %(generation)s FROM incoming_{kind}_embedding
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    dimensions = excluded.dimensions, embedding = excluded.embedding, generation = excluded.generation
WHERE v.embedding <> excluded.embedding

-- vectors there --
SELECT count(*) FROM {kind}_embedding v JOIN incoming_{kind}_embedding i ON i.id = v.id
WHERE v.org_id = %(org)s AND v.project_id = %(project)s

-- count vectors --
INSERT INTO tally AS t (org_id, project_id, kind, vectors) VALUES (%(org)s, %(project)s, '{kind}', %(step)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET vectors = t.vectors + %(step)s

-- delete copies --
-- Copies of vectors in the scope's part of the vector index.
DELETE FROM {kind}_embedding_part
WHERE part = %(part)s AND org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- delete copies of changed vectors --
DELETE FROM {kind}_embedding_part p USING incoming_{kind}_embedding i, {kind}_embedding v
WHERE p.part = %(part)s AND p.org_id = %(org)s AND p.project_id = %(project)s AND p.id = i.id
    AND v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = i.id AND v.embedding <> i.embedding

-- drop vectors of changed facts --
DELETE FROM relation_embedding v
WHERE v.org_id = %(org)s AND v.project_id = %(project)s AND v.id IN (
    SELECT r.id FROM incoming_relation i
    JOIN relation r ON r.org_id = %(org)s AND r.project_id = %(project)s AND r.id = i.id
    WHERE r.fact <> i.fact
)
RETURNING v.id

-- list facts written --
INSERT INTO unembedded_fact (org_id, project_id, id)
SELECT %(org)s, %(project)s, i.id FROM incoming_relation i
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = i.id
WHERE v.id IS NULL AND i.fact <> '' AND i.retracted_at IS NULL
ORDER BY i.id ON CONFLICT DO NOTHING

-- list facts --
INSERT INTO unembedded_fact (org_id, project_id, id)
SELECT %(org)s, %(project)s, f.id FROM unnest(%(ids)s::uuid[]) f (id)
LEFT JOIN relation_embedding v ON v.org_id = %(org)s AND v.project_id = %(project)s AND v.id = f.id
WHERE v.id IS NULL
ORDER BY f.id ON CONFLICT DO NOTHING

-- strike facts --
DELETE FROM unembedded_fact WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

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

-- sweep name postings --
DELETE FROM name_posting WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])

-- add name postings --
INSERT INTO name_posting (org_id, project_id, term, size, entity_id, ordinal, position)
SELECT %(org)s, %(project)s, term, size, id, ordinal, position
FROM unnest(%(terms)s::text[], %(sizes)s::integer[], %(ids)s::uuid[], %(ordinals)s::integer[], %(positions)s::integer[])
    new (term, size, id, ordinal, position)
ORDER BY term, size, id, ordinal

-- remove aliases --
DELETE FROM entity_alias WHERE org_id = %(org)s AND project_id = %(project)s AND entity_id = ANY(%(ids)s::uuid[])

-- add aliases --
INSERT INTO entity_alias (org_id, project_id, entity_id, ordinal, name, hash)
SELECT %(org)s, %(project)s, id, ordinal, name, hash
FROM unnest(%(ids)s::uuid[], %(ordinals)s::integer[], %(names)s::text[], %(hashes)s::bigint[]) new (id, ordinal, name, hash)
ORDER BY id, ordinal
