-- Calls that wait for the owner. A draft is what it was when it was kept; its steps are a log of their own.

CREATE TABLE draft (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  turn         TEXT NOT NULL,
  call         TEXT NOT NULL,
  tool         TEXT NOT NULL,
  arguments    TEXT NOT NULL,
  hash         TEXT NOT NULL,
  folder       TEXT NOT NULL,
  destination  TEXT,
  why          TEXT NOT NULL,
  led_by       TEXT NOT NULL,
  trust        TEXT NOT NULL,
  made_ms      INTEGER NOT NULL,
  expires_ms   INTEGER NOT NULL,
  UNIQUE (owner, turn, call),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE TRIGGER draft_is_never_changed BEFORE UPDATE ON draft
BEGIN SELECT RAISE(ABORT, 'drafts are never changed'); END;

CREATE TABLE draft_event (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  owner  TEXT NOT NULL,
  draft  INTEGER NOT NULL REFERENCES draft (id),
  state  TEXT NOT NULL,
  detail TEXT NOT NULL,
  at_ms  INTEGER NOT NULL
) STRICT;
CREATE INDEX draft_event_by_draft ON draft_event (owner, draft, id);

-- Files that hold what strangers wrote, by the bytes that they had.
CREATE TABLE file_label (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  owner TEXT NOT NULL,
  path  TEXT NOT NULL,
  hash  TEXT NOT NULL,
  trust TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX file_label_by_hash ON file_label (owner, hash);
