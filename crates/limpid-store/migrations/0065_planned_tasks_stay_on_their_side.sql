-- Whether a stranger's text had a part in planning a task. Whose a task is goes by this alone: its label also says who had it started and
-- who wrote why it got no agent.
ALTER TABLE planned_task ADD COLUMN by_strangers INTEGER NOT NULL DEFAULT 0;

-- Tasks from before have no other word on it than their label.
UPDATE planned_task SET by_strangers = trust IN ('guest', 'outside');

CREATE TRIGGER planned_task_stays_on_its_side BEFORE UPDATE OF by_strangers ON planned_task
BEGIN SELECT RAISE(ABORT, 'what was planned is never changed'); END;
