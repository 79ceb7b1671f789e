"""A stand-in for Citus on plain Postgres: the part of its catalogue that the store reads, with tables that stay put."""

from __future__ import annotations

import psycopg

_CATALOGUE = """
SET allow_system_table_mods = on;
CREATE TABLE pg_catalog.pg_dist_partition (logicalrelid regclass, partmethod "char", colocated_with text, place serial);
CREATE TABLE pg_catalog.pg_dist_local_group (groupid integer NOT NULL);
INSERT INTO pg_catalog.pg_dist_local_group VALUES (0);
CREATE TABLE pg_catalog.pg_dist_node (groupid integer, noderole text, isactive boolean, shouldhaveshards boolean);
INSERT INTO pg_catalog.pg_dist_node VALUES (0, 'primary', true, false), (1, 'primary', true, true);
CREATE TABLE pg_catalog.pg_dist_shard (logicalrelid regclass, shardid bigint);
CREATE TABLE pg_catalog.pg_dist_placement (shardid bigint, groupid integer);
GRANT SELECT ON pg_catalog.pg_dist_partition, pg_catalog.pg_dist_local_group, pg_catalog.pg_dist_node,
    pg_catalog.pg_dist_shard, pg_catalog.pg_dist_placement TO PUBLIC;
CREATE FUNCTION pg_catalog.create_distributed_table(name regclass, distribution text, colocate_with text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF distribution <> 'org_id' OR colocate_with <> 'none' AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_dist_partition WHERE logicalrelid = colocate_with::regclass
    ) THEN
        RAISE EXCEPTION 'cannot distribute % by % beside %', name, distribution, colocate_with;
    END IF;
    INSERT INTO pg_catalog.pg_dist_partition VALUES (name, 'h', colocate_with);
END
$$;
"""


async def make_cluster(admin_dsn: str) -> None:
    """Let a database appear as one of a cluster, on its coordinator."""
    await execute(admin_dsn, *_CATALOGUE.split(";\n", 9))


async def execute(admin_dsn: str, *statements: str) -> list[tuple[object, ...]]:
    """Run statements as the admin; return the rows of the last."""
    async with await psycopg.AsyncConnection.connect(admin_dsn, autocommit=True) as connection:
        cursor = connection.cursor()
        for each in statements:
            await cursor.execute(each.encode())
        return await cursor.fetchall() if cursor.description else []
