-- What is to be done later, and its newest runs. A run is known by its task and the time that it was for.

CREATE TABLE task (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  key          TEXT,
  description  TEXT NOT NULL,
  prompt       TEXT NOT NULL,
  kind         TEXT NOT NULL,
  trigger      TEXT NOT NULL,
  -- A moment or the first of many, the milliseconds between them, a pattern: whichever the trigger has.
  at_ms        INTEGER,
  period_ms    INTEGER,
  pattern      TEXT,
  zone         TEXT NOT NULL,
  missed       TEXT NOT NULL,
  conversation TEXT,
  trust        TEXT NOT NULL,
  status       TEXT NOT NULL,
  next_ms      INTEGER,
  failures     INTEGER NOT NULL,
  revision     INTEGER NOT NULL DEFAULT 0,
  made_ms      INTEGER NOT NULL,
  changed_ms   INTEGER NOT NULL,
  UNIQUE (owner, key),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE INDEX task_by_status ON task (owner, status);

CREATE TABLE task_run (
  owner        TEXT NOT NULL,
  task         INTEGER NOT NULL REFERENCES task (id),
  slot_ms      INTEGER NOT NULL,
  began_ms     INTEGER NOT NULL,
  ended_ms     INTEGER,
  outcome      TEXT,
  detail       TEXT NOT NULL DEFAULT '',
  conversation TEXT,
  PRIMARY KEY (task, slot_ms)
) STRICT, WITHOUT ROWID;
