-- The health that a scope had, the oldest first; those written before have none.

ALTER TABLE scope ADD COLUMN health jsonb NOT NULL DEFAULT '[]';
