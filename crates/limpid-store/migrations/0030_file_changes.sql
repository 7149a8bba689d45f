-- Every change that a tool made in a file: what it held before and after, by hash, and whose change it was. A row is written
-- before the call and ended after it. What prompts quote is kept whole in file_text; of other files, what they held before
-- is kept for a while beside the database.

CREATE TABLE file_change (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  path         TEXT NOT NULL,
  undoes       INTEGER,
  before       BLOB,
  after        BLOB,
  author       TEXT,
  trust        TEXT NOT NULL,
  source       TEXT NOT NULL,
  conversation TEXT,
  tool         TEXT,
  at_ms        INTEGER NOT NULL,
  ended        INTEGER NOT NULL
) STRICT;

INSERT INTO file_change (id, owner, path, undoes, before, after, author, trust, source, at_ms, ended)
SELECT id, owner, path, undoes, before, after, author, trust, source, at_ms, 1 FROM file_version;
DROP TABLE file_version;

CREATE INDEX file_change_by_path ON file_change (owner, path, id);
CREATE INDEX file_change_by_before ON file_change (owner, before);
CREATE TRIGGER file_change_that_ended_is_never_changed BEFORE UPDATE ON file_change WHEN OLD.ended
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
CREATE TRIGGER file_change_that_ended_is_never_deleted BEFORE DELETE ON file_change WHEN OLD.ended
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
