-- Whether what a kept moment shows has a stranger's text in it: of the automatic ones the newest five of each side stay. What is there
-- from before counts as the owner's, so that no stranger's pushes it out.
ALTER TABLE window_snapshot ADD COLUMN strangers INTEGER NOT NULL DEFAULT 0 CHECK (strangers IN (0, 1));
