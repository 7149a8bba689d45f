-- Conversations that their owner deletes for good. A row marked as gone is about to go, or stands for what deleted ones have cost.
ALTER TABLE conversation ADD COLUMN gone INTEGER NOT NULL DEFAULT 0 CHECK (gone IN (0, 1));

DROP TRIGGER message_is_never_deleted;
CREATE TRIGGER message_is_never_deleted BEFORE DELETE ON message
WHEN (SELECT kind = 'run' OR gone FROM conversation WHERE owner = old.owner AND id = old.conversation) IS NOT 1
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;

DROP TRIGGER message_state_is_never_deleted;
CREATE TRIGGER message_state_is_never_deleted BEFORE DELETE ON message_state
WHEN (SELECT kind = 'run' OR gone FROM conversation WHERE owner = old.owner AND id = old.conversation) IS NOT 1
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;

DROP TRIGGER goal_event_is_never_deleted;
CREATE TRIGGER goal_event_is_never_deleted BEFORE DELETE ON goal_event
WHEN (SELECT gone FROM conversation WHERE owner = old.owner AND id = old.conversation) IS NOT 1
BEGIN SELECT RAISE(ABORT, 'goal events are append-only'); END;

-- What was said to be the owner's own goes with the messages that it was said of. Every other act stays.
DROP TRIGGER raised_label_is_never_deleted;
CREATE TRIGGER raised_label_is_never_deleted BEFORE DELETE ON raised_label
WHEN old.act <> 'mine' OR (SELECT gone FROM conversation WHERE owner = old.owner AND id = old.subject) IS NOT 1
BEGIN SELECT RAISE(ABORT, 'what was raised is append-only'); END;

-- Each message that goes is looked for where something may refer to it.
CREATE INDEX call_by_message ON call (message);
CREATE INDEX message_state_by_message ON message_state (message);
CREATE INDEX inbound_by_message ON inbound (message) WHERE message IS NOT NULL;
CREATE INDEX delivery_by_turn ON delivery (owner, turn) WHERE turn IS NOT NULL;

-- Words of a message that is deleted leave the index at once, and not when it is tidied up.
INSERT INTO message_fts (message_fts, rank) VALUES ('secure-delete', 1);
