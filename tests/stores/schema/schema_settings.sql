-- What is set for every table: statistics, and row-level security.

-- No plan depends on long values, and sampling them would be most of the cost of ANALYZE.

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
            name, CASE WHEN name IN ('entity'::regclass, 'relation'::regclass) THEN hashed END
        );
    END LOOP;
END
$$;
