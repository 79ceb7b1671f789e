-- The schema: elements, merges and learning; vectors, words and names; what is set for every table; the functions of vector
-- indexes.
--
-- Every key has (org_id, project_id), and starts with them, so that a scope lies together and the tables distribute by
-- org_id. Where thousands of rows are looked up or written at once, an index starts with their hash instead (scope_hash):
-- comparing two texts at every level of the index costs a tenth of a walk. The policies add the hash to every condition.
-- Text that is compared or sorted is of collation "C": by code point, as everywhere in graphsearch.
-- Between elements there are no foreign keys: a check row by row would double the cost of a bulk write. The writers of
-- one scope take turns (a lock), and check endpoints and follow deletions in sets.

CREATE TABLE scope (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    alpha double precision NOT NULL DEFAULT 0.1 CHECK (alpha > 0 AND alpha < 1),
    analyser text NOT NULL, -- the analyser that made the terms of its texts
    embedder text,
    dimensions integer CHECK (dimensions > 0),
    signatures_dropped bigint NOT NULL DEFAULT 0, -- how many were dropped; caches of signatures are dropped when it changes
    shares boolean NOT NULL DEFAULT false, -- whether a signature was ever shared
    merges integer NOT NULL DEFAULT 0, -- how many merges were ever made
    changes bigint NOT NULL DEFAULT 0, -- increases with every change to elements and their names
    health jsonb NOT NULL DEFAULT '[]', -- the health that it had, the oldest first; a bounded number of records
    summarised boolean NOT NULL DEFAULT false, -- whether a community ever had a summary
    next_embedder text, -- the model that its texts are being embedded by, until the switch to it
    next_dimensions integer,
    id_key uuid, -- the imported secret by which ids are minted; NULL: derived from that of the database
    PRIMARY KEY (org_id, project_id)
);

CREATE TABLE relation_type (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, prior double precision NOT NULL, half_life_days double precision,
    hop_scores double precision[] NOT NULL, functional boolean NOT NULL, causal boolean NOT NULL,
    skip boolean NOT NULL, state boolean NOT NULL,
    PRIMARY KEY (org_id, project_id, name),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

-- Counters that batches add to.
CREATE TABLE counter (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, number bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, name),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

-- What policies see of an element without reading it, by a code made from the content. shared is the content's own field.
CREATE TABLE signature (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    code bigint NOT NULL, content jsonb NOT NULL, shared boolean NOT NULL, users bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, code)
);
CREATE INDEX signature_shared ON signature (org_id, project_id, code) WHERE shared;

-- elements

-- given_aliases are among the aliases, which are a fold (graphsearch.claims.naming). An entity that is only named exists
-- through its mentions, and takes its type from them where given_type is unspecific. Names are looked up in the form
-- folded_name, by its hash because an index entry may not be that long. scope_hash is
-- written and checked, and not generated as in relation, because for a generated column Postgres copies the whole row.
CREATE TABLE entity (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL, type text COLLATE "C" NOT NULL, given_type text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL, folded_name text COLLATE "C" NOT NULL, name_hash bigint NOT NULL,
    description text COLLATE "C" NOT NULL, aliases text[] COLLATE "C" NOT NULL,
    given_aliases text[] COLLATE "C" NOT NULL, named boolean NOT NULL, labels text[] COLLATE "C" NOT NULL,
    attributes jsonb NOT NULL, importance_weight double precision NOT NULL, feedback_weight double precision NOT NULL,
    outcomes integer NOT NULL DEFAULT 0, valid_from timestamptz, valid_to timestamptz,
    created_at timestamptz NOT NULL, merged_into uuid, signature bigint NOT NULL,
    scope_hash bigint NOT NULL
        CONSTRAINT entity_scope_hash CHECK (scope_hash = hashtextextended(org_id, hashtextextended(project_id, 0))),
    PRIMARY KEY (scope_hash, id, org_id, project_id)
        INCLUDE (signature, importance_weight, valid_from, valid_to, created_at, merged_into)
) WITH (fillfactor = 90);
CREATE INDEX entity_name_hash ON entity (org_id, project_id, name_hash);

