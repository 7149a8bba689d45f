-- Which draft a delivery tells of: a screen draws its card by this, never by words, which anybody may write.

ALTER TABLE delivery ADD COLUMN draft INTEGER;
-- The program itself has always made these keys, and no other key begins so.
UPDATE delivery SET draft = CAST(substr(key, 7) AS INTEGER) WHERE origin = 'notice' AND key GLOB 'draft:[0-9]*:*';
CREATE INDEX delivery_of_draft ON delivery (owner, conversation) WHERE draft IS NOT NULL;
DROP TRIGGER delivery_is_never_changed;
CREATE TRIGGER delivery_is_never_changed
BEFORE UPDATE OF owner, key, conversation, origin, title, text, trust, made_ms, draft ON delivery
BEGIN SELECT RAISE(ABORT, 'deliveries are never changed'); END;
