-- The first schema; the files sql/schema*.sql explain what each part is for.

CREATE TABLE scope (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    alpha double precision NOT NULL DEFAULT 0.1 CHECK (alpha > 0 AND alpha < 1),
    analyser text NOT NULL,
    embedder text,
    dimensions integer CHECK (dimensions > 0),
    signatures_dropped bigint NOT NULL DEFAULT 0,
    shares boolean NOT NULL DEFAULT false,
    merges integer NOT NULL DEFAULT 0,
    changes bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, project_id)
);

CREATE TABLE relation_type (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    prior double precision NOT NULL,
    half_life_days double precision,
    hop_scores double precision[] NOT NULL,
    functional boolean NOT NULL,
    causal boolean NOT NULL,
    skip boolean NOT NULL,
    state boolean NOT NULL,
    PRIMARY KEY (org_id, project_id, name),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

CREATE TABLE counter (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, name),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

CREATE TABLE signature (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    code bigint NOT NULL,
    content jsonb NOT NULL,
    shared boolean NOT NULL,
    PRIMARY KEY (org_id, project_id, code)
);
CREATE INDEX signature_shared ON signature (org_id, project_id, code) WHERE shared;

CREATE TABLE entity (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    given_type text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    folded_name text COLLATE "C" NOT NULL,
    name_hash bigint NOT NULL,
    description text COLLATE "C" NOT NULL,
    aliases text[] COLLATE "C" NOT NULL,
    given_aliases text[] COLLATE "C" NOT NULL,
    named boolean NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    attributes jsonb NOT NULL,
    importance_weight double precision NOT NULL,
    feedback_weight double precision NOT NULL,
    outcomes integer NOT NULL DEFAULT 0,
    valid_from timestamptz,
    valid_to timestamptz,
    created_at timestamptz NOT NULL,
    merged_into uuid,
    signature bigint NOT NULL,
    embedding halfvec,
    scope_hash bigint NOT NULL
        CONSTRAINT entity_scope_hash CHECK (scope_hash = hashtextextended(org_id, hashtextextended(project_id, 0))),
    PRIMARY KEY (scope_hash, id, org_id, project_id)
        INCLUDE (signature, importance_weight, valid_from, valid_to, created_at, merged_into)
) WITH (fillfactor = 90);
CREATE INDEX entity_name_hash ON entity (org_id, project_id, name_hash) WHERE embedding IS NULL;
CREATE INDEX entity_unsettled ON entity (scope_hash) WHERE embedding IS NOT NULL;

CREATE TABLE entity_alias (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    entity_id uuid NOT NULL,
    ordinal integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    hash bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, entity_id, ordinal)
);
CREATE INDEX entity_alias_hash ON entity_alias (org_id, project_id, hash);

CREATE TABLE memory (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    speaker text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    occurred_at timestamptz,
    source text COLLATE "C" NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    attributes jsonb NOT NULL,
    feedback_weight double precision NOT NULL,
    outcomes integer NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    signature bigint NOT NULL,
    merges integer NOT NULL DEFAULT 0,
    PRIMARY KEY (org_id, project_id, id)
) WITH (fillfactor = 90);
CREATE INDEX memory_source ON memory (org_id, project_id, source, id);
CREATE INDEX memory_session ON memory (org_id, project_id, session_id, id);
CREATE INDEX memory_turn ON memory (org_id, project_id, session_id, position, id) WHERE session_id <> '';

CREATE TABLE mention (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    ordinal integer NOT NULL,
    entity_id uuid NOT NULL,
    surface text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    surface_hash bigint NOT NULL,
    span_start bigint,
    span_end bigint,
    confidence double precision NOT NULL,
    original_entity_id uuid,
    created_at timestamptz NOT NULL,
    occurred_at timestamptz,
    signature bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, memory_id, ordinal)
);
CREATE INDEX mention_memory ON mention (org_id, project_id, entity_id, memory_id)
    INCLUDE (span_start, created_at, occurred_at, signature);
CREATE INDEX mention_entity ON mention (org_id, project_id, entity_id, surface_hash, memory_id);
CREATE INDEX mention_original ON mention (org_id, project_id, original_entity_id) WHERE original_entity_id IS NOT NULL;

CREATE TABLE claim (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    ordinal integer NOT NULL,
    source_id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    target_id uuid NOT NULL,
    confidence double precision NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    kind text COLLATE "C" NOT NULL,
    fact text COLLATE "C" NOT NULL,
    span_start bigint,
    span_end bigint,
    extractor text COLLATE "C" NOT NULL,
    original_source_id uuid,
    original_target_id uuid,
    PRIMARY KEY (org_id, project_id, memory_id, ordinal)
);
CREATE INDEX claim_source ON claim (org_id, project_id, source_id);
CREATE INDEX claim_target ON claim (org_id, project_id, target_id);
CREATE INDEX claim_original ON claim (org_id, project_id, original_source_id, original_target_id)
    WHERE original_source_id IS NOT NULL;

