-- What a person made of a draft; the newest edit is what the draft holds.

CREATE TABLE draft_edit (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  owner       TEXT NOT NULL,
  draft       INTEGER NOT NULL REFERENCES draft (id),
  arguments   TEXT NOT NULL,
  hash        TEXT NOT NULL,
  folder      TEXT NOT NULL,
  destination TEXT,
  at_ms       INTEGER NOT NULL
) STRICT;
CREATE INDEX draft_edit_by_draft ON draft_edit (owner, draft, id);