-- Aliases in the form in which they are looked up.
CREATE TABLE entity_alias (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    entity_id uuid NOT NULL, ordinal integer NOT NULL, name text COLLATE "C" NOT NULL, hash bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, entity_id, ordinal)
);
CREATE INDEX entity_alias_hash ON entity_alias (org_id, project_id, hash);

CREATE TABLE memory (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL, text text COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL,
    speaker text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL, position bigint NOT NULL,
    occurred_at timestamptz, source text COLLATE "C" NOT NULL, labels text[] COLLATE "C" NOT NULL,
    attributes jsonb NOT NULL, feedback_weight double precision NOT NULL, outcomes integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL, signature bigint NOT NULL,
    merges integer NOT NULL DEFAULT 0, -- the scope's number when its mentions and claims were written
    zone integer NOT NULL DEFAULT 0, -- the minutes east of UTC in which occurred_at was given
    PRIMARY KEY (org_id, project_id, id)
) WITH (fillfactor = 90);
CREATE INDEX memory_source ON memory (org_id, project_id, source, id);
CREATE INDEX memory_session ON memory (org_id, project_id, session_id, id);
CREATE INDEX memory_turn ON memory (org_id, project_id, session_id, position, id) WHERE session_id <> '';

-- Where an entity was merged into another, entity_id and the ends of claims and given relations are the entity that is
-- meant now; the columns original_… have the ids that were written, and are NULL in rows that no merge has changed.
-- surface_hash is of surface and type, which may be too long for an index entry. created_at, occurred_at and signature
-- are the memory's, so that neither a walk nor a fold need look up each of them.
CREATE TABLE mention (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL, ordinal integer NOT NULL, entity_id uuid NOT NULL,
    surface text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL, surface_hash bigint NOT NULL,
    span_start bigint, span_end bigint, confidence double precision NOT NULL, original_entity_id uuid,
    created_at timestamptz NOT NULL, occurred_at timestamptz, signature bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, memory_id, ordinal)
);
CREATE INDEX mention_memory ON mention (org_id, project_id, entity_id, memory_id)
    INCLUDE (span_start, created_at, occurred_at, signature);
CREATE INDEX mention_entity ON mention (org_id, project_id, entity_id, surface_hash, memory_id);
CREATE INDEX mention_original ON mention (org_id, project_id, original_entity_id) WHERE original_entity_id IS NOT NULL;

CREATE TABLE claim (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL, ordinal integer NOT NULL, source_id uuid NOT NULL,
    type text COLLATE "C" NOT NULL, target_id uuid NOT NULL, confidence double precision NOT NULL,
    valid_from timestamptz, valid_to timestamptz, kind text COLLATE "C" NOT NULL, fact text COLLATE "C" NOT NULL,
    span_start bigint, span_end bigint, extractor text COLLATE "C" NOT NULL, original_source_id uuid,
    original_target_id uuid, ceiling double precision NOT NULL DEFAULT 1, occurred_at timestamptz,
    signature bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, memory_id, ordinal)
);
CREATE INDEX claim_source ON claim (org_id, project_id, source_id);
CREATE INDEX claim_target ON claim (org_id, project_id, target_id);
CREATE INDEX claim_original ON claim (org_id, project_id, original_source_id, original_target_id)
    WHERE original_source_id IS NOT NULL;

-- weight is confidence × prior of the type; folded relations are made of claims, the others were given. One that a merge
-- brought back had been retracted at lapsed_at. source_columns and target_columns are copies of the signature and the
-- importance of each end, 8 bytes each; NULL for an end that has a period, was merged away or is younger than the
-- relation.
CREATE TABLE relation (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL, source_id uuid NOT NULL, type text COLLATE "C" NOT NULL, target_id uuid NOT NULL,
    valid_from timestamptz, valid_to timestamptz, fact text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL,
    confidence double precision NOT NULL, weight double precision NOT NULL, labels text[] COLLATE "C" NOT NULL,
    attributes jsonb NOT NULL, feedback_weight double precision NOT NULL, outcomes integer NOT NULL DEFAULT 0,
    evidence text[] COLLATE "C" NOT NULL, supported_at timestamptz, created_at timestamptz NOT NULL,
    retracted_at timestamptz, folded boolean NOT NULL, signature bigint NOT NULL, original_source_id uuid,
    original_target_id uuid, lapsed_at timestamptz, source_columns uuid, target_columns uuid,
    type_hash bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(type, 0)) STORED,
    learned boolean NOT NULL GENERATED ALWAYS AS (feedback_weight <> 0.5) STORED,
    scope_hash bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(org_id, hashtextextended(project_id, 0))) STORED,
    PRIMARY KEY (org_id, project_id, id)
) WITH (fillfactor = 90);
-- Strongest first, so that a hub costs no more than any other entity; with the columns that a walk needs, so that it
-- rarely reads the table. The type may be too long for an index entry, and the feedback weight would be rewritten with
-- every outcome: a hash, and whether the weight was moved, show whether a row must be read.
CREATE INDEX relation_outgoing ON relation (scope_hash, source_id, weight DESC, id)
    INCLUDE (target_id, target_columns, signature, confidence, type_hash, valid_from, valid_to, created_at, supported_at,
        retracted_at, learned, org_id, project_id);
