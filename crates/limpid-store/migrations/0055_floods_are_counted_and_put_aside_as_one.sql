-- As how many bytes an item was handed in; none for a letter that a mail account brought. What is kept of a source in a
-- day is counted by it, so that the day is one for all processes of a home.
ALTER TABLE inbox_item ADD COLUMN handed_bytes INTEGER;
CREATE INDEX inbox_item_of_a_day ON inbox_item (owner, source, arrived_ms, sender, handed_bytes)
WHERE handed_bytes IS NOT NULL;
CREATE TRIGGER inbox_item_keeps_its_bytes BEFORE UPDATE OF handed_bytes
ON inbox_item BEGIN SELECT RAISE(ABORT, 'inbox items are never changed'); END;

-- Up to which item of a source those that were too many to wait are put aside, and when: they are new no more. One row
-- stands for all of them, since a flood that is written item by item keeps everybody else from writing. Those that wait
-- are newer than all of them.
CREATE INDEX inbox_item_that_was_too_many ON inbox_item (owner, source, id)
WHERE waits = 0 AND shown_ms IS NULL AND consumed_ms IS NULL;
CREATE TABLE inbox_put_aside (
  owner  TEXT NOT NULL,
  source TEXT NOT NULL,
  newest INTEGER NOT NULL,
  at_ms  INTEGER NOT NULL,
  PRIMARY KEY (owner, source, newest)
) STRICT, WITHOUT ROWID;

-- Items as they are named and as they stand: see the first version of this view for the numbers of letters.
DROP VIEW inbox_item_named;
CREATE VIEW inbox_item_named AS
SELECT id, owner, source, account, key, message_id, sender, title, text, posted_ms, arrived_ms, waits,
       coalesce(min(shown_ms, aside_ms), shown_ms, aside_ms) AS shown_ms,
       coalesce(consumed_ms, CASE WHEN shown_ms IS NULL OR shown_ms > aside_ms THEN aside_ms END) AS consumed_ms,
       CASE WHEN is_past THEN NULL ELSE validity END AS validity,
       CASE WHEN is_past THEN NULL ELSE uid END AS uid
FROM (SELECT item.*,
             EXISTS (SELECT 1 FROM mail_account AS account
                     WHERE account.owner = item.owner AND account.address = item.account
                       AND account.validity <> item.validity) AS is_past,
             (SELECT aside.at_ms FROM inbox_put_aside AS aside
              WHERE aside.owner = item.owner AND aside.source = item.source AND aside.newest >= item.id
              ORDER BY aside.newest LIMIT 1) AS aside_ms
      FROM inbox_item AS item);
