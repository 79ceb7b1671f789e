-- The tables as all migrations leave them: here elements, merges and learning; in schema_search.sql vectors, words and
-- names; in schema_settings.sql what is set for every table. Change them by adding a migration: a test compares both.
--
-- Every key has (org_id, project_id), and starts with them, so that a scope lies together and the tables distribute by
-- org_id. Where one search looks up thousands of rows, an index starts with their hash instead (scope_hash): comparing
-- two texts at every level of the index costs a tenth of a walk. The policies add the hash to every condition.
-- Text that is compared or sorted is of collation "C": by code point, as everywhere in graphsearch.
-- Between elements there are no foreign keys: a check row by row would double the cost of a bulk write. The writers of
-- one scope take turns (a lock), and check endpoints and follow deletions in sets.

CREATE TABLE scope (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
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
ALTER TABLE migration ADD COLUMN secret uuid NOT NULL DEFAULT gen_random_uuid(); -- that of the database is of number 1

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

-- Counters that batches add to.
CREATE TABLE counter (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    PRIMARY KEY (org_id, project_id, name),
    FOREIGN KEY (org_id, project_id) REFERENCES scope ON DELETE CASCADE
);

-- What policies see of an element without reading it, by a code made from the content. shared is the content's own field.
CREATE TABLE signature (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    code bigint NOT NULL,
    content jsonb NOT NULL,
    shared boolean NOT NULL,
    PRIMARY KEY (org_id, project_id, code)
);
CREATE INDEX signature_shared ON signature (org_id, project_id, code) WHERE shared;

-- elements

-- given_aliases are among the aliases, which are a fold (graphsearch.claims.naming). An entity that is only named exists
-- through its mentions, and takes its type from them where given_type is unspecific. Names are looked up in the form
-- folded_name, by its hash because an index entry may not be that long. embedding is the vector of a new entity of a bulk
-- write until it is settled; all others are in entity_embedding. scope_hash is written and checked, and not generated as
-- in relation, because for a generated column Postgres copies the whole row.
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

-- Aliases in the form in which they are looked up.
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
-- are the memory's, so that a walk to memories need not look up each of them.
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
    ceiling double precision NOT NULL DEFAULT 1,
    PRIMARY KEY (org_id, project_id, memory_id, ordinal)
);
CREATE INDEX claim_source ON claim (org_id, project_id, source_id);
CREATE INDEX claim_target ON claim (org_id, project_id, target_id);
CREATE INDEX claim_original ON claim (org_id, project_id, original_source_id, original_target_id)
    WHERE original_source_id IS NOT NULL;

-- weight is confidence × prior of the type; folded relations are made of claims, the others were given. One that a merge
-- brought back had been retracted at lapsed_at. source_columns and target_columns are copies of the signature and the
-- importance of each end, 8 bytes each; NULL for an end that has a period, was merged away or is younger than the
-- relation, and while the relation is not settled.
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
-- Strongest first, so that a hub costs no more than any other entity; with the columns that a walk needs, so that it
-- rarely reads the table. The type may be too long for an index entry, and the feedback weight would be rewritten with
-- every outcome: a hash, and whether the weight was moved, show whether a row must be read. New relations of a bulk write
-- are not in them until they are settled: the two indexes are two fifths of the cost of a write.
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

-- The relations that a memory proves.
CREATE TABLE evidence (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    memory_id text COLLATE "C" NOT NULL,
    relation_id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, memory_id, relation_id)
);
CREATE INDEX evidence_relation ON evidence (org_id, project_id, relation_id);

-- merges

-- Merges of one entity into another: ids and numbers, never text. held is how many mentions and claims an undo returns.
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

-- links made by users

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

-- Pairs of entities marked as no duplicates of each other.
CREATE TABLE distinct_pair (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    low_id uuid NOT NULL,
    high_id uuid NOT NULL,
    PRIMARY KEY (org_id, project_id, low_id, high_id)
);
CREATE INDEX distinct_pair_high ON distinct_pair (org_id, project_id, high_id);

-- communities

-- A community is described by its members' names when it is read, so that nothing outlasts a name. place is a member's
-- rank among the top members, from 0, else NULL. A summary, written by a language model, goes with the first change of
-- anything that it may be made of.
CREATE TABLE community (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    density double precision NOT NULL,
    summary jsonb,
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

-- learning

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

-- reviewing

-- Calls of operations that wait for a person. The content is what nothing is found by: the operation and its request, who
-- proposed it, who decided and why, and the outcome.
CREATE TABLE proposal (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    state text COLLATE "C" NOT NULL,
    decided_at timestamptz, -- since when it is in its state; null while it waits
    content json NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);
CREATE INDEX proposal_age ON proposal (org_id, project_id, created_at, id);