CREATE INDEX relation_incoming ON relation (scope_hash, target_id, weight DESC, id)
    INCLUDE (source_id, source_columns, signature, confidence, type_hash, valid_from, valid_to, created_at, supported_at,
        retracted_at, learned, org_id, project_id);
CREATE INDEX relation_original ON relation (org_id, project_id, original_source_id, original_target_id)
    WHERE original_source_id IS NOT NULL;

-- The relations that a memory proves.
CREATE TABLE evidence (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL, relation_id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, memory_id, relation_id)
);
CREATE INDEX evidence_relation ON evidence (org_id, project_id, relation_id);

-- merges

-- Merges of one entity into another: ids and numbers, never text. held is how many mentions and claims an undo returns.
CREATE TABLE merge (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL, number integer NOT NULL, source_id uuid NOT NULL, target_id uuid NOT NULL,
    created_at timestamptz NOT NULL, mentions bigint NOT NULL, claims bigint NOT NULL, relations bigint NOT NULL,
    held bigint NOT NULL, undone_at timestamptz,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE INDEX merge_source ON merge (org_id, project_id, source_id);
CREATE INDEX merge_target ON merge (org_id, project_id, target_id);

-- links made by users

CREATE TABLE memory_link (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    from_id text COLLATE "C" NOT NULL, to_id text COLLATE "C" NOT NULL, type text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, project_id, from_id, to_id, type)
);
CREATE INDEX memory_link_to ON memory_link (org_id, project_id, to_id);

-- Pairs of entities marked as no duplicates of each other.
CREATE TABLE distinct_pair (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    low_id uuid NOT NULL, high_id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, low_id, high_id)
);
CREATE INDEX distinct_pair_high ON distinct_pair (org_id, project_id, high_id);

-- communities

-- A community is described by its members' names when it is read, so that nothing outlasts a name. place is a member's
-- rank among the top members, from 0, else NULL. A summary, written by a language model, goes with the first change of
-- anything that it may be made of.
CREATE TABLE community (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL, density double precision NOT NULL, summary jsonb,
    PRIMARY KEY (org_id, project_id, id)
);

CREATE TABLE community_member (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    entity_id uuid NOT NULL, community_id uuid NOT NULL, strength double precision NOT NULL, place integer,
    PRIMARY KEY (org_id, project_id, entity_id)
);
CREATE INDEX community_member_community ON community_member (org_id, project_id, community_id);

-- learning

