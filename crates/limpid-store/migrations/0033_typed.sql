-- Whether the owner typed a message at a client of theirs, in a chat: what they name there is a right. The prompt of a task, a
-- delivery and what was handed in are not typed, whatever their label. Of messages before this nobody knows.
ALTER TABLE inbound ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX inbound_typed ON inbound (owner, conversation) WHERE typed = 1;

CREATE TRIGGER inbound_is_typed_from_the_start BEFORE UPDATE ON inbound WHEN NEW.typed <> OLD.typed
BEGIN SELECT RAISE(ABORT, 'what was typed is known when it arrives, and never changed'); END;
