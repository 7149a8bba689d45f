-- Files that instruct the agent and lie where programs can write. What each held is written down before a program is started;
-- what is another one afterwards waits until its owner accepts it, and is used in no prompt before that.

CREATE TABLE program_run (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  owner   TEXT NOT NULL,
  holder  TEXT NOT NULL,
  tool    TEXT NOT NULL,
  folders TEXT NOT NULL,
  at_ms   INTEGER NOT NULL
) STRICT;

CREATE TABLE program_run_file (
  run  INTEGER NOT NULL REFERENCES program_run (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  hash BLOB NOT NULL,
  PRIMARY KEY (run, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE waiting_file (
  owner  TEXT NOT NULL,
  path   TEXT NOT NULL,
  before BLOB,
  cause  TEXT NOT NULL,
  at_ms  INTEGER NOT NULL,
  told   BLOB,
  PRIMARY KEY (owner, path)
) STRICT, WITHOUT ROWID;

-- What the owner made their own of what others may have written, with what they were shown.
CREATE TABLE raised_label (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  owner   TEXT NOT NULL,
  act     TEXT NOT NULL CHECK (act IN ('file', 'memory', 'skill', 'mine')),
  subject TEXT NOT NULL,
  shown   TEXT NOT NULL,
  source  TEXT NOT NULL,
  at_ms   INTEGER NOT NULL
) STRICT;
CREATE TRIGGER raised_label_is_never_changed BEFORE UPDATE ON raised_label
BEGIN SELECT RAISE(ABORT, 'what was raised is append-only'); END;
CREATE TRIGGER raised_label_is_never_deleted BEFORE DELETE ON raised_label
BEGIN SELECT RAISE(ABORT, 'what was raised is append-only'); END;
