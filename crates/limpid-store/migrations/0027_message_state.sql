-- What a provider wants back with an assistant message: each entry with its place in the message. The JSON is kept once,
-- by its hash, beside the texts of requests.
CREATE TABLE message_state (
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  message      INTEGER NOT NULL REFERENCES message (id),
  position     INTEGER NOT NULL,
  protocol     TEXT NOT NULL,
  model        TEXT NOT NULL,
  json         BLOB NOT NULL,
  text_from    INTEGER NOT NULL,
  text_to      INTEGER NOT NULL,
  calls_from   INTEGER NOT NULL,
  calls_to     INTEGER NOT NULL,
  after        TEXT,
  PRIMARY KEY (owner, conversation, message, position),
  FOREIGN KEY (owner, json) REFERENCES text (owner, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_state_by_json ON message_state (owner, json);
CREATE TRIGGER message_state_is_never_changed BEFORE UPDATE ON message_state
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;
CREATE TRIGGER message_state_is_never_deleted BEFORE DELETE ON message_state
WHEN (SELECT kind FROM conversation WHERE owner = old.owner AND id = old.conversation) IS NOT 'run'
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;

-- The same of a message of a request, as it was sent.
CREATE TABLE request_state (
  message      INTEGER NOT NULL REFERENCES request_message (id) ON DELETE CASCADE,
  position     INTEGER NOT NULL,
  owner        TEXT NOT NULL,
  protocol     TEXT NOT NULL,
  model        TEXT NOT NULL,
  json         BLOB NOT NULL,
  text_from    INTEGER NOT NULL,
  text_to      INTEGER NOT NULL,
  calls_from   INTEGER NOT NULL,
  calls_to     INTEGER NOT NULL,
  after        TEXT,
  PRIMARY KEY (message, position),
  FOREIGN KEY (owner, json) REFERENCES text (owner, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_state_by_json ON request_state (owner, json);

-- Ids of calls held a signature behind a "~". They end there now; providers take a call of an earlier turn without one.
DROP TRIGGER message_is_never_changed;
UPDATE message SET calls = (
  SELECT json_group_array(json_set(c.value, '$.id', substr(c.value ->> '$.id', 1, instr((c.value ->> '$.id') || '~', '~') - 1)))
  FROM json_each(message.calls) AS c)
WHERE EXISTS (SELECT 1 FROM json_each(iif(json_valid(calls), calls, '[]')) AS c WHERE c.value ->> '$.id' LIKE '_%~%');
UPDATE message SET call_id = substr(call_id, 1, instr(call_id, '~') - 1) WHERE call_id LIKE '_%~%';
CREATE TRIGGER message_is_never_changed BEFORE UPDATE ON message
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;
UPDATE OR IGNORE call SET id = substr(id, 1, instr(id, '~') - 1) WHERE id LIKE '_%~%';
UPDATE request_message SET calls = (
  SELECT json_group_array(json_set(c.value, '$.id', substr(c.value ->> '$.id', 1, instr((c.value ->> '$.id') || '~', '~') - 1)))
  FROM json_each(request_message.calls) AS c)
WHERE EXISTS (SELECT 1 FROM json_each(iif(json_valid(calls), calls, '[]')) AS c WHERE c.value ->> '$.id' LIKE '_%~%');
UPDATE request_message SET call_id = substr(call_id, 1, instr(call_id, '~') - 1) WHERE call_id LIKE '_%~%';
