-- Who reads a conversation, the window that the person chose, and the turns that they took out leave the JSON of
-- `session`, which is a cache: what is lost there costs a new prefix, and nobody's privacy. A row that does not say who
-- reads it is read by others too.

ALTER TABLE conversation ADD COLUMN audience TEXT NOT NULL DEFAULT 'group' CHECK (audience IN ('owner', 'group'));
ALTER TABLE conversation ADD COLUMN window_tokens INTEGER CHECK (window_tokens BETWEEN 1 AND 4294967295);
ALTER TABLE turn ADD COLUMN hidden_ms INTEGER;
CREATE INDEX turn_hidden ON turn (owner, conversation, hidden_ms) WHERE hidden_ms IS NOT NULL;

-- A conversation that has no state yet is the owner's. A state without the word is of a version before groups.
UPDATE conversation SET audience = 'owner'
WHERE session IS NULL
   OR CASE WHEN json_valid(session) THEN
        json_type(session) = 'object'
        AND (json_type(session, '$.group') = 'false'
             OR (json_type(session, '$.group') IS NULL AND json_type(session, '$.key') = 'text'))
      ELSE 0 END;

UPDATE conversation SET window_tokens = json_extract(session, '$.frame.chosen')
WHERE CASE WHEN json_valid(session) THEN
        json_type(session, '$.frame.chosen') = 'integer' AND json_extract(session, '$.frame.chosen') BETWEEN 1 AND 4294967295
      ELSE 0 END;

-- The list has them in the order in which they were taken out.
UPDATE turn SET hidden_ms = (
  SELECT c.updated_ms + u.key
  FROM conversation c, json_each(CASE WHEN json_valid(c.session) THEN c.session ELSE '{}' END, '$.frame.undone') u
  WHERE c.owner = turn.owner AND c.id = turn.conversation AND u.value = turn.id
);

-- What is columns now is no longer read there.
UPDATE conversation SET session = json_remove(session, '$.group', '$.frame.chosen', '$.frame.undone')
WHERE CASE WHEN json_valid(session) THEN json_type(session) = 'object' ELSE 0 END;

-- Which process sends a request, as leases name it: one that a dead process left open keeps nobody waiting.
ALTER TABLE request ADD COLUMN holder TEXT;

-- The transcript of a run goes with the log of runs. What was said in any other conversation stays.
DROP TRIGGER message_is_never_deleted;
CREATE TRIGGER message_is_never_deleted BEFORE DELETE ON message
WHEN (SELECT kind FROM conversation WHERE owner = old.owner AND id = old.conversation) IS NOT 'run'
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;
CREATE TRIGGER message_leaves_the_index AFTER DELETE ON message
BEGIN INSERT INTO message_fts (message_fts, rowid, text) VALUES ('delete', old.id, old.text); END;
