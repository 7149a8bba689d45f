-- Whether the call itself wrote what the file held afterwards, of what it held before and of its own words alone. Of changes that were
-- written down before this nobody knows it.
ALTER TABLE file_change ADD COLUMN exact INTEGER NOT NULL DEFAULT 0;
