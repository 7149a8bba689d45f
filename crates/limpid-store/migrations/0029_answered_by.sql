-- The model that answered by its provider's name, where a gateway says that it is another than was asked for.
ALTER TABLE request ADD COLUMN answered_by TEXT;
