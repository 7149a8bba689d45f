-- Where the folders of the home lay when the store was opened last: files are given their places anew only where one of them lies
-- elsewhere, and those of a folder that was left for another one go back to their whole paths.
CREATE TABLE home_folder (
    name TEXT NOT NULL PRIMARY KEY,
    folder TEXT NOT NULL
) STRICT, WITHOUT ROWID;
DROP TRIGGER file_change_that_ended_stays_where_it_is;
CREATE TRIGGER file_change_that_ended_stays_where_it_is BEFORE UPDATE OF path ON file_change
WHEN OLD.ended AND substr(NEW.path, 1, 2) <> '//' AND NOT EXISTS (
    SELECT 1 FROM home_folder
    WHERE substr(OLD.path || '/', 1, length(name) + 3) = '//' || name || '/' AND NEW.path = folder || substr(OLD.path, length(name) + 3))
BEGIN SELECT RAISE(ABORT, 'changes of files are append-only'); END;
