-- When something is due next, one row a thing. Who works on it holds it until a moment; the fence grows with every holding.

CREATE TABLE timer (
  owner    TEXT NOT NULL,
  kind     TEXT NOT NULL,
  name     TEXT NOT NULL,
  due_ms   INTEGER NOT NULL,
  fence    INTEGER NOT NULL DEFAULT 0,
  holder   TEXT,
  until_ms INTEGER,
  PRIMARY KEY (owner, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX timer_by_due ON timer (owner, due_ms);
