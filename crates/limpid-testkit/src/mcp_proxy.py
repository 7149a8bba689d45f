"""Hands requests on to another server with a token that whoever asks does not have, and says on which port.

mcp_proxy.py PORT TOKEN-FILE
"""

import http.client
import http.server
import sys

PORT, TOKEN = int(sys.argv[1]), open(sys.argv[2]).read().strip()


class Proxy(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def hand_on(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        # A page of a stranger's sends its own host; one that names this proxy means the server.
        if headers.get("Host", headers.get("host")) in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            headers = {name: value for name, value in headers.items() if name.lower() != "host"}
            headers["Host"] = f"127.0.0.1:{PORT}"
        if headers.get("Origin", headers.get("origin")) in (f"http://127.0.0.1:{self.port}", f"http://localhost:{self.port}"):
            headers = {name: value for name, value in headers.items() if name.lower() != "origin"}
            headers["Origin"] = f"http://127.0.0.1:{PORT}"
        headers["Authorization"] = f"Bearer {TOKEN}"
        upstream = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
        upstream.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            upstream.putheader(name, value)
        upstream.endheaders(body)
        answer = upstream.getresponse()
        said = answer.read()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_POST = do_DELETE = do_PUT = do_OPTIONS = hand_on

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        """Whoever asked hung up."""


server = Server(("127.0.0.1", 0), Proxy)
Proxy.port = server.server_address[1]
print(Proxy.port, flush=True)
server.serve_forever()
