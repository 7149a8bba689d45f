-- What a stranger's text had stored is counted apart, so that no number by which the owner's memories are chosen has any of it.

CREATE INDEX memory_of_strangers ON memory (owner, id, trust) WHERE trust IN ('guest', 'outside');

CREATE TABLE memory_total_of_strangers (
  owner    TEXT PRIMARY KEY,
  memories INTEGER NOT NULL,
  words    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO memory_total_of_strangers
SELECT owner, count(*), sum(words) FROM memory WHERE trust IN ('guest', 'outside') GROUP BY owner;
CREATE TRIGGER memory_of_a_stranger_adds AFTER INSERT ON memory WHEN new.trust IN ('guest', 'outside')
BEGIN
  -- No clause for conflicts: that of the statement which changes the memory would hold in its place.
  INSERT INTO memory_total_of_strangers
  SELECT new.owner, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM memory_total_of_strangers WHERE owner = new.owner);
  UPDATE memory_total_of_strangers SET memories = memories + 1, words = words + new.words WHERE owner = new.owner;
END;
CREATE TRIGGER memory_of_a_stranger_changes AFTER UPDATE OF words, trust ON memory
WHEN old.trust IN ('guest', 'outside') OR new.trust IN ('guest', 'outside')
BEGIN
  INSERT INTO memory_total_of_strangers
  SELECT new.owner, 0, 0 WHERE NOT EXISTS (SELECT 1 FROM memory_total_of_strangers WHERE owner = new.owner);
  UPDATE memory_total_of_strangers
  SET memories = memories + (new.trust IN ('guest', 'outside')) - (old.trust IN ('guest', 'outside')),
      words = words + iif(new.trust IN ('guest', 'outside'), new.words, 0)
                    - iif(old.trust IN ('guest', 'outside'), old.words, 0)
  WHERE owner = new.owner;
END;
CREATE TRIGGER memory_of_a_stranger_goes AFTER DELETE ON memory WHEN old.trust IN ('guest', 'outside')
BEGIN
  UPDATE memory_total_of_strangers SET memories = memories - 1, words = words - old.words WHERE owner = old.owner;
END;

-- How many of these memories hold each word.
CREATE TABLE memory_word_of_strangers (
  owner    TEXT NOT NULL,
  word     TEXT NOT NULL,
  memories INTEGER NOT NULL,
  PRIMARY KEY (owner, word)
) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE memory_vocabulary USING fts5vocab (memory_fts, instance);
-- Without such a memory the index is not read at all.
INSERT INTO memory_word_of_strangers
SELECT memory.owner, term, count(DISTINCT doc) FROM memory_vocabulary JOIN memory ON memory.id = doc
WHERE EXISTS (SELECT 1 FROM memory_total_of_strangers) AND memory.trust IN ('guest', 'outside')
GROUP BY 1, 2;
DROP TABLE memory_vocabulary;
