-- Which items of the inbox a turn has shown to the model. They leave the inbox's queue when that turn, or the run that it
-- belongs to, ends well; until then this is only a note.
CREATE TABLE inbox_shown (
  owner        TEXT NOT NULL,
  turn         TEXT NOT NULL,
  item         INTEGER NOT NULL,
  conversation TEXT NOT NULL,
  PRIMARY KEY (owner, turn, item)
) STRICT, WITHOUT ROWID;
CREATE INDEX inbox_shown_by_conversation ON inbox_shown (owner, conversation);

-- When a standing item (an addition, a line of the checklist, the owner's own opening) was asked last; `mark` stands for
-- its text, so that a changed item is a new one.
CREATE TABLE heartbeat_item (
  owner    TEXT NOT NULL,
  mark     TEXT NOT NULL,
  asked_ms INTEGER NOT NULL,
  PRIMARY KEY (owner, mark)
) STRICT, WITHOUT ROWID;

-- Looks that found nothing are counted, and no row is kept of each.
ALTER TABLE heartbeat ADD COLUMN idle_runs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE heartbeat ADD COLUMN idle_since_ms INTEGER;
ALTER TABLE heartbeat ADD COLUMN idle_ms INTEGER;
DELETE FROM heartbeat_run WHERE outcome = 'unchanged';
