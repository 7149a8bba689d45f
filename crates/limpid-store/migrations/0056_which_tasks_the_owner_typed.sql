-- Whether the texts of a task are what the owner typed, word for word. Of older tasks nobody knows.
ALTER TABLE task ADD COLUMN typed INTEGER NOT NULL DEFAULT 0;
