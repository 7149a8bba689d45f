-- The heartbeat: what is under way and what it knows of itself (one row an owner), and every run as a log.

CREATE TABLE heartbeat (
  owner          TEXT PRIMARY KEY,
  switched_on_ms INTEGER,
  attempted_ms   INTEGER,
  succeeded_ms   INTEGER,
  failures       INTEGER NOT NULL DEFAULT 0,
  refusals       INTEGER NOT NULL DEFAULT 0,
  paused         TEXT,
  paused_ms      INTEGER,
  -- What stood there at the last quiet run, and at the last silence with a remainder.
  quiet_mark     TEXT,
  remainder_mark TEXT,
  -- Why nothing runs, as it was seen last, and until when.
  waits          TEXT,
  waits_ms       INTEGER,
  -- The run that is under way.
  run_key        TEXT,
  run_holder     TEXT,
  run_by_hand    INTEGER,
  run_ms         INTEGER
) STRICT;

CREATE TABLE heartbeat_run (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  owner         TEXT NOT NULL,
  key           TEXT NOT NULL,
  by_hand       INTEGER NOT NULL,
  began_ms      INTEGER NOT NULL,
  ended_ms      INTEGER NOT NULL,
  outcome       TEXT NOT NULL,
  detail        TEXT NOT NULL,
  report        TEXT,
  report_key    TEXT,
  trust         TEXT NOT NULL,
  conversation  TEXT,
  requests      INTEGER NOT NULL,
  input_tokens  INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  UNIQUE (owner, key)
) STRICT;
CREATE INDEX heartbeat_run_by_end ON heartbeat_run (owner, ended_ms);
CREATE TRIGGER heartbeat_run_is_never_changed BEFORE UPDATE ON heartbeat_run
BEGIN SELECT RAISE(ABORT, 'runs are never changed'); END;
