-- What memories and messages mean to one model of embeddings, for the owners who switched that on. Each goes with its
-- text. An empty `vector` stands for a text that the model refused.

CREATE TABLE memory_vector (
  memory INTEGER PRIMARY KEY REFERENCES memory (id) ON DELETE CASCADE,
  owner  TEXT NOT NULL,
  model  TEXT NOT NULL,
  vector BLOB NOT NULL
) STRICT;
-- Whoever deletes without looking at references leaves nothing behind either.
CREATE TRIGGER memory_vector_goes AFTER DELETE ON memory
BEGIN DELETE FROM memory_vector WHERE memory = old.id; END;
CREATE TRIGGER memory_vector_is_old AFTER UPDATE OF key, content ON memory
WHEN old.key <> new.key OR old.content <> new.content
BEGIN DELETE FROM memory_vector WHERE memory = old.id; END;

CREATE TABLE message_vector (
  message INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
  owner   TEXT NOT NULL,
  model   TEXT NOT NULL,
  vector  BLOB NOT NULL
) STRICT;
