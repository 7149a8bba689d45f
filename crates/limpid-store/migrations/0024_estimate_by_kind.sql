-- The estimate of a request by kind of text, as JSON: what is learned from a table of numbers says nothing about prose.
ALTER TABLE request ADD COLUMN estimate_by_kind TEXT;
