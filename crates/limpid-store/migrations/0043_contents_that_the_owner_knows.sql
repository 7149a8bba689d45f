-- What files that instruct the agent held while it was the owner's: by the place of each, links followed, and its content. Whatever
-- brings an older content back asks here whether it ever was; what waited for its owner then waits again.

CREATE TABLE known_content (
  owner  TEXT NOT NULL,
  path   TEXT NOT NULL,
  hash   BLOB NOT NULL,
  source TEXT NOT NULL,
  at_ms  INTEGER NOT NULL,
  PRIMARY KEY (owner, path, hash)
) STRICT, WITHOUT ROWID;
