-- Accepting a file does not delete its row at once: a program that runs beside the command may have changed the file again. The accepted
-- content becomes the one that is known, so any other content still waits. The row is deleted when the file was seen to hold what is known
-- (`seen`; empty where no file is known) and no program runs.
ALTER TABLE waiting_file ADD COLUMN seen BLOB;

DROP TRIGGER waiting_file_goes_by_accepting;
CREATE TRIGGER waiting_file_is_deleted_when_it_is_as_known BEFORE DELETE ON waiting_file
WHEN OLD.seen IS NOT coalesce(OLD.before, x'') OR EXISTS (SELECT 1 FROM program_run WHERE owner = OLD.owner)
BEGIN SELECT RAISE(ABORT, 'a file waits until it is what its owner knows, and no program runs'); END;
CREATE TRIGGER waiting_file_is_known_by_accepting BEFORE UPDATE OF before ON waiting_file
WHEN NEW.before IS NOT OLD.before AND (
  coalesce(NEW.before, NEW.accepted) IS NOT NEW.accepted
  OR NOT EXISTS (SELECT 1 FROM raised_label WHERE owner = OLD.owner AND act = 'file' AND subject = OLD.place
                 AND id > OLD.since AND content = NEW.accepted))
BEGIN SELECT RAISE(ABORT, 'a file is accepted by an act of the owner''s alone'); END;

-- What clean turns and the owner changed since a program began is looked up at each program.
CREATE INDEX file_change_by_time ON file_change (owner, at_ms);
