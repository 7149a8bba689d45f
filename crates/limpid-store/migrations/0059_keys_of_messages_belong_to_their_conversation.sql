-- A key makes a second delivery the same message within its conversation alone: programs number their messages in each conversation anew.
-- SQLite changes no constraint of a table, so the rows move into another one of the same name; what refers to them is checked at the end.
PRAGMA defer_foreign_keys = ON;

CREATE TABLE inbound_before AS SELECT * FROM inbound;
CREATE TABLE inbound_number AS SELECT seq FROM sqlite_sequence WHERE name = 'inbound';
DROP TABLE inbound;

CREATE TABLE inbound (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  key          TEXT,
  text         TEXT NOT NULL,
  trust        TEXT NOT NULL,
  turn         TEXT,
  message      INTEGER REFERENCES message (id),
  accepted_ms  INTEGER NOT NULL,
  typed        INTEGER NOT NULL DEFAULT 0,
  agent        INTEGER REFERENCES agent (id),
  base         TEXT,
  handed_in    INTEGER,
  -- The key stands before the conversation: what begins a conversation is looked for by its key.
  UNIQUE (owner, key, conversation),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT;

INSERT INTO inbound
  (id, owner, conversation, key, text, trust, turn, message, accepted_ms, typed, agent, base, handed_in)
SELECT id, owner, conversation,
       -- What was handed in with a message is delivered again with it alone. Its key was made from the message's, and could be another's.
       CASE WHEN id IN (SELECT handed_in FROM inbound_before WHERE handed_in IS NOT NULL) THEN NULL ELSE key END,
       text, trust, turn, message, accepted_ms, typed, agent, base, handed_in
FROM inbound_before;

-- The number of a message that was deleted is never given to another one.
DELETE FROM sqlite_sequence WHERE name = 'inbound';
INSERT INTO sqlite_sequence (name, seq) SELECT 'inbound', seq FROM inbound_number;
DROP TABLE inbound_before;
DROP TABLE inbound_number;

CREATE INDEX inbound_waiting ON inbound (owner, conversation) WHERE turn IS NULL;
CREATE INDEX inbound_typed ON inbound (owner, conversation) WHERE typed = 1;
CREATE INDEX inbound_of_agent ON inbound (agent) WHERE agent IS NOT NULL;
CREATE INDEX inbound_by_turn ON inbound (owner, turn) WHERE turn IS NOT NULL;
CREATE INDEX inbound_by_message ON inbound (message) WHERE message IS NOT NULL;

CREATE TRIGGER inbound_label_is_not_raised BEFORE UPDATE ON inbound
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER inbound_is_typed_from_the_start BEFORE UPDATE ON inbound WHEN NEW.typed <> OLD.typed
BEGIN SELECT RAISE(ABORT, 'what was typed is known when it arrives, and never changed'); END;

-- After the rows have moved: they are no new messages.
CREATE TRIGGER conversation_comes_back_for_a_message AFTER INSERT ON inbound
BEGIN
  UPDATE conversation SET archived = 0 WHERE owner = NEW.owner AND id = NEW.conversation AND archived = 1;
END;
