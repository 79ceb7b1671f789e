-- The minutes east of UTC in which the time of a memory was given: its day is shown as its speaker had it.

ALTER TABLE memory ADD COLUMN zone integer NOT NULL DEFAULT 0;
