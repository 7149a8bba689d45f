-- The level of reasoning that was chosen for a conversation, and the tokens of a reply that were reasoning.
ALTER TABLE conversation ADD COLUMN effort TEXT;
ALTER TABLE request ADD COLUMN reasoned INTEGER;
