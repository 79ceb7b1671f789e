-- Calls of operations that wait for a person; sql/reviewing.sql explains them.

CREATE TABLE proposal (
    org_id text COLLATE "C" NOT NULL,
    project_id text COLLATE "C" NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    state text COLLATE "C" NOT NULL,
    decided_at timestamptz,
    content json NOT NULL,
    PRIMARY KEY (org_id, project_id, id)
);
ALTER TABLE proposal ALTER COLUMN content SET STATISTICS 0;
CREATE INDEX proposal_age ON proposal (org_id, project_id, created_at, id);
ALTER TABLE proposal ENABLE ROW LEVEL SECURITY;
ALTER TABLE proposal FORCE ROW LEVEL SECURITY;
CREATE POLICY scope ON proposal
    USING (org_id = current_setting('graphsearch.org_id', true)
        AND project_id = current_setting('graphsearch.project_id', true))
    WITH CHECK (org_id = current_setting('graphsearch.org_id', true)
        AND project_id = current_setting('graphsearch.project_id', true));
