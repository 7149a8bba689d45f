-- Mail, text messages and notifications that came in. An item stays what it was; whether it waits and when it was seen
-- are the only things that change.

CREATE TABLE inbox_item (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  owner       TEXT NOT NULL,
  source      TEXT NOT NULL,
  account     TEXT NOT NULL,
  key         TEXT,
  validity    INTEGER,
  uid         INTEGER,
  message_id  TEXT,
  sender      TEXT NOT NULL,
  title       TEXT NOT NULL,
  text        TEXT NOT NULL,
  posted_ms   INTEGER NOT NULL,
  arrived_ms  INTEGER NOT NULL,
  waits       INTEGER NOT NULL DEFAULT 1,
  shown_ms    INTEGER,
  consumed_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX inbox_item_by_key ON inbox_item (owner, source, account, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX inbox_item_by_uid ON inbox_item (owner, source, account, validity, uid) WHERE uid IS NOT NULL;
CREATE INDEX inbox_item_by_message ON inbox_item (owner, account, message_id) WHERE message_id IS NOT NULL;
CREATE INDEX inbox_item_that_waits ON inbox_item (owner, source, id) WHERE waits = 1;
CREATE TRIGGER inbox_item_stays_what_it_was
BEFORE UPDATE OF owner, source, account, key, validity, uid, message_id, sender, title, text, posted_ms, arrived_ms
ON inbox_item BEGIN SELECT RAISE(ABORT, 'inbox items are never changed'); END;

CREATE TABLE mail_account (
  owner        TEXT NOT NULL,
  address      TEXT NOT NULL,
  validity     INTEGER,
  polled_uid   INTEGER,
  watermark    INTEGER NOT NULL DEFAULT 0,
  unread       INTEGER NOT NULL DEFAULT 0,
  attempted_ms INTEGER,
  synced_ms    INTEGER,
  last_error   TEXT,
  PRIMARY KEY (owner, address)
) STRICT, WITHOUT ROWID;
