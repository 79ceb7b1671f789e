-- What a language model wrote about a community. scope.summarised spares the writers of other scopes the search for it.

ALTER TABLE community ADD COLUMN summary jsonb;
ALTER TABLE scope ADD COLUMN summarised boolean NOT NULL DEFAULT false;
