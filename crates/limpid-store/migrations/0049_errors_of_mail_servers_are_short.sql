-- What a server says of itself is shown in every prompt, so no row holds more of it than is read.
UPDATE mail_account SET last_error = substr(last_error, 1, 2000) WHERE length(last_error) > 2000;
CREATE TRIGGER mail_account_error_is_short
BEFORE UPDATE OF last_error ON mail_account WHEN length(NEW.last_error) > 2000
BEGIN SELECT RAISE(ABORT, 'the error of a mail account has at most 2000 characters'); END;
