-- While a program runs that could change a file which instructs the agent, nobody else changes that file by Limpid. So nothing asks any
-- more what was changed since a program began, nor whether a call itself wrote what a file held afterwards.
DROP INDEX file_change_by_time;
DROP TRIGGER file_change_that_ended_is_never_changed;
ALTER TABLE file_change DROP COLUMN exact;
CREATE TRIGGER file_change_that_ended_is_never_changed
BEFORE UPDATE OF id, owner, undoes, before, after, author, trust, source, conversation, tool, at_ms, ended ON file_change
WHEN OLD.ended
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
