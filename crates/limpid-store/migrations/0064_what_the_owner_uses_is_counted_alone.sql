-- Which tools travel goes by the newest messages that no stranger's text led to. They are found without looking at the others, however
-- many there are.
CREATE INDEX message_of_the_owner ON message (owner, id) WHERE trust IN ('owner', 'file');
