-- What was done to skills, and which of them a conversation uses. Texts stand in files, by the hash of their folder.

CREATE TABLE skill_event (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  owner  TEXT NOT NULL,
  skill  TEXT NOT NULL,
  kind   TEXT NOT NULL,
  before TEXT,
  after  TEXT,
  source TEXT NOT NULL,
  at_ms  INTEGER NOT NULL
) STRICT;
CREATE INDEX skill_event_by_skill ON skill_event (owner, skill, id);
CREATE TRIGGER skill_event_is_never_changed BEFORE UPDATE ON skill_event
BEGIN SELECT RAISE(ABORT, 'skill events are append-only'); END;
CREATE TRIGGER skill_event_is_never_deleted BEFORE DELETE ON skill_event
BEGIN SELECT RAISE(ABORT, 'skill events are append-only'); END;

-- Names as JSON: those that were chosen for a conversation, and those that everybody was told are active in it.
CREATE TABLE skill_choice (
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  chosen       TEXT NOT NULL DEFAULT '[]',
  active       TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (owner, conversation),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT, WITHOUT ROWID;
