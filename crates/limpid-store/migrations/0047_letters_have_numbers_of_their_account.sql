-- Items as they are named: a letter has a number as long as its account numbers its letters as it did when the letter came. Afterwards
-- the same number is another letter, so this one is known by its own number of an item alone.
CREATE VIEW inbox_item_named AS
SELECT id, owner, source, account, key, message_id, sender, title, text, posted_ms, arrived_ms, waits, shown_ms, consumed_ms,
       CASE WHEN is_past THEN NULL ELSE validity END AS validity,
       CASE WHEN is_past THEN NULL ELSE uid END AS uid
FROM (SELECT item.*, EXISTS (SELECT 1 FROM mail_account AS account
                             WHERE account.owner = item.owner AND account.address = item.account
                               AND account.validity <> item.validity) AS is_past
      FROM inbox_item AS item);
