-- What happened to the goals of a conversation. The state is what the log comes to; nothing else is stored.

CREATE TABLE goal_event (
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  goal         TEXT NOT NULL,
  kind         TEXT NOT NULL,
  payload      TEXT NOT NULL,
  author       TEXT NOT NULL,
  trust        TEXT NOT NULL,
  turn         TEXT,
  at_ms        INTEGER NOT NULL,
  PRIMARY KEY (owner, conversation, seq),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE TRIGGER goal_event_is_never_changed BEFORE UPDATE ON goal_event
BEGIN SELECT RAISE(ABORT, 'goal events are append-only'); END;
CREATE TRIGGER goal_event_is_never_deleted BEFORE DELETE ON goal_event
BEGIN SELECT RAISE(ABORT, 'goal events are append-only'); END;
