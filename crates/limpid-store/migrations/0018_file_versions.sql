-- What the files that prompts quote said before and after each change that the agent made. A text is kept once.

CREATE TABLE file_text (
  owner TEXT NOT NULL,
  hash  BLOB NOT NULL,
  text  TEXT NOT NULL,
  PRIMARY KEY (owner, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_version (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  owner  TEXT NOT NULL,
  path   TEXT NOT NULL,
  undoes INTEGER,
  before BLOB,
  after  BLOB,
  author TEXT NOT NULL,
  trust  TEXT NOT NULL,
  source TEXT NOT NULL,
  at_ms  INTEGER NOT NULL,
  FOREIGN KEY (owner, before) REFERENCES file_text (owner, hash),
  FOREIGN KEY (owner, after) REFERENCES file_text (owner, hash)
) STRICT;
CREATE INDEX file_version_by_path ON file_version (owner, path, id);
CREATE TRIGGER file_version_is_never_changed BEFORE UPDATE ON file_version
BEGIN SELECT RAISE(ABORT, 'versions of files are append-only'); END;
CREATE TRIGGER file_version_is_never_deleted BEFORE DELETE ON file_version
BEGIN SELECT RAISE(ABORT, 'versions of files are append-only'); END;
