-- Finds messages by words, whatever compaction took out of the window. The index follows the messages by itself.
CREATE VIRTUAL TABLE message_fts USING fts5 (
  text, content = 'message', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
);
INSERT INTO message_fts (message_fts) VALUES ('rebuild');
CREATE TRIGGER message_is_indexed AFTER INSERT ON message
BEGIN INSERT INTO message_fts (rowid, text) VALUES (new.id, new.text); END;
