-- The change of a scope's embedding model: the model that its texts are being embedded by, the vectors made so far, and
-- what the vector index of the former model is dropped by. sql/schema_search.sql and sql/schema_functions.sql explain them.

ALTER TABLE scope ADD COLUMN next_embedder text;
ALTER TABLE scope ADD COLUMN next_dimensions integer;

DO $$
DECLARE
    element record;
BEGIN
    FOR element IN SELECT * FROM (VALUES ('entity', 'uuid'), ('relation', 'uuid'), ('memory', 'text COLLATE "C"')) kind (name, id) LOOP
        EXECUTE format(
            'CREATE TABLE %1$s_shadow (
                org_id text COLLATE "C" NOT NULL,
                project_id text COLLATE "C" NOT NULL,
                id %2$s NOT NULL,
                digest uuid NOT NULL,
                embedding halfvec,
                PRIMARY KEY (org_id, project_id, id)
            );
            ALTER TABLE %1$s_shadow ALTER COLUMN embedding SET STORAGE PLAIN;
            ALTER TABLE %1$s_shadow ALTER COLUMN embedding SET STATISTICS 0;
            ALTER TABLE %1$s_shadow ENABLE ROW LEVEL SECURITY;
            ALTER TABLE %1$s_shadow FORCE ROW LEVEL SECURITY;
            CREATE POLICY scope ON %1$s_shadow
                USING (org_id = current_setting(''graphsearch.org_id'', true)
                    AND project_id = current_setting(''graphsearch.project_id'', true))
                WITH CHECK (org_id = current_setting(''graphsearch.org_id'', true)
                    AND project_id = current_setting(''graphsearch.project_id'', true));',
            element.name, element.id
        );
    END LOOP;
END
$$;

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
