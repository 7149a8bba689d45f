-- Memories that were taken into the soul or are to be, and memories that are kept out of the way.

-- Archived memories are in no list and no prompt; search finds them.
ALTER TABLE memory ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memory_pinned ON memory (owner) WHERE pinned = 1;
CREATE INDEX memory_proven ON memory (owner) WHERE hits >= 5;

CREATE TABLE promotion (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  owner       TEXT NOT NULL,
  memory      INTEGER NOT NULL,
  -- The memory as it was when it was promoted, or proposed.
  before      TEXT NOT NULL,
  addition    TEXT NOT NULL,
  state       TEXT NOT NULL,
  trust       TEXT NOT NULL,
  source      TEXT,
  proposed_ms INTEGER NOT NULL,
  decided_ms  INTEGER
) STRICT;
CREATE INDEX promotion_by_state ON promotion (owner, state);
