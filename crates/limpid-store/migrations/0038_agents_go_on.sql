-- An agent that goes on with another one's work answers for what comes after it: the last message and the last request of the
-- conversation from before take the place of a number of replies.

DROP TRIGGER agent_goes_on_where_it_did;
ALTER TABLE agent DROP COLUMN rounds_before;
ALTER TABLE agent ADD COLUMN message_before INTEGER;
ALTER TABLE agent ADD COLUMN request_before INTEGER;

CREATE TRIGGER agent_goes_on_where_it_did
BEFORE UPDATE OF planned, continues, works_in, message_before, request_before, named ON agent
BEGIN SELECT RAISE(ABORT, 'what an agent was given is never changed'); END;
