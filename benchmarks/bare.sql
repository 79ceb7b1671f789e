-- The bare cost of a graph in Postgres: no rights, no time, no kinds, no evidence.

-- schema --
DROP SCHEMA IF EXISTS bare CASCADE;
CREATE SCHEMA bare;
CREATE TABLE bare.entity (
    org_id text,
    project_id text,
    id uuid,
    name text,
    embedding halfvec(256),
    PRIMARY KEY (org_id, project_id, id)
);
CREATE TABLE bare.relation (
    org_id text,
    project_id text,
    id uuid,
    source_id uuid,
    target_id uuid,
    type text,
    fact text,
    weight real,
    feedback real DEFAULT 0.5,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE TABLE bare.outcome (
    org_id text,
    project_id text,
    relation_id uuid,
    session_id text,
    outcome real,
    PRIMARY KEY (org_id, project_id, relation_id, session_id)
);

-- indexes --
SET maintenance_work_mem = '512MB';
CREATE INDEX ON bare.entity USING hnsw (embedding halfvec_cosine_ops);
CREATE INDEX ON bare.relation (org_id, project_id, source_id, weight DESC) INCLUDE (target_id, type, id);
CREATE INDEX ON bare.relation (org_id, project_id, target_id, weight DESC) INCLUDE (source_id, type, id);

-- stage entities --
CREATE TEMPORARY TABLE staged ON COMMIT DROP AS
SELECT org_id, project_id, id, name, embedding FROM bare.entity LIMIT 0;

-- copy entities --
COPY staged (org_id, project_id, id, name, embedding) FROM STDIN (FORMAT binary);

-- upsert entities --
INSERT INTO bare.entity (org_id, project_id, id, name, embedding)
SELECT * FROM staged
ON CONFLICT (org_id, project_id, id) DO UPDATE SET name = excluded.name, embedding = excluded.embedding;

-- stage relations --
CREATE TEMPORARY TABLE staged ON COMMIT DROP AS
SELECT org_id, project_id, id, source_id, target_id, type, fact, weight FROM bare.relation LIMIT 0;

-- copy relations --
COPY staged (org_id, project_id, id, source_id, target_id, type, fact, weight) FROM STDIN (FORMAT binary);

-- upsert relations --
INSERT INTO bare.relation (org_id, project_id, id, source_id, target_id, type, fact, weight)
SELECT * FROM staged
ON CONFLICT (org_id, project_id, id) DO UPDATE SET weight = excluded.weight;

-- seeds --
SELECT id, embedding <=> %(vector)s::halfvec AS distance
FROM bare.entity
WHERE org_id = 'o' AND project_id = 'p'
ORDER BY embedding <=> %(vector)s::halfvec
LIMIT 10;

-- search --
WITH seed AS MATERIALIZED (
    SELECT id, embedding <=> %(vector)s::halfvec AS distance
    FROM bare.entity
    WHERE org_id = 'o' AND project_id = 'p'
    ORDER BY embedding <=> %(vector)s::halfvec
    LIMIT 10
),
first AS MATERIALIZED (
    SELECT met.*
    FROM seed, LATERAL (
        (SELECT id, source_id, target_id, weight, target_id AS far FROM bare.relation
            WHERE org_id = 'o' AND project_id = 'p' AND source_id = seed.id ORDER BY weight DESC LIMIT 25)
        UNION ALL
        (SELECT id, source_id, target_id, weight, source_id AS far FROM bare.relation
            WHERE org_id = 'o' AND project_id = 'p' AND target_id = seed.id ORDER BY weight DESC LIMIT 25)
    ) met
),
frontier AS MATERIALIZED (SELECT DISTINCT far AS id FROM first LIMIT 500),
second AS MATERIALIZED (
    SELECT met.*
    FROM frontier, LATERAL (
        (SELECT id, source_id, target_id, weight, target_id AS far FROM bare.relation
            WHERE org_id = 'o' AND project_id = 'p' AND source_id = frontier.id ORDER BY weight DESC LIMIT 25)
        UNION ALL
        (SELECT id, source_id, target_id, weight, source_id AS far FROM bare.relation
            WHERE org_id = 'o' AND project_id = 'p' AND target_id = frontier.id ORDER BY weight DESC LIMIT 25)
    ) met
)
SELECT 0 AS hop, id, NULL::uuid AS source_id, NULL::uuid AS target_id, distance::real AS weight FROM seed
UNION ALL
SELECT 1, id, source_id, target_id, weight FROM first
UNION ALL
SELECT 2, id, source_id, target_id, weight FROM second;

-- hydrate relations --
SELECT id, type, fact FROM bare.relation WHERE org_id = 'o' AND project_id = 'p' AND id = ANY(%(ids)s);

-- hydrate entities --
SELECT id, name FROM bare.entity WHERE org_id = 'o' AND project_id = 'p' AND id = ANY(%(ids)s);

-- remember outcomes --
INSERT INTO bare.outcome (org_id, project_id, relation_id, session_id, outcome)
SELECT 'o', 'p', id, %(session)s, 1.0 FROM unnest(%(ids)s::uuid[]) AS id;

-- learn --
UPDATE bare.relation
SET feedback = 0.1 + 0.9 * feedback
FROM unnest(%(ids)s::uuid[]) AS surfaced (id)
WHERE org_id = 'o' AND project_id = 'p' AND relation.id = surfaced.id;
