-- Messages that were there when a folder was numbered anew are looked through over several polls: up to which of their
-- numbers, and since when they arrived.

ALTER TABLE mail_account ADD COLUMN renumbered_to INTEGER;
ALTER TABLE mail_account ADD COLUMN renumbered_since_ms INTEGER;
