-- What the ranker has to know about all memories is kept with them, so that no query counts them.

CREATE TABLE memory_total (
  owner    TEXT PRIMARY KEY,
  memories INTEGER NOT NULL,
  words    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO memory_total SELECT owner, count(*), sum(words) FROM memory GROUP BY owner;
CREATE TRIGGER memory_adds AFTER INSERT ON memory
BEGIN
  INSERT INTO memory_total VALUES (new.owner, 1, new.words)
  ON CONFLICT (owner) DO UPDATE SET memories = memories + 1, words = words + new.words;
END;
CREATE TRIGGER memory_changes AFTER UPDATE OF words ON memory
BEGIN UPDATE memory_total SET words = words + new.words - old.words WHERE owner = new.owner; END;
CREATE TRIGGER memory_goes AFTER DELETE ON memory
BEGIN UPDATE memory_total SET memories = memories - 1, words = words - old.words WHERE owner = old.owner; END;
DROP INDEX memory_by_words;

-- How many memories hold each word.
CREATE TABLE memory_word (
  owner    TEXT NOT NULL,
  word     TEXT NOT NULL,
  memories INTEGER NOT NULL,
  PRIMARY KEY (owner, word)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_fts, instance);
INSERT INTO memory_word
SELECT memory.owner, term, count(DISTINCT doc) FROM memory_vocabulary JOIN memory ON memory.id = doc GROUP BY 1, 2;
DROP TABLE memory_vocabulary;
