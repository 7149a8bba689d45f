-- Agents that turns hand work to. An agent is kept before the turn hears of it, and ends once: its end and the message that
-- tells whoever started it are one write. One that its caller waits for is told by the result of that call.

CREATE TABLE agent (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  owner         TEXT NOT NULL,
  -- The hidden conversation that it works in, made when it begins.
  own           TEXT NOT NULL,
  -- Who started it: a call of a turn of a conversation, which may be another agent's.
  conversation  TEXT NOT NULL,
  turn          TEXT NOT NULL,
  call          TEXT NOT NULL,
  parent        INTEGER REFERENCES agent (id),
  -- The turn that the tree of agents began with, and its conversation.
  root          TEXT NOT NULL,
  chat          TEXT NOT NULL,
  depth         INTEGER NOT NULL,
  in_background INTEGER NOT NULL,
  path          TEXT NOT NULL,
  waited_for    INTEGER NOT NULL,
  label         TEXT NOT NULL,
  task          TEXT NOT NULL,
  task_hash     BLOB NOT NULL,
  skill         TEXT,
  context       TEXT,
  -- The names of the only tools that it has, as JSON; absent: those of its path.
  tools         TEXT,
  -- The tokens that its tree may use.
  tokens        INTEGER NOT NULL,
  trust         TEXT NOT NULL,
  state         TEXT NOT NULL,
  holder        TEXT NOT NULL,
  made_ms       INTEGER NOT NULL,
  began_ms      INTEGER,
  ended_ms      INTEGER,
  result        TEXT NOT NULL DEFAULT '',
  reason        TEXT NOT NULL DEFAULT '',
  -- What its journal says that it did, as JSON.
  report        TEXT NOT NULL DEFAULT '{}',
  -- The message by which whoever started it is told of its end.
  told          INTEGER UNIQUE REFERENCES inbound (id),
  UNIQUE (owner, own),
  -- A call that is made again after a crash is the same agent, and a task is given once a turn.
  UNIQUE (owner, turn, call),
  UNIQUE (owner, turn, task_hash),
  CHECK (depth BETWEEN 1 AND 3),
  CHECK (state IN ('queued', 'running', 'done', 'failed', 'timeout', 'cancelled', 'interrupted')),
  CHECK ((ended_ms IS NULL) = (state IN ('queued', 'running'))),
  CHECK ((told IS NOT NULL) = (ended_ms IS NOT NULL AND NOT waited_for)),
  FOREIGN KEY (owner, conversation) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, chat) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id)
) STRICT;
CREATE INDEX agent_open ON agent (owner, conversation) WHERE ended_ms IS NULL;
CREATE INDEX agent_by_root ON agent (owner, root);
CREATE INDEX agent_by_chat ON agent (owner, chat);

CREATE TRIGGER agent_ends_once BEFORE UPDATE ON agent WHEN OLD.ended_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an agent that has ended is never changed'); END;

CREATE TRIGGER agent_does_what_it_was_given BEFORE UPDATE
OF owner, own, conversation, turn, call, parent, root, chat, depth, path, waited_for, task, task_hash, skill, context, tools, made_ms
ON agent
BEGIN SELECT RAISE(ABORT, 'what an agent was given is never changed'); END;

CREATE TRIGGER agent_label_is_not_raised BEFORE UPDATE ON agent
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

-- The agent whose end a message tells.
ALTER TABLE inbound ADD COLUMN agent INTEGER REFERENCES agent (id);
CREATE INDEX inbound_of_agent ON inbound (agent) WHERE agent IS NOT NULL;
CREATE INDEX inbound_by_turn ON inbound (owner, turn) WHERE turn IS NOT NULL;
