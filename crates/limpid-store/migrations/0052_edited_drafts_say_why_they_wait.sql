-- Why a draft waits as its newest edit left it. What an earlier version edited says what the draft said first.
ALTER TABLE draft_edit ADD COLUMN why TEXT;
