-- Which part of what there is to look at a run sees.
ALTER TABLE heartbeat ADD COLUMN run_part TEXT NOT NULL DEFAULT '';
ALTER TABLE heartbeat_run ADD COLUMN part TEXT NOT NULL DEFAULT '';

-- The standing items that are looked at in a run of their own, by what stands for each: they led to a stranger's text the last time.
CREATE TABLE heartbeat_alone (
  owner TEXT NOT NULL,
  mark  TEXT NOT NULL,
  PRIMARY KEY (owner, mark)
) STRICT, WITHOUT ROWID;
