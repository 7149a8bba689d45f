-- The message that was handed in with this one and stands before it: whoever takes this one back takes back both.
ALTER TABLE inbound ADD COLUMN handed_in INTEGER;