-- Who opened a session: its key lets one principal do so, whoever tries at the same moment.
CREATE TABLE session (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL, principal text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

CREATE TABLE injection (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL, principal text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL, tokens bigint NOT NULL, element_kinds text[] COLLATE "C" NOT NULL,
    element_ids text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE INDEX injection_session ON injection (org_id, project_id, session_id, created_at, id);

CREATE TABLE outcome (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, element_id text COLLATE "C" NOT NULL, session_id text COLLATE "C" NOT NULL,
    seq integer NOT NULL, outcome double precision NOT NULL,
    PRIMARY KEY (org_id, project_id, kind, element_id, session_id)
);

-- reviewing

-- Calls of operations that wait for a person. The content is what nothing is found by: the operation and its request, who
-- proposed it, who decided and why, and the outcome.
CREATE TABLE proposal (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL, created_at timestamptz NOT NULL, state text COLLATE "C" NOT NULL,
    decided_at timestamptz, -- since when it is in its state; null while it waits
    content json NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE INDEX proposal_age ON proposal (org_id, project_id, created_at, id);

-- Tables by which elements are found: vectors and words, alike for each kind of element, and approximate names.
--
-- New vectors are not in the vector index of a large scope until it is settled; words are found once they are written. The
-- postings are a table and not a GIN index because row-level security bars the planner from an index whose operator is not
-- leakproof, which holds for all operators of full-text search.
--
-- A shadow is the vector that an element has after a change of the embedding model, NULL if its text is blank. It
-- is there only while it is current, of elements with a vector.

DO $$
DECLARE
    element record;
BEGIN
    FOR element IN SELECT * FROM (VALUES ('entity', 'uuid'), ('relation', 'uuid'), ('memory', 'text COLLATE "C"')) kind (name, id) LOOP
        EXECUTE format(
            'CREATE TABLE %1$s_embedding (
                org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL, dimensions integer NOT NULL, embedding halfvec NOT NULL,
                generation integer NOT NULL,
                PRIMARY KEY (org_id, project_id, id)
            );
            ALTER TABLE %1$s_embedding ALTER COLUMN embedding SET STORAGE PLAIN;
            CREATE INDEX %1$s_embedding_generation ON %1$s_embedding (org_id, project_id, generation);

            CREATE TABLE %1$s_shadow (
                org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL, embedding halfvec,
                PRIMARY KEY (org_id, project_id, id)
            );
            ALTER TABLE %1$s_shadow ALTER COLUMN embedding SET STORAGE PLAIN;

            CREATE TABLE %1$s_embedding_part (
                part integer NOT NULL, org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL, embedding halfvec NOT NULL
            ) PARTITION BY LIST (part);
            ALTER TABLE %1$s_embedding_part ALTER COLUMN embedding SET STORAGE PLAIN;

            CREATE TABLE %1$s_posting (
                org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
                term text COLLATE "C" NOT NULL, id %2$s NOT NULL, frequency real NOT NULL, length real NOT NULL,
                scope_hash bigint NOT NULL
                    GENERATED ALWAYS AS (hashtextextended(org_id, hashtextextended(project_id, 0))) STORED,
                PRIMARY KEY (scope_hash, term, id, org_id, project_id) INCLUDE (frequency, length)
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
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, part integer, generation integer NOT NULL DEFAULT 0, built bigint NOT NULL,
    candidates integer, bound double precision NOT NULL DEFAULT 0, building integer,
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

-- The number of rows of a kind, sums over its documents and vectors, and in how many documents a term occurs: one scope's
-- numbers never depend on another's.
CREATE TABLE tally (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, documents bigint NOT NULL DEFAULT 0,
    total_length double precision NOT NULL DEFAULT 0, vectors bigint NOT NULL DEFAULT 0,
    rows bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, project_id, kind),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

CREATE TABLE term (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL, term text COLLATE "C" NOT NULL, documents bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, kind, term)
);

-- approximate names

-- Words and trigrams of the names that an entity shows, as graphsearch.claims.naming makes them; ordinal 0 is its own
-- name, the others are its aliases. A table for the same reason as the postings of texts.
CREATE TABLE name_posting (
    org_id text COLLATE "C" NOT NULL, project_id text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL, size integer NOT NULL, entity_id uuid NOT NULL, ordinal integer NOT NULL,
    position integer NOT NULL,
    scope_hash bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(org_id, hashtextextended(project_id, 0))) STORED,
    PRIMARY KEY (scope_hash, term, size, entity_id, ordinal, org_id, project_id) INCLUDE (position)
);

-- What is set for every table: statistics, and row-level security.

-- No plan depends on long values, and sampling them would be most of the cost of ANALYZE.

DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT a.attrelid::regclass AS owner, a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname IN ('aliases', 'attributes',
            'content', 'description', 'element_ids', 'element_kinds', 'embedding', 'evidence', 'fact',
            'given_aliases', 'labels', 'subject', 'surface', 'text', 'words')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', part.owner, part.name);
    END LOOP;
END
$$;

-- A transaction reads and writes only the rows of the scope that its settings name.

DO $$
DECLARE
    name regclass;
    hashed CONSTANT text := ' AND scope_hash = hashtextextended(current_setting(''graphsearch.org_id'', true),
        hashtextextended(current_setting(''graphsearch.project_id'', true), 0))';
BEGIN
    FOR name IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname <> 'migration'
    LOOP
        EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY scope ON %s
                USING (org_id = current_setting(''graphsearch.org_id'', true)
                    AND project_id = current_setting(''graphsearch.project_id'', true)%s)
                WITH CHECK (org_id = current_setting(''graphsearch.org_id'', true)
                    AND project_id = current_setting(''graphsearch.project_id'', true))',
            name, CASE WHEN EXISTS (SELECT FROM pg_attribute WHERE attrelid = name AND attname = 'scope_hash') THEN hashed END
        );
    END LOOP;
