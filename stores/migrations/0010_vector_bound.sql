-- The bound by which a few candidates of a vector index are enough; indexes built before have none. sql/schema_search.sql and
-- sql/schema_functions.sql explain it.

ALTER TABLE vector_index ADD COLUMN bound double precision NOT NULL DEFAULT 0;

DROP FUNCTION keep_vector_index(text, integer);

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
