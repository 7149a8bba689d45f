-- Tasks that are planned before agents do them. A task waits for others, which were planned before it: so no tasks wait for each
-- other. What a task has come to is read from the agent of its newest try.

CREATE TABLE planned_task (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  owner    TEXT NOT NULL,
  chat     TEXT NOT NULL,
  -- The call that planned it, and its place there.
  turn     TEXT NOT NULL,
  call     TEXT NOT NULL,
  place    INTEGER NOT NULL,
  name     TEXT NOT NULL,
  task     TEXT NOT NULL,
  skill    TEXT,
  context  TEXT,
  -- Who wrote it, and who had a part in it that it was to be started.
  trust    TEXT NOT NULL,
  -- How often it was to be started, and the turn of its chat that wanted that last.
  tries    INTEGER NOT NULL DEFAULT 0,
  wanted   TEXT,
  -- Why the newest try has no agent and gets none.
  refusal  TEXT,
  made_ms  INTEGER NOT NULL,
  UNIQUE (owner, turn, call, place),
  CHECK ((tries = 0) = (wanted IS NULL)),
  FOREIGN KEY (owner, chat) REFERENCES conversation (owner, id),
  FOREIGN KEY (owner, turn) REFERENCES turn (owner, id),
  FOREIGN KEY (owner, wanted) REFERENCES turn (owner, id)
) STRICT;
CREATE INDEX planned_task_by_chat ON planned_task (owner, chat);

CREATE TABLE planned_need (
  owner TEXT NOT NULL,
  task  INTEGER NOT NULL REFERENCES planned_task (id),
  needs INTEGER NOT NULL REFERENCES planned_task (id),
  PRIMARY KEY (task, needs),
  CHECK (needs < task)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER planned_task_stays_as_planned BEFORE UPDATE
OF id, owner, chat, turn, call, place, name, task, skill, context, made_ms ON planned_task
BEGIN SELECT RAISE(ABORT, 'what was planned is never changed'); END;
CREATE TRIGGER planned_need_stays BEFORE UPDATE ON planned_need
BEGIN SELECT RAISE(ABORT, 'what a planned task needs is never changed'); END;
CREATE TRIGGER planned_task_label_is_not_raised BEFORE UPDATE ON planned_task
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

-- The planned task that an agent does; the agent whose conversation it goes on in, with that conversation and the replies that were
-- there; the name of the agent that it is.
ALTER TABLE agent ADD COLUMN planned INTEGER REFERENCES planned_task (id);
ALTER TABLE agent ADD COLUMN continues INTEGER REFERENCES agent (id);
ALTER TABLE agent ADD COLUMN works_in TEXT;
ALTER TABLE agent ADD COLUMN rounds_before INTEGER NOT NULL DEFAULT 0;
ALTER TABLE agent ADD COLUMN named TEXT;
CREATE INDEX agent_by_plan ON agent (planned) WHERE planned IS NOT NULL;
-- One agent at a time works in a conversation.
CREATE UNIQUE INDEX agent_works_alone ON agent (owner, coalesce(works_in, own)) WHERE ended_ms IS NULL;
CREATE INDEX agent_by_place ON agent (owner, coalesce(works_in, own));

CREATE TRIGGER agent_goes_on_where_it_did BEFORE UPDATE OF planned, continues, works_in, rounds_before, named ON agent
BEGIN SELECT RAISE(ABORT, 'what an agent was given is never changed'); END;
