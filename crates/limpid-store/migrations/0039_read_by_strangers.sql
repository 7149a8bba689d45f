-- Conversations whose answers go to whoever sits at a program: nothing of the owner's goes into them, and nothing that is set later opens
-- them. A version that does not know the column takes such a one for a group.

ALTER TABLE conversation ADD COLUMN strangers INTEGER NOT NULL DEFAULT 0 CHECK (strangers IN (0, 1));
