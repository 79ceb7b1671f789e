-- What the app role may not do itself, because it owns nothing: making, filling and dropping the parts of the vector
-- index. A function acts on the scope that the settings of the transaction name and on nothing else; it is called with
-- the scope's write lock held. Its search_path has no schema in which others may create objects before pg_catalog.

-- Raises an error unless the settings name a scope, and the argument a kind of element.
CREATE FUNCTION refuse_vector_index(element text) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF element IS NULL OR element NOT IN ('entity', 'relation', 'memory') THEN
        RAISE EXCEPTION 'no kind of element: %', element USING ERRCODE = 'invalid_parameter_value';
    END IF;
    IF coalesce(current_setting('graphsearch.org_id', true), '') = '' OR coalesce(current_setting('graphsearch.project_id', true), '') = '' THEN
        RAISE EXCEPTION 'the transaction has entered no scope' USING ERRCODE = 'insufficient_privilege';
    END IF;
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
    PERFORM graphsearch.refuse_vector_index(element);
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
-- that they read before. Without a number (NULL) the scope is searched exactly from then on, and both parts are discarded.
CREATE FUNCTION keep_vector_index(element text, sought integer, share double precision) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    org CONSTANT text := current_setting('graphsearch.org_id', true);
    project CONSTANT text := current_setting('graphsearch.project_id', true);
    former graphsearch.vector_index;
BEGIN
    PERFORM graphsearch.refuse_vector_index(element);
    SELECT x.* INTO STRICT former FROM graphsearch.vector_index x
    WHERE x.org_id = org AND x.project_id = project AND x.kind = element FOR UPDATE;
    UPDATE graphsearch.vector_index x SET
        part = CASE WHEN sought IS NOT NULL THEN x.building END, building = NULL, generation = x.generation + 1,
        candidates = sought, bound = share
    WHERE x.org_id = org AND x.project_id = project AND x.kind = element;
    PERFORM graphsearch.discard_vector_part(element, former.part);
    IF sought IS NULL THEN
        PERFORM graphsearch.discard_vector_part(element, former.building);
    END IF;
END
$$;

-- Adds the vectors of the present generation to the part of the scope, one by one, and returns their number.
CREATE FUNCTION extend_vector_index(element text) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    org CONSTANT text := current_setting('graphsearch.org_id', true);
    project CONSTANT text := current_setting('graphsearch.project_id', true);
    present graphsearch.vector_index;
    added bigint;
BEGIN
    PERFORM graphsearch.refuse_vector_index(element);
    SELECT x.* INTO STRICT present FROM graphsearch.vector_index x
    WHERE x.org_id = org AND x.project_id = project AND x.kind = element FOR UPDATE;
    EXECUTE format(
        'INSERT INTO graphsearch.%I (part, org_id, project_id, id, embedding)
        SELECT $1, org_id, project_id, id, embedding FROM graphsearch.%I
        WHERE org_id = $2 AND project_id = $3 AND generation >= $4',
        element || '_embedding_part', element || '_embedding'
    ) USING present.part, org, project, present.generation;
    GET DIAGNOSTICS added = ROW_COUNT;
    UPDATE graphsearch.vector_index x SET generation = x.generation + 1
    WHERE x.org_id = org AND x.project_id = project AND x.kind = element;
    RETURN added;
END
$$;

-- Lets a scope be searched exactly, as if an index had never been made: the next one is made of whatever vectors it has then.
CREATE FUNCTION forget_vector_index(element text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    org CONSTANT text := current_setting('graphsearch.org_id', true);
    project CONSTANT text := current_setting('graphsearch.project_id', true);
    former graphsearch.vector_index;
BEGIN
    PERFORM graphsearch.refuse_vector_index(element);
    SELECT x.* INTO former FROM graphsearch.vector_index x
    WHERE x.org_id = org AND x.project_id = project AND x.kind = element FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    UPDATE graphsearch.vector_index x SET
        part = NULL, building = NULL, generation = x.generation + 1, candidates = NULL, built = 0
    WHERE x.org_id = org AND x.project_id = project AND x.kind = element;
    PERFORM graphsearch.discard_vector_part(element, former.part);
    PERFORM graphsearch.discard_vector_part(element, former.building);
END
$$;
