-- The secret of each scope by which ingest mints ids of entities; those minted before stay.

ALTER TABLE scope ADD COLUMN id_key uuid NOT NULL DEFAULT gen_random_uuid();
