"""An SMTP server that keeps what it gets: `smtp-sink.py FOLDER [take|refuse|break]`.

It listens on loopback, prints its port, and ends with its standard input. Each connection adds a line to
FOLDER/connections; each letter becomes FOLDER/N.eml with its envelope in FOLDER/N.envelope. Logging in takes the
password `secret-word`. With `refuse` letters are refused after they were handed over; with `break` they are kept and
the connection is dropped without an answer.
"""

import asyncio
import sys
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

folder = Path(sys.argv[1])
manner = sys.argv[2] if len(sys.argv) > 2 else "take"


class Sink:
    async def handle_DATA(self, server, session, envelope):
        if manner == "refuse":
            return "554 5.7.1 not here"
        number = len(list(folder.glob("*.eml"))) + 1
        (folder / f"{number}.envelope").write_text("\n".join([envelope.mail_from, *envelope.rcpt_tos]))
        (folder / f"{number}.eml").write_bytes(envelope.original_content)
        if manner == "break":
            server.transport.abort()
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.password == b"secret-word"
    return AuthResult(success=good, handled=good)


def connection():
    with open(folder / "connections", "a") as log:
        log.write("connected\n")
    return SMTP(Sink(), authenticator=authenticate, auth_required=True, auth_require_tls=False)


async def main():
    loop = asyncio.get_running_loop()
    server = await loop.create_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