CREATE TABLE relation (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    source_id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    target_id uuid NOT NULL,
    valid_from timestamptz,
    valid_to timestamptz,
    fact text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    confidence double precision NOT NULL,
    weight double precision NOT NULL,
    labels text[] COLLATE "C" NOT NULL,
    attributes jsonb NOT NULL,
    feedback_weight double precision NOT NULL,
    outcomes integer NOT NULL DEFAULT 0,
    evidence text[] COLLATE "C" NOT NULL,
    supported_at timestamptz,
    created_at timestamptz NOT NULL,
    retracted_at timestamptz,
    folded boolean NOT NULL,
    signature bigint NOT NULL,
    original_source_id uuid,
    original_target_id uuid,
    lapsed_at timestamptz,
    source_columns uuid,
    target_columns uuid,
    type_hash bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(type, 0)) STORED,
    learned boolean NOT NULL GENERATED ALWAYS AS (feedback_weight <> 0.5) STORED,
    settled boolean NOT NULL DEFAULT true,
    scope_hash bigint NOT NULL GENERATED ALWAYS AS (hashtextextended(org_id, hashtextextended(project_id, 0))) STORED,
    PRIMARY KEY (org_id, project_id, id)
) WITH (fillfactor = 90);
CREATE INDEX relation_outgoing ON relation (scope_hash, source_id, weight DESC, id)
    INCLUDE (target_id, target_columns, signature, confidence, type_hash, valid_from, valid_to, created_at, supported_at,
        retracted_at, learned, org_id, project_id)
    WHERE settled;
CREATE INDEX relation_incoming ON relation (scope_hash, target_id, weight DESC, id)
    INCLUDE (source_id, source_columns, signature, confidence, type_hash, valid_from, valid_to, created_at, supported_at,
        retracted_at, learned, org_id, project_id)
    WHERE settled;
CREATE INDEX relation_unsettled ON relation (scope_hash) WHERE NOT settled;
CREATE INDEX relation_original ON relation (org_id, project_id, original_source_id, original_target_id)
    WHERE original_source_id IS NOT NULL;

CREATE TABLE evidence (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    relation_id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, memory_id, relation_id)
);
CREATE INDEX evidence_relation ON evidence (org_id, project_id, relation_id);

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

CREATE SCHEMA graphsearch_part;
CREATE SEQUENCE vector_part_number AS integer;

CREATE TABLE vector_index (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    part integer,
    generation integer NOT NULL DEFAULT 0,
    built bigint NOT NULL,
    candidates integer,
    building integer,
    PRIMARY KEY (org_id, project_id, kind),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

CREATE TABLE entity_words (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    words jsonb NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

CREATE TABLE unembedded_fact (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

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

CREATE TABLE merge (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    number integer NOT NULL,
    source_id uuid NOT NULL,
    target_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    mentions bigint NOT NULL,
    claims bigint NOT NULL,
    relations bigint NOT NULL,
    held bigint NOT NULL,
    undone_at timestamptz,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE INDEX merge_source ON merge (org_id, project_id, source_id);
CREATE INDEX merge_target ON merge (org_id, project_id, target_id);

CREATE TABLE memory_link (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    from_id text COLLATE "C" NOT NULL,
    to_id text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (org_id, project_id, from_id, to_id, type)
);
CREATE INDEX memory_link_to ON memory_link (org_id, project_id, to_id);

CREATE TABLE distinct_pair (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    low_id uuid NOT NULL,
    high_id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, low_id, high_id)
);
CREATE INDEX distinct_pair_high ON distinct_pair (org_id, project_id, high_id);

CREATE TABLE community (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    density double precision NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

CREATE TABLE community_member (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    entity_id uuid NOT NULL,
    community_id uuid NOT NULL,
    strength double precision NOT NULL,
    place integer,
    PRIMARY KEY (org_id, project_id, entity_id)
);
CREATE INDEX community_member_community ON community_member (org_id, project_id, community_id);

-- Who opened a session: its key lets one principal do so, whoever tries at the same moment.
CREATE TABLE session (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);

CREATE TABLE injection (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    principal text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    tokens bigint NOT NULL,
    element_kinds text[] COLLATE "C" NOT NULL,
    element_ids text[] COLLATE "C" NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE INDEX injection_session ON injection (org_id, project_id, session_id, created_at, id);

CREATE TABLE outcome (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    element_id text COLLATE "C" NOT NULL,
    session_id text COLLATE "C" NOT NULL,
    seq integer NOT NULL,
    outcome double precision NOT NULL,
    PRIMARY KEY (org_id, project_id, kind, element_id, session_id)
);

DO $$
DECLARE
    part record;
BEGIN
    FOR part IN
        SELECT a.attrelid::regclass AS owner, a.attname AS name FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = 'graphsearch'::regnamespace AND c.relkind IN ('r', 'p') AND a.attname IN ('aliases', 'attributes',
            'content', 'description', 'element_ids', 'element_kinds', 'embedding', 'evidence', 'fact', 'frequencies',
            'given_aliases', 'labels', 'names', 'ordinals', 'positions', 'sizes', 'subject', 'surface', 'terms', 'text', 'words')
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', part.owner, part.name);
    END LOOP;
END
$$;

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
        EXECUTE format(
            'CREATE POLICY scope ON %s
                USING (org_id = current_setting(''graphsearch.org_id'', true)
                    AND project_id = current_setting(''graphsearch.project_id'', true)%s)
                WITH CHECK (org_id = current_setting(''graphsearch.org_id'', true)
                    AND project_id = current_setting(''graphsearch.project_id'', true))',
            name, CASE WHEN name IN ('entity'::regclass, 'relation'::regclass) THEN hashed END
        );
    END LOOP;
END
$$;
