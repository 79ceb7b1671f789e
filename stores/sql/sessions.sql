-- The statements that open a transaction: it begins, enters its scope, locks and makes the scope where it writes, and
-- reads the scope's row. They are sent together, with literals in their places.

-- begin read --
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY

-- begin write --
BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE

-- settings --
-- Those of a read: of a connection that is ours alone, else of each transaction. Planning a step of a walk costs as much as
-- running it, and one plan is as good as another while it uses the index: a read keeps its plans, and keeps them from the
-- sequential scan that was right while a table was small. A search in the vector index goes on until it has as many
-- candidates as it is asked for, which is bounded by these limits alone. SET and not set_config: a cluster passes only SET
-- LOCAL on to its workers.
SET LOCAL search_path = graphsearch, public, extensions;
SET LOCAL timezone = 'UTC';
SET LOCAL random_page_cost = 1.1;
SET LOCAL jit = off;
SET LOCAL plan_cache_mode = force_generic_plan;
SET LOCAL enable_seqscan = off;
SET LOCAL hnsw.iterative_scan = relaxed_order;
SET LOCAL hnsw.ef_search = 100;
SET LOCAL hnsw.max_scan_tuples = 1000000;
SET LOCAL hnsw.scan_mem_multiplier = 16

-- plan for values --
-- A cluster finds the node of an organisation in a statement's values, not in a plan for any values.
SET LOCAL plan_cache_mode = force_custom_plan

-- write settings --
-- A generic plan for arrays, or one made for another tenant, is 10 to 50 times as slow: each statement of a write is planned
-- for its values.
SET LOCAL plan_cache_mode = force_custom_plan;
SET LOCAL enable_seqscan = on

-- enter scope --
SET LOCAL graphsearch.org_id = %(org)s;
SET LOCAL graphsearch.project_id = %(project)s

-- lock scope --
SELECT pg_advisory_xact_lock(%(lock)s)

-- share scope --
SELECT pg_advisory_xact_lock_shared(%(lock)s)

-- make scope --
-- The counters start at the time, so that caches of a removed scope of the same name are older than the new one.
INSERT INTO scope (org_id, project_id, analyser, signatures_dropped, changes) VALUES (%(org)s, %(project)s, %(analyser)s,
    extract(epoch FROM clock_timestamp()) * 1000000, extract(epoch FROM clock_timestamp()) * 1000000)
ON CONFLICT DO NOTHING

-- move scope --
UPDATE scope SET changes = changes + 1 WHERE org_id = %(org)s AND project_id = %(project)s

-- scope --
SELECT s.alpha, s.analyser, s.embedder, s.dimensions, s.merges, s.signatures_dropped, s.shares, s.changes, s.health,
    s.summarised, s.next_embedder, s.next_dimensions, s.id_key,
    hashtextextended(s.org_id, hashtextextended(s.project_id, 0)) AS scope_hash,
    (SELECT coalesce(jsonb_object_agg(t.kind, jsonb_build_array(t.documents, t.total_length, t.vectors, t.rows)), '{}')
        FROM tally t WHERE t.org_id = %(org)s AND t.project_id = %(project)s) AS tallies,
    (SELECT coalesce(jsonb_object_agg(x.kind, jsonb_build_array(x.part, x.generation, x.built, coalesce(x.candidates, 0), x.bound)), '{}')
        FROM vector_index x WHERE x.org_id = %(org)s AND x.project_id = %(project)s) AS vector_indexes,
    (SELECT coalesce(jsonb_agg(to_jsonb(r) - 'org_id' - 'project_id'), '[]')
        FROM relation_type r WHERE r.org_id = %(org)s AND r.project_id = %(project)s) AS types
FROM scope s
WHERE s.org_id = %(org)s AND s.project_id = %(project)s

-- grown tables --
-- Tables that have grown by a factor, and by a megabyte (about a thousand rows), since they were analysed.
-- The planner sees by itself that a table has grown, but not how much of it belongs to one scope.
SELECT relname FROM pg_catalog.pg_class
WHERE relnamespace = 'graphsearch'::regnamespace AND relkind = 'r'
    AND pg_relation_size(oid) > %(growth)s * relpages * current_setting('block_size')::integer + 1000000
ORDER BY relname
