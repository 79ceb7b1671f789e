-- The secrets by which ids of entities are minted: of the database, and of imported scopes. Ids minted before stay.

ALTER TABLE migration ADD COLUMN secret uuid NOT NULL DEFAULT gen_random_uuid();
ALTER TABLE scope ADD COLUMN id_key uuid;
