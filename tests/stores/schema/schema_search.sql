-- Tables by which elements are found: vectors and words, alike for each kind of element, and approximate names.
--
-- A bulk write leaves its vectors out of the vector index and its texts without documents (see unsettled.sql). The postings
-- are a table and not a GIN index because row-level security bars the planner from an index whose operator is not
-- leakproof, which holds for all operators of full-text search.
--
-- A shadow is the vector that an element has after a change of the embedding model, NULL if its text has become blank, with
-- a digest of what the text is made of. Only elements with a vector have one.

DO $$
DECLARE
    element record;
BEGIN
    FOR element IN SELECT * FROM (VALUES ('entity', 'uuid'), ('relation', 'uuid'), ('memory', 'text COLLATE "C"')) kind (name, id) LOOP
        EXECUTE format(
            'CREATE TABLE %1$s_embedding (
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                dimensions integer NOT NULL,
                embedding halfvec NOT NULL,
                generation integer NOT NULL,
                PRIMARY KEY (org_id, project_id, id)
            );
            ALTER TABLE %1$s_embedding ALTER COLUMN embedding SET STORAGE PLAIN;
            CREATE INDEX %1$s_embedding_generation ON %1$s_embedding (org_id, project_id, generation);

            CREATE TABLE %1$s_shadow (
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                digest uuid NOT NULL,
                embedding halfvec,
                PRIMARY KEY (org_id, project_id, id)
            );
            ALTER TABLE %1$s_shadow ALTER COLUMN embedding SET STORAGE PLAIN;

            CREATE TABLE %1$s_embedding_part (
                part integer NOT NULL,
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                embedding halfvec NOT NULL
            ) PARTITION BY LIST (part);
            ALTER TABLE %1$s_embedding_part ALTER COLUMN embedding SET STORAGE PLAIN;

            CREATE TABLE %1$s_document (
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                length real NOT NULL,
                terms text[] COLLATE "C" NOT NULL,
                frequencies real[] NOT NULL,
                PRIMARY KEY (org_id, project_id, id)
            );

            CREATE TABLE %1$s_posting (
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                term text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                frequency real NOT NULL,
                length real NOT NULL,
                PRIMARY KEY (org_id, project_id, term, id) INCLUDE (frequency, length)
            );',
            element.name, element.id
        );
    END LOOP;
END
$$;

-- A scope with many vectors has an HNSW index of its own: copies of its vectors in a part (a partition) that holds nothing
-- else, so that no other scope's vectors are in the way of a search. The parts are in a schema that the app role cannot
-- enter; it reads them through their parents. A part can be dropped at any moment: searches that miss it are exact.
CREATE SCHEMA graphsearch_part;
CREATE SEQUENCE vector_part_number AS integer;

-- The part of a scope, and how it is searched; none if the scope is searched exactly. Vectors of this generation and later
-- are not in the part. "built" is the number of vectors of which an index was last made, "candidates" how many it is asked
-- for to find the ten nearest from anywhere (0: no number is enough), "bound" how near the tenth must be, as a share of the
-- last one's distance, for a few to be enough, and "building" a part that is being made.
CREATE TABLE vector_index (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    part integer,
    generation integer NOT NULL DEFAULT 0,
    built bigint NOT NULL,
    candidates integer,
    bound double precision NOT NULL DEFAULT 0,
    building integer,
    PRIMARY KEY (org_id, project_id, kind),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

-- Words with weights that entities are found by in addition to their texts.
CREATE TABLE entity_words (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL, id uuid NOT NULL, words jsonb NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

-- Relations whose fact has no vector, in a scope where any fact has one, so that the facts to embed are found without
-- reading all relations. Retracted relations may be among them.
CREATE TABLE unembedded_fact (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL, id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

-- Sums over the documents and vectors of a kind, whether elements may lack their documents, and in how many documents a
-- term occurs: one scope's numbers never depend on another's.
CREATE TABLE tally (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    documents bigint NOT NULL DEFAULT 0,
    total_length double precision NOT NULL DEFAULT 0,
    vectors bigint NOT NULL DEFAULT 0,
    behind boolean NOT NULL DEFAULT false,
    PRIMARY KEY (org_id, project_id, kind),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

CREATE TABLE term (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    documents bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, kind, term)
);

-- approximate names

-- Words and trigrams of the names that an entity shows, as graphsearch.claims.naming makes them; ordinal 0 is its own
-- name, the others are its aliases; names are folded. An entity has its row and its postings if it has its document. The
-- postings are a table for the same reason as those of documents.
CREATE TABLE entity_lookup (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    names text[] COLLATE "C" NOT NULL,
    terms text[] COLLATE "C" NOT NULL,
    sizes integer[] NOT NULL,
    ordinals integer[] NOT NULL,
    positions integer[] NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

CREATE TABLE name_posting (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    size integer NOT NULL,
    entity_id uuid NOT NULL,
    ordinal integer NOT NULL,
    position integer NOT NULL,
    PRIMARY KEY (org_id, project_id, term, size, entity_id, ordinal) INCLUDE (position)
);
