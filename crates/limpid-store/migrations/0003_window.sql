-- What a model sees of a conversation, and every attempt to change that. Append-only: the newest row with a view is what
-- is shown; messages are never touched.
CREATE TABLE window_event (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  kind         TEXT NOT NULL,
  -- Why it failed; absent: it was done.
  failure      TEXT,
  -- The newest message at that time.
  newest       INTEGER,
  before       INTEGER NOT NULL,
  after        INTEGER NOT NULL,
  steps        TEXT NOT NULL,
  view         TEXT,
  at_ms        INTEGER NOT NULL,
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE INDEX window_event_by_conversation ON window_event (owner, conversation, id);

-- Moments of a conversation that can be gone back to.
CREATE TABLE window_snapshot (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  automatic    INTEGER NOT NULL,
  reason       TEXT NOT NULL,
  newest       INTEGER,
  mode         TEXT,
  view         TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE INDEX window_snapshot_by_conversation ON window_snapshot (owner, conversation, id);
