-- A cluster of Citus: whether there is one, whether it is set up as the store needs it, and distributing the tables over it.
-- All but the first statement need the catalogue of Citus.

-- has cluster --
SELECT to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL

-- nodes of cluster --
-- Whether this is the coordinator, how many workers may hold shards, and whether the coordinator holds any, or may.
SELECT (SELECT groupid = 0 FROM pg_catalog.pg_dist_local_group),
    (SELECT count(*) FROM pg_catalog.pg_dist_node WHERE groupid <> 0 AND isactive AND noderole = 'primary' AND shouldhaveshards),
    EXISTS (SELECT FROM pg_catalog.pg_dist_node WHERE groupid = 0 AND shouldhaveshards) OR EXISTS (
        SELECT FROM pg_catalog.pg_dist_placement p
        JOIN pg_catalog.pg_dist_shard s USING (shardid)
        JOIN pg_catalog.pg_dist_partition t USING (logicalrelid)
        WHERE p.groupid = 0 AND t.partmethod = 'h'
    )

-- passes settings on --
SELECT current_setting('citus.propagate_set_commands', true) IS NOT DISTINCT FROM 'local'

-- tables of cluster --
-- The tables that belong to organisations, with whether each is distributed; those that others refer to come first. Tables
-- whose names end in a number are shards.
SELECT c.relname, EXISTS (SELECT FROM pg_catalog.pg_dist_partition p WHERE p.logicalrelid = c.oid)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attname = 'org_id' AND NOT a.attisdropped
WHERE c.relnamespace = to_regnamespace('graphsearch') AND c.relkind = 'r' AND c.relname !~ '_[0-9]+$'
ORDER BY c.relname <> 'scope', c.relname

-- has scopes --
-- Whether the table of scopes has ever held one: row-level security hides its rows from its owner too.
SELECT pg_relation_size('graphsearch.scope') > 0

-- distribute table --
-- Rows of one organisation are on one node, in the same shard of every table.
SELECT create_distributed_table(%(table)s::text::regclass, 'org_id', colocate_with => %(beside)s)

-- is bound by policies --
SELECT NOT (rolsuper OR rolbypassrls) FROM pg_catalog.pg_roles WHERE rolname = current_user
