-- A kept moment also says which tier its prompts had, and how long the log of the goals was.
ALTER TABLE window_snapshot ADD COLUMN tier INTEGER;
ALTER TABLE window_snapshot ADD COLUMN goals INTEGER;
CREATE INDEX message_by_turn ON message (owner, turn, id);
