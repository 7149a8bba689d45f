-- When whoever sits at a conversation last said something there. Where the owner's next line goes follows this alone: answers, ends of agents
-- and settings do not move it.
ALTER TABLE conversation ADD COLUMN said_ms INTEGER NOT NULL DEFAULT 0;

UPDATE conversation SET said_ms = created_ms;
UPDATE conversation SET said_ms = max(said_ms, said.at)
FROM (SELECT owner, conversation, max(accepted_ms) AS at FROM inbound WHERE agent IS NULL GROUP BY owner, conversation) AS said
WHERE conversation.owner = said.owner AND conversation.id = said.conversation;

CREATE INDEX conversation_by_said ON conversation (owner, kind, said_ms);
