-- What was set, when and by whom: by conversation, or for all of them. A later event of a name stands for the earlier.

CREATE TABLE setting_event (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT,
  name         TEXT NOT NULL,
  value        TEXT,
  trigger      TEXT NOT NULL,
  at_ms        INTEGER NOT NULL,
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE INDEX setting_event_by_name ON setting_event (owner, conversation, name, id);
