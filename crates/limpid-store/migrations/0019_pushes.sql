-- Where else a delivery is told than in its conversation: a row is written with the delivery, before anything leaves, and
-- its outcome when that is known. One without whose holder is gone is of unknown outcome.

CREATE TABLE push (
  owner    TEXT NOT NULL,
  delivery INTEGER NOT NULL REFERENCES delivery (id),
  by       TEXT NOT NULL,
  holder   TEXT NOT NULL,
  began_ms INTEGER NOT NULL,
  outcome  TEXT,
  detail   TEXT NOT NULL DEFAULT '',
  ended_ms INTEGER,
  PRIMARY KEY (delivery, by)
) STRICT, WITHOUT ROWID;
CREATE INDEX push_open ON push (owner) WHERE outcome IS NULL;
