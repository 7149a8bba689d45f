-- Whether the call itself wrote what the file held afterwards, of what it held before and of its own words alone. Of changes that were
-- written down before this nobody knows it.
ALTER TABLE file_change ADD COLUMN exact INTEGER NOT NULL DEFAULT 0;
DROP TRIGGER file_change_that_ended_is_never_changed;
CREATE TRIGGER file_change_that_ended_is_never_changed
BEFORE UPDATE OF id, owner, undoes, before, after, author, trust, source, conversation, tool, at_ms, ended, exact ON file_change
WHEN OLD.ended
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
