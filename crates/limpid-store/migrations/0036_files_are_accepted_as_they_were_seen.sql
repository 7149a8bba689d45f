-- A file that waits goes by an act that came after it began to wait, and that names the very content that was accepted. An older
-- act for the same path says nothing of what is there now.
ALTER TABLE raised_label ADD COLUMN content BLOB;
ALTER TABLE waiting_file ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE waiting_file ADD COLUMN accepted BLOB;
-- What waits already is not accepted by what was said before.
UPDATE waiting_file SET since = (SELECT coalesce(max(id), 0) FROM raised_label);

DROP TRIGGER waiting_file_goes_by_accepting;
CREATE TRIGGER waiting_file_goes_by_accepting BEFORE DELETE ON waiting_file
WHEN NOT EXISTS (SELECT 1 FROM raised_label WHERE owner = OLD.owner AND act = 'file' AND subject = OLD.path
                 AND id > OLD.since AND content = OLD.accepted)
BEGIN SELECT RAISE(ABORT, 'a file is accepted by an act of the owner''s alone'); END;
CREATE TRIGGER waiting_file_keeps_its_beginning BEFORE UPDATE ON waiting_file WHEN NEW.since < OLD.since
BEGIN SELECT RAISE(ABORT, 'a file waits since it was changed'); END;
