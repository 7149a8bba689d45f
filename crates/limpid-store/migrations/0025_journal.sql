-- What a turn keeps for good is what a later reader needs: the results that a message shows cut. The rest of its journal
-- goes when it ends. A text that many journals share, such as the schemas of the tools, is kept once, by its hash.

CREATE TABLE journal (
  owner   TEXT NOT NULL,
  turn    TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  trust   TEXT NOT NULL,
  kept    INTEGER NOT NULL,
  shared  BLOB,
  at_ms   INTEGER NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (owner, turn, seq),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT, WITHOUT ROWID;

-- Of turns that have ended only the results are read again. A run is over when its end is in a log; until then its
-- journal says what it looked at.
INSERT INTO journal (owner, turn, seq, kind, trust, kept, at_ms, payload)
SELECT e.owner, e.turn, e.seq, e.kind, e.trust, e.kind IN ('tool-done', 'tool-failed'), e.at_ms, e.payload
FROM turn_event e
JOIN turn t ON t.owner = e.owner AND t.id = e.turn
JOIN conversation c ON c.owner = t.owner AND c.id = t.conversation
WHERE t.outcome IS NULL
   OR (c.kind <> 'run' AND e.kind IN ('tool-done', 'tool-failed'))
   OR (c.kind = 'run'
       AND c.id NOT IN (SELECT conversation FROM heartbeat_run WHERE conversation IS NOT NULL)
       AND c.id NOT IN (SELECT conversation FROM task_run WHERE conversation IS NOT NULL AND outcome IS NOT NULL));
DROP TABLE turn_event;
ALTER TABLE journal RENAME TO turn_event;
