-- Conversations, turns, the ledger of requests, memories. Every row has an owner; times are milliseconds since 1970.

CREATE TABLE conversation (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  owner      TEXT NOT NULL,
  id         TEXT NOT NULL,
  kind       TEXT NOT NULL,
  title      TEXT NOT NULL,
  profile    TEXT NOT NULL,
  mode       TEXT,
  model      TEXT,
  session    TEXT,
  messages   INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX conversation_by_time ON conversation (owner, updated_ms);

-- Who may write to a conversation. The fence grows with every holding, so that a holder who lost it cannot write.
CREATE TABLE lease (
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  holder       TEXT NOT NULL,
  fence        INTEGER NOT NULL,
  until_ms     INTEGER NOT NULL,
  PRIMARY KEY (owner, conversation),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;

CREATE TABLE turn (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  id           TEXT NOT NULL,
  conversation TEXT NOT NULL,
  path         TEXT NOT NULL,
  began_ms     INTEGER NOT NULL,
  outcome      TEXT,
  detail       TEXT NOT NULL DEFAULT '',
  ended_ms     INTEGER,
  UNIQUE (owner, id),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id)
) STRICT;
CREATE INDEX turn_unfinished ON turn (owner) WHERE outcome IS NULL;

CREATE TABLE turn_event (
  owner   TEXT NOT NULL,
  turn    TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL,
  trust   TEXT NOT NULL,
  at_ms   INTEGER NOT NULL,
  PRIMARY KEY (owner, turn, seq),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT;

CREATE TABLE message (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  turn         TEXT NOT NULL,
  role         TEXT NOT NULL,
  text         TEXT NOT NULL,
  typed        TEXT,
  trust        TEXT NOT NULL,
  boundary     TEXT,
  calls        TEXT,
  call_id      TEXT,
  request      TEXT,
  at_ms        INTEGER NOT NULL,
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT;
CREATE INDEX message_by_conversation ON message (owner, conversation, id);
CREATE TRIGGER message_is_never_changed BEFORE UPDATE ON message
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;
CREATE TRIGGER message_is_never_deleted BEFORE DELETE ON message
BEGIN SELECT RAISE(ABORT, 'messages are append-only'); END;

-- The ids of calls, each once in its conversation.
CREATE TABLE call (
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  id           TEXT NOT NULL,
  message      INTEGER NOT NULL REFERENCES message (id),
  PRIMARY KEY (owner, conversation, id)
) STRICT, WITHOUT ROWID;

-- What arrived, from the moment it was accepted. The key makes a second delivery the same message.
CREATE TABLE inbound (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  owner        TEXT NOT NULL,
  conversation TEXT NOT NULL,
  key          TEXT,
  text         TEXT NOT NULL,
  trust        TEXT NOT NULL,
  turn         TEXT,
  message      INTEGER REFERENCES message (id),
  accepted_ms  INTEGER NOT NULL,
  UNIQUE (owner, key),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT;
CREATE INDEX inbound_waiting ON inbound (owner, conversation) WHERE turn IS NULL;

-- Texts of requests, each once, by the SHA-256 of their bytes.
CREATE TABLE text (
  owner TEXT NOT NULL,
  hash  BLOB NOT NULL,
  body  TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (owner, hash)
) STRICT;

-- Messages of requests. A message has its predecessor, so that requests which begin alike share the rows of their
-- beginning; the key is the SHA-256 of the predecessor's key and of the message with its parts.
CREATE TABLE request_message (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  owner    TEXT NOT NULL,
  key      BLOB NOT NULL,
  parent   INTEGER REFERENCES request_message (id),
  position INTEGER NOT NULL,
  role     TEXT NOT NULL,
  calls    TEXT,
  call_id  TEXT,
  tail     TEXT NOT NULL,
  UNIQUE (owner, key)
) STRICT;
CREATE INDEX request_message_by_parent ON request_message (parent);

-- Parts of these messages; `lead` is what joins a part to the one before it.
CREATE TABLE request_part (
  message   INTEGER NOT NULL REFERENCES request_message (id) ON DELETE CASCADE,
  position  INTEGER NOT NULL,
  owner     TEXT NOT NULL,
  section   TEXT NOT NULL,
  origin    TEXT NOT NULL,
  stability TEXT NOT NULL,
  trust     TEXT NOT NULL,
  lead      TEXT NOT NULL,
  text      BLOB NOT NULL,
  tokens    INTEGER,
  PRIMARY KEY (message, position),
  FOREIGN KEY (owner, text) REFERENCES text (owner, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_part_by_text ON request_part (owner, text);

CREATE TABLE request (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  owner           TEXT NOT NULL,
  id              TEXT NOT NULL,
  conversation    TEXT,
  turn            TEXT,
  round           INTEGER NOT NULL,
  provider        TEXT NOT NULL,
  model           TEXT NOT NULL,
  protocol        TEXT NOT NULL,
  target          TEXT NOT NULL,
  profile         TEXT NOT NULL,
  path            TEXT NOT NULL,
  revision        TEXT NOT NULL,
  sampling        TEXT NOT NULL,
  tools           BLOB NOT NULL,
  body_hash       BLOB NOT NULL,
  body_bytes      INTEGER NOT NULL,
  tip             INTEGER REFERENCES request_message (id),
  messages        INTEGER NOT NULL,
  message_bytes   INTEGER NOT NULL,
  estimate        INTEGER,
  shared_messages INTEGER NOT NULL,
  shared_bytes    INTEGER NOT NULL,
  changed         TEXT,
  sent_ms         INTEGER NOT NULL,
  -- What came back; `ended_ms` is absent until then.
  reply           TEXT NOT NULL DEFAULT '',
  reasoning       TEXT NOT NULL DEFAULT '',
  calls           TEXT,
  trust           TEXT,
  finish          TEXT,
  input           INTEGER,
  cached          INTEGER,
  cache_written   INTEGER,
  output          INTEGER,
  cost            INTEGER,
  failure         TEXT,
  failure_message TEXT,
  first_ms        INTEGER,
  ended_ms        INTEGER,
  UNIQUE (owner, id),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id),
  FOREIGN KEY (owner, tools) REFERENCES text (owner, hash)
) STRICT;
CREATE INDEX request_by_conversation ON request (owner, conversation, path);
CREATE INDEX request_by_time ON request (owner, sent_ms);
CREATE INDEX request_by_turn ON request (owner, turn);
CREATE INDEX request_by_tip ON request (tip);
CREATE INDEX request_by_tools ON request (owner, tools);

CREATE TABLE memory (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  owner      TEXT NOT NULL,
  key        TEXT NOT NULL,
  content    TEXT NOT NULL,
  category   TEXT NOT NULL,
  hits       INTEGER NOT NULL,
  score      INTEGER NOT NULL,
  pinned     INTEGER NOT NULL,
  trust      TEXT NOT NULL,
  words      INTEGER NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  UNIQUE (owner, key)
) STRICT;
CREATE INDEX memory_by_time ON memory (owner, created_ms, key);
CREATE INDEX memory_by_words ON memory (owner, words);
CREATE INDEX memory_by_content ON memory (owner, substr(content, 1, 64));

-- The words of each memory as `limpid_core::recall` cuts them, so that words in the index and words in a query are the
-- same whatever the script; the `ascii` tokenizer only splits at the spaces between them.
CREATE VIRTUAL TABLE memory_fts USING fts5 (words, content = '', contentless_delete = 1, tokenize = 'ascii');

CREATE TABLE memory_event (
  id     INTEGER PRIMARY KEY AUTOINCREMENT,
  owner  TEXT NOT NULL,
  memory INTEGER NOT NULL,
  kind   TEXT NOT NULL,
  before TEXT,
  after  TEXT,
  author TEXT,
  source TEXT,
  at_ms  INTEGER NOT NULL
) STRICT;
CREATE INDEX memory_event_by_memory ON memory_event (owner, memory);