END
$$;

-- What the app role may not do itself, because it owns nothing: making, filling and dropping the parts of the vector
-- index. A function acts on the scope that the settings of the transaction name and on nothing else; it is called with
-- the scope's write lock held. Its search_path has no schema in which others may create objects before pg_catalog.

-- The row of the index of the scope that the settings name, locked; NULL if there is none. Raises an error unless they name a
-- scope, and the argument a kind of element.
CREATE FUNCTION own_vector_index(element text) RETURNS vector_index
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found graphsearch.vector_index;
BEGIN
    IF element IS NULL OR element NOT IN ('entity', 'relation', 'memory') THEN
        RAISE EXCEPTION 'no kind of element: %', element USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF coalesce(current_setting('graphsearch.org_id', true), '') = '' OR coalesce(current_setting('graphsearch.project_id', true), '') = '' THEN
        RAISE EXCEPTION 'the transaction has entered no scope' USING ERRCODE = 'insufficient_privilege';
    END IF;
    SELECT x.* INTO found FROM graphsearch.vector_index x
    WHERE x.org_id = current_setting('graphsearch.org_id') AND x.project_id = current_setting('graphsearch.project_id')
        AND x.kind = element FOR UPDATE;
    RETURN found;
END
$$;

-- Drops a part, and others that are empty. That locks the parent, so it waits for readers a tenth of a second at most;
-- if they do not leave, the part is emptied, and dropped with the next one. A search that began before finds the part
-- missing or empty, and searches exactly.
CREATE FUNCTION discard_vector_part(element text, discarded integer) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    table_name CONSTANT text := 'graphsearch_part.' || quote_ident(element || '_' || discarded);
    patience CONSTANT text := current_setting('lock_timeout');
    empty_part record;
BEGIN
    IF discarded IS NULL OR to_regclass(table_name) IS NULL THEN
        RETURN;
    END IF;
    PERFORM set_config('lock_timeout', '100ms', true);
    BEGIN
        EXECUTE format('DROP TABLE %s', table_name);
        FOR empty_part IN
            SELECT i.inhrelid::regclass AS name FROM pg_inherits i
            WHERE i.inhparent = format('graphsearch.%I', element || '_embedding_part')::regclass AND pg_relation_size(i.inhrelid) = 0
        LOOP
            EXECUTE format('DROP TABLE %s', empty_part.name);
        END LOOP;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
        BEGIN
            EXECUTE format('TRUNCATE %s', table_name);
        EXCEPTION WHEN lock_not_available OR deadlock_detected THEN
            EXECUTE format('DELETE FROM %s', table_name);
        END;
    END;
    PERFORM set_config('lock_timeout', patience, true);
END
$$;

