-- Tables by which elements are found: vectors and words, alike for each kind of element, and approximate names.
--
-- A bulk write leaves its vectors out of the HNSW index and its texts without documents (see unsettled.sql). The postings
-- are a table and not a GIN index because row-level security bars the planner from an index whose operator is not
-- leakproof, which holds for all operators of full-text search.

DO $$
DECLARE
    element record;
    length integer;
BEGIN
    FOR element IN SELECT * FROM (VALUES ('entity', 'uuid'), ('relation', 'uuid'), ('memory', 'text COLLATE "C"')) kind (name, id) LOOP
        EXECUTE format(
            'CREATE TABLE %1$s_embedding (
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                dimensions integer NOT NULL,
                embedding halfvec NOT NULL,
                settled boolean NOT NULL DEFAULT false,
                PRIMARY KEY (org_id, project_id, id)
            );
            ALTER TABLE %1$s_embedding ALTER COLUMN embedding SET STORAGE PLAIN;
            CREATE INDEX %1$s_embedding_unsettled ON %1$s_embedding (org_id, project_id) WHERE NOT settled;

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
        FOREACH length IN ARRAY ARRAY[256, 384, 512, 768, 1024, 1536] LOOP
            EXECUTE format(
                'CREATE INDEX %1$s_embedding_hnsw_%2$s ON %1$s_embedding
                    USING hnsw ((embedding::halfvec(%2$s)) halfvec_cosine_ops) WHERE dimensions = %2$s AND settled',
                element.name, length
            );
        END LOOP;
    END LOOP;
END
$$;

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
