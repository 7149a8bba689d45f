"""An SMTP server that keeps what it gets: `smtp-sink.py FOLDER [take|refuse|break] [tls|starttls CERTIFICATE KEY]`.

It listens on loopback, prints its port, and ends with its standard input. Each connection adds a line to
FOLDER/connections; each letter becomes FOLDER/N.eml with its envelope in FOLDER/N.envelope. Logging in takes the
password `secret-word`, which is the good access token of XOAUTH2 too. With `refuse` letters are refused after they were
handed over; with `break` they are kept and the connection is dropped without an answer. With `tls` the first byte is
TLS; with `starttls` nothing is taken before STARTTLS.
"""

import asyncio
import ssl
import sys
from base64 import b64decode, b64encode
from pathlib import Path

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

PASSWORD = b"secret-word"

folder = Path(sys.argv[1])
manner = sys.argv[2] if len(sys.argv) > 2 else "take"
secure = sys.argv[3] if len(sys.argv) > 3 else "none"
context = None
if secure != "none":
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(sys.argv[4], sys.argv[5])


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

    async def auth_XOAUTH2(self, server, args):
        said = b64decode(args[1]) if len(args) > 1 else b""
        if b"auth=Bearer " + PASSWORD + b"\x01" in said:
            return AuthResult(success=True)
        # As large providers do: an explanation first, and the refusal after the empty answer to it.
        await server.push("334 " + b64encode(b'{"status":"400","schemes":"Bearer"}').decode())
        await server._reader.readline()
        return AuthResult(success=False, handled=False)


def authenticate(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.password == PASSWORD
    return AuthResult(success=good, handled=good)


def connection():
    with open(folder / "connections", "a") as log:
        log.write("connected\n")
    later = {"tls_context": context, "require_starttls": True} if secure == "starttls" else {}
    return SMTP(Sink(), authenticator=authenticate, auth_required=True, auth_require_tls=False, **later)


async def main():
    loop = asyncio.get_running_loop()
    now = context if secure == "tls" else None
    server = await loop.create_server(connection, "127.0.0.1", 0, ssl=now)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
