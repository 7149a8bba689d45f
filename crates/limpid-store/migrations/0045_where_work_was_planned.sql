-- The folder in which relative paths began where work was planned that is done later; the workspace where it is absent. It is done
-- where they begin there.
ALTER TABLE task ADD COLUMN base TEXT;
ALTER TABLE planned_task ADD COLUMN base TEXT;