-- Copies all vectors of the scope into a new part with an HNSW index, and returns the part's number. Searches do not read
-- it until keep_vector_index.
CREATE FUNCTION build_vector_index(element text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    org CONSTANT text := current_setting('graphsearch.org_id', true);
    project CONSTANT text := current_setting('graphsearch.project_id', true);
    extension CONSTANT text := (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector');
    part_number CONSTANT integer := nextval('graphsearch.vector_part_number');
    table_name CONSTANT text := format('graphsearch_part.%I', element || '_' || part_number);
    parent CONSTANT text := format('graphsearch.%I', element || '_embedding_part');
    vector_length integer;
    copied bigint;
    making text;
BEGIN
    PERFORM graphsearch.own_vector_index(element);
    SELECT s.dimensions INTO STRICT vector_length FROM graphsearch.scope s WHERE s.org_id = org AND s.project_id = project;
    EXECUTE format('CREATE TABLE %s (LIKE %s INCLUDING STORAGE, CHECK (part = %s))', table_name, parent, part_number);
    EXECUTE format(
        'INSERT INTO %s (part, org_id, project_id, id, embedding)
        SELECT $1, org_id, project_id, id, embedding FROM graphsearch.%I WHERE org_id = $2 AND project_id = $3',
        table_name, element || '_embedding'
    ) USING part_number, org, project;
    GET DIAGNOSTICS copied = ROW_COUNT;
    EXECUTE format('CREATE INDEX ON %s USING hash (id)', table_name); -- which a search cannot mistake for a way to all rows
    -- The graph is several times as slow to build when it does not fit into memory: a vector, its links and its copy.
    PERFORM set_config('maintenance_work_mem', greatest(
        pg_size_bytes(current_setting('maintenance_work_mem')), least(copied * (2 * vector_length + 700) * 5 / 4, 1073741824)
    ) / 1024 || 'kB', true);
    making := format(
        'CREATE INDEX ON %1$s USING hnsw ((embedding::%2$s.halfvec(%3$s)) %2$s.halfvec_cosine_ops)',
        table_name, extension, vector_length
    );
    BEGIN
        EXECUTE making;
    EXCEPTION WHEN insufficient_resources THEN -- as in a container whose shared memory is too small for workers
        PERFORM set_config('max_parallel_maintenance_workers', '0', true);
        EXECUTE making;
    END;
    -- A scan by several workers would be planned in place of the index, although searches disable it.
    EXECUTE format('ALTER TABLE %s SET (parallel_workers = 0)', table_name);
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', table_name);
    EXECUTE format('CREATE POLICY scope ON %s
            USING (org_id = current_setting(''graphsearch.org_id'', true)
                AND project_id = current_setting(''graphsearch.project_id'', true))
            WITH CHECK (org_id = current_setting(''graphsearch.org_id'', true)
                AND project_id = current_setting(''graphsearch.project_id'', true))', table_name);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %s FOR VALUES IN (%s)', parent, table_name, part_number);
    INSERT INTO graphsearch.vector_index AS x (org_id, project_id, kind, built, building) VALUES (org, project, element, copied, part_number)
    ON CONFLICT (org_id, project_id, kind) DO UPDATE SET built = copied, building = part_number;
    RETURN part_number;
END
$$;

-- Lets searches read the part that this transaction has built, with a number of candidates and a bound, and discards the one
-- that they read before. Without a number (NULL) the scope is searched exactly from then on, and both parts are discarded; if
-- this transaction has built none, it is as if there had never been an index, and the next is made of whatever vectors there
-- are then.
CREATE FUNCTION keep_vector_index(element text, sought integer, share double precision) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    former CONSTANT graphsearch.vector_index := graphsearch.own_vector_index(element);
BEGIN
    UPDATE graphsearch.vector_index x SET
        part = CASE WHEN sought IS NOT NULL THEN x.building END, building = NULL, generation = x.generation + 1,
        candidates = sought, bound = share, built = CASE WHEN sought IS NOT NULL OR x.building IS NOT NULL THEN x.built ELSE 0 END
    WHERE x.org_id = former.org_id AND x.project_id = former.project_id AND x.kind = element;
    PERFORM graphsearch.discard_vector_part(element, former.part);
    IF sought IS NULL THEN
        PERFORM graphsearch.discard_vector_part(element, former.building);
    END IF;
END
$$;

-- Adds the vectors of the present generation to the part of the scope, one by one.
CREATE FUNCTION extend_vector_index(element text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    present CONSTANT graphsearch.vector_index := graphsearch.own_vector_index(element);
BEGIN
    EXECUTE format(
        'INSERT INTO graphsearch.%I (part, org_id, project_id, id, embedding)
        SELECT $1, org_id, project_id, id, embedding FROM graphsearch.%I
        WHERE org_id = $2 AND project_id = $3 AND generation >= $4',
        element || '_embedding_part', element || '_embedding'
    ) USING present.part, present.org_id, present.project_id, present.generation;
    UPDATE graphsearch.vector_index x SET generation = x.generation + 1
    WHERE x.org_id = present.org_id AND x.project_id = present.project_id AND x.kind = element;
END
$$;
