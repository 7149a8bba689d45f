-- Agents that a stranger's text had a part in starting are counted apart, so that they take no place, no number and no tokens of the
-- owner's. Who started an agent stays as it was; its label says what it has read by now.
ALTER TABLE agent ADD COLUMN by_strangers INTEGER NOT NULL DEFAULT 0;

-- Agents from before have no other word on it than their label, and those that have ended are not to change again after this.
DROP TRIGGER agent_ends_once;
UPDATE agent SET by_strangers = trust IN ('guest', 'outside');
CREATE TRIGGER agent_ends_once BEFORE UPDATE ON agent WHEN OLD.ended_ms IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'an agent that has ended is never changed'); END;

CREATE TRIGGER agent_stays_on_its_side BEFORE UPDATE OF by_strangers ON agent
BEGIN SELECT RAISE(ABORT, 'what an agent was given is never changed'); END;

-- Whether a planned task got no agent only because of a limit of the message that started it: it did not fail, and may be started again.
ALTER TABLE planned_task ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
