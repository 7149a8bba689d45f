-- Conversations that were put away: in no list but that of the archive, and whole. What is said there later brings them back; what an
-- answer that is under way still writes does not.

ALTER TABLE conversation ADD COLUMN archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1));
CREATE INDEX conversation_archived ON conversation (owner, updated_ms) WHERE archived = 1;
CREATE TRIGGER conversation_comes_back_for_a_message AFTER INSERT ON inbound
BEGIN
  UPDATE conversation SET archived = 0 WHERE owner = NEW.owner AND id = NEW.conversation AND archived = 1;
END;
CREATE TRIGGER conversation_comes_back_for_a_delivery AFTER UPDATE OF unread ON conversation
WHEN NEW.unread > OLD.unread AND NEW.archived = 1
BEGIN
  UPDATE conversation SET archived = 0 WHERE owner = NEW.owner AND id = NEW.id;
END;
