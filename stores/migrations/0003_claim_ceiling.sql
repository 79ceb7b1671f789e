-- The confidence above which a claim proves nothing; those written before have none.

ALTER TABLE claim ADD COLUMN ceiling double precision NOT NULL DEFAULT 1;
