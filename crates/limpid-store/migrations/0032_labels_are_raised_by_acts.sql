-- No label is raised where it stands. Four acts of the owner's make something theirs that others may have written, and each is a
-- row of raised_label with what was shown: accepting a file, adopting a memory, enabling a skill, and saying that what they hand
-- in is their own.

-- Skills that were enabled before are what they were.
INSERT INTO raised_label (owner, act, subject, shown, source, at_ms)
SELECT owner, 'skill', skill, json_extract(after, '$.hash'), source, at_ms FROM skill_event
WHERE kind = 'enabled' AND after IS NOT NULL;

CREATE TRIGGER memory_label_is_raised_by_adopting BEFORE UPDATE ON memory
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
  AND NOT EXISTS (SELECT 1 FROM raised_label WHERE owner = NEW.owner AND act = 'memory'
                  AND subject = CAST(NEW.id AS TEXT) AND shown = NEW.content)
BEGIN SELECT RAISE(ABORT, 'a label is raised by an act of the owner''s alone'); END;

CREATE TRIGGER promotion_stands_by_adopting BEFORE UPDATE ON promotion
WHEN (NEW.state = 'standing' AND OLD.state <> 'standing' AND NEW.trust NOT IN ('owner', 'file')
      AND NOT EXISTS (SELECT 1 FROM raised_label WHERE owner = NEW.owner AND act = 'memory'
                      AND subject = CAST(NEW.memory AS TEXT) AND shown = NEW.addition))
  OR instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is raised by an act of the owner''s alone'); END;

CREATE TRIGGER skill_is_used_by_enabling BEFORE INSERT ON skill_event
WHEN NEW.kind IN ('enabled', 'undone', 'installed')
  AND json_extract(NEW.after, '$.installed') AND json_extract(NEW.after, '$.enabled')
  AND NOT (coalesce(json_extract(NEW.before, '$.enabled'), 0)
           AND json_extract(NEW.before, '$.hash') = json_extract(NEW.after, '$.hash'))
  AND NOT EXISTS (SELECT 1 FROM raised_label WHERE owner = NEW.owner AND act = 'skill' AND subject = NEW.skill
                  AND shown = json_extract(NEW.after, '$.hash'))
BEGIN SELECT RAISE(ABORT, 'a skill of others is enabled by an act of the owner''s alone'); END;

CREATE TRIGGER waiting_file_goes_by_accepting BEFORE DELETE ON waiting_file
WHEN NOT EXISTS (SELECT 1 FROM raised_label WHERE owner = OLD.owner AND act = 'file' AND subject = OLD.path)
BEGIN SELECT RAISE(ABORT, 'a file is accepted by an act of the owner''s alone'); END;

CREATE TRIGGER inbound_label_is_not_raised BEFORE UPDATE ON inbound
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER request_part_label_is_not_raised BEFORE UPDATE ON request_part
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER request_label_is_not_raised BEFORE UPDATE ON request
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER task_label_is_not_raised BEFORE UPDATE ON task
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER turn_event_label_is_not_raised BEFORE UPDATE ON turn_event
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER file_change_label_is_not_raised BEFORE UPDATE ON file_change
WHEN instr('owner file guest outside', NEW.trust) < instr('owner file guest outside', OLD.trust)
BEGIN SELECT RAISE(ABORT, 'a label is not raised where it stands'); END;

CREATE TRIGGER file_label_is_never_changed BEFORE UPDATE ON file_label
BEGIN SELECT RAISE(ABORT, 'labels of files by their bytes are read and forgotten, never made'); END;
CREATE TRIGGER file_label_is_never_made BEFORE INSERT ON file_label
BEGIN SELECT RAISE(ABORT, 'labels of files by their bytes are read and forgotten, never made'); END;
