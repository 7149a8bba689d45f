-- Messages that nobody waits for. The key makes a second one the same; what it says is never changed, and it reaches its
-- conversation together with the note that it did.

CREATE TABLE delivery (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  key          TEXT NOT NULL,
  conversation TEXT NOT NULL,
  origin       TEXT NOT NULL,
  title        TEXT NOT NULL,
  text         TEXT NOT NULL,
  trust        TEXT NOT NULL,
  made_ms      INTEGER NOT NULL,
  -- When it was settled, and the turn that it became; a settled one without a turn had nothing to say.
  settled_ms   INTEGER,
  turn         TEXT,
  read_ms      INTEGER,
  UNIQUE (owner, key),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT;
CREATE INDEX delivery_pending ON delivery (owner, conversation) WHERE settled_ms IS NULL;
CREATE INDEX delivery_unread ON delivery (owner, conversation) WHERE turn IS NOT NULL AND read_ms IS NULL;
CREATE TRIGGER delivery_is_never_changed
BEFORE UPDATE OF owner, key, conversation, origin, title, text, trust, made_ms ON delivery
BEGIN SELECT RAISE(ABORT, 'deliveries are never changed'); END;

-- Deliveries in a conversation that nobody has read.
ALTER TABLE conversation ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;
