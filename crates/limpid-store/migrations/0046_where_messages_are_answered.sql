-- The folder in which relative paths begin where a message was said: it is answered where they begin there. Empty is the workspace; a
-- message without one is answered by whoever works on its conversation.
ALTER TABLE inbound ADD COLUMN base TEXT;
