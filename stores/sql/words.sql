-- Documents (what lexical search reads) and vectors, with their sums. {kind} is entity, relation or memory.

-- entity text --
array_to_string(e.name || e.aliases || e.description, E'\n')

-- relation text --
e.fact

-- memory text --
concat_ws(E'\n', e.subject, e.speaker, e.text, to_char(e.occurred_at AT TIME ZONE 'UTC', 'FMDD FMMonth FMYYYY'))

-- entity words --
coalesce((
    SELECT w.words FROM entity_words w
    WHERE w.org_id = %(org)s AND w.project_id = %(project)s AND w.id = e.id
), jsonb_build_object())

-- relation words --
jsonb_build_object()

-- memory words --
jsonb_build_object()

-- words of entities --
SELECT id, words FROM entity_words
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- upsert words --
INSERT INTO entity_words AS w (org_id, project_id, id, words)
SELECT %(org)s, %(project)s, id, words FROM unnest(%(ids)s::uuid[], %(words)s::jsonb[]) AS given (id, words)
ON CONFLICT (org_id, project_id, id) DO UPDATE SET words = excluded.words WHERE w.words <> excluded.words

-- drop words --
DELETE FROM entity_words WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- changed documents --
-- A length below 0 takes a document away.
INSERT INTO changed_{kind}
SELECT i.id, i.length, i.terms, i.frequencies,
    coalesce(d.length, 0) AS old_length, coalesce(d.terms, ARRAY[]::text[]) AS old_terms, d.id IS NOT NULL AS replaces
FROM incoming_{kind}_document i
LEFT JOIN {kind}_document d ON d.org_id = %(org)s AND d.project_id = %(project)s AND d.id = i.id
    AND d.id = ANY(%(ids)s::{id}[])
WHERE CASE WHEN d.id IS NULL THEN i.length >= 0
    ELSE i.length < 0 OR (d.terms, d.frequencies) IS DISTINCT FROM (i.terms, i.frequencies) END

-- what changed --
SELECT count(*) > 0, count(*) FILTER (WHERE replaces) > 0 FROM changed_{kind}

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
-- Each is looked up: of tables that it was told nothing of yet, the planner would read all postings of the scope for a few.
DELETE FROM {kind}_posting p
USING (
    SELECT there.place
    FROM (SELECT id, unnest(old_terms) AS term FROM changed_{kind}) old
    CROSS JOIN LATERAL (
        SELECT ctid AS place FROM {kind}_posting
        WHERE org_id = %(org)s AND project_id = %(project)s AND term = old.term AND id = old.id
        LIMIT 1
    ) there
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

-- documented --
SELECT id FROM {kind}_document
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- fall behind --
INSERT INTO tally AS t (org_id, project_id, kind, behind) VALUES (%(org)s, %(project)s, '{kind}', %(behind)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET behind = excluded.behind WHERE t.behind <> excluded.behind

-- undocumented --
-- What graphsearch.text.bm25.searchable_text gives of elements that have no document yet, and their words.
SELECT e.id, {text} AS text, {words} AS words FROM (
    SELECT id FROM {kind} WHERE org_id = %(org)s AND project_id = %(project)s
    EXCEPT
    SELECT id FROM {kind}_document WHERE org_id = %(org)s AND project_id = %(project)s
    LIMIT %(limit)s
) missing
JOIN {kind} e ON e.id = missing.id
WHERE e.org_id = %(org)s AND e.project_id = %(project)s

-- upsert vectors --
INSERT INTO {kind}_embedding AS v (org_id, project_id, id, dimensions, embedding)
SELECT %(org)s, %(project)s, id, %(dimensions)s, embedding FROM incoming_{kind}_embedding
ON CONFLICT (org_id, project_id, id) DO UPDATE SET
    dimensions = excluded.dimensions, embedding = excluded.embedding, settled = false
WHERE v.embedding <> excluded.embedding

-- unmoved vectors --
SELECT id FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND embedding IS NOT NULL
    AND (%(ids)s::uuid[] IS NULL OR id = ANY(%(ids)s))
LIMIT %(limit)s

-- move vectors --
INSERT INTO entity_embedding (org_id, project_id, id, dimensions, embedding)
SELECT org_id, project_id, id, %(dimensions)s, embedding FROM entity
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[]) ORDER BY id

-- moved vectors --
UPDATE entity SET embedding = NULL
WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::uuid[])

-- vectors there --
SELECT count(*) FROM {kind}_embedding v JOIN incoming_{kind}_embedding i ON i.id = v.id
WHERE v.org_id = %(org)s AND v.project_id = %(project)s

-- count vectors --
INSERT INTO tally AS t (org_id, project_id, kind, vectors) VALUES (%(org)s, %(project)s, '{kind}', %(step)s)
ON CONFLICT (org_id, project_id, kind) DO UPDATE SET vectors = t.vectors + %(step)s

-- delete vectors --
DELETE FROM {kind}_embedding WHERE org_id = %(org)s AND project_id = %(project)s AND id = ANY(%(ids)s::{id}[])

-- settle vectors --
UPDATE {kind}_embedding SET settled = true
WHERE org_id = %(org)s AND project_id = %(project)s AND ctid = ANY(ARRAY(
    SELECT ctid FROM {kind}_embedding WHERE org_id = %(org)s AND project_id = %(project)s AND NOT settled LIMIT %(limit)s
))
