-- A file in a folder of the home is known by the folder's name and the way below it (`//workspace/AGENTS.md`), so that what waits for its
-- owner goes on waiting when the home is moved, copied or seen under another path. Whole paths that are kept already get their place when
-- the database is opened. A change that ended may be given its place; nothing else of it is ever changed.
DROP TRIGGER file_change_that_ended_is_never_changed;
CREATE TRIGGER file_change_that_ended_is_never_changed
BEFORE UPDATE OF id, owner, undoes, before, after, author, trust, source, conversation, tool, at_ms, ended ON file_change
WHEN OLD.ended
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
CREATE TRIGGER file_change_that_ended_stays_where_it_is BEFORE UPDATE OF path ON file_change
WHEN OLD.ended AND substr(NEW.path, 1, 2) <> '//'
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
-- A process of an older version that still runs would hold nothing back by a place that it does not know. It fails instead.
ALTER TABLE waiting_file RENAME COLUMN path TO place;
