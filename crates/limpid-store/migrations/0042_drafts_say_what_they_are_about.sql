-- What a number or a key in the arguments of a call stands for, as it stood when the draft or its newest edit was made.
ALTER TABLE draft ADD COLUMN about TEXT;
ALTER TABLE draft_edit ADD COLUMN about TEXT;
