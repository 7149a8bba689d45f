-- When a process that had started a program was first found dead: what it started may write a little longer.
ALTER TABLE program_run ADD COLUMN gone_ms INTEGER;
