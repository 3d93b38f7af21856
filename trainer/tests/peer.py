"""A peer that speaks RFC 0010's HTTP over a real socket, and breaks it when told to.

It shares no code with the package: its MACs and hashes are its own. It judges by a rule of its own,
too: code that contains "right" passes, "absent" is invalid, everything else fails.
"""

import hashlib
import hmac
import json
import os
import shutil
import socket
import tempfile
import threading

KEY = bytes(range(32))


class Request:
    def __init__(self, method, target, headers, body):
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)


class Peer:
    """`script`: what to do with each request, in their order; honest() when it is used up."""

    def __init__(self, *script, tcp=False):
        self.requests = []
        self.connections = 0
        self._script = list(script)
        self._directory = tempfile.mkdtemp(prefix="paddock-peer-", dir="/var/tmp")
        self._lock = threading.Lock()
        self._open = set()
        self.socket = os.path.join(self._directory, "s")
        if tcp:
            self._listener = socket.create_server(("127.0.0.1", 0))
            self.url = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        else:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(self.socket)
            self._listener.listen(64)
        self._is_over = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._is_over = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self.drop_connections()
        shutil.rmtree(self._directory, ignore_errors=True)

    def drop_connections(self):
        with self._lock:
            for connection in list(self._open):
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def _accept(self):
        while not self._is_over:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        stream = connection.makefile("rb")
        try:
            while (request := _read_request(stream)) is not None:
                with self._lock:
                    self.requests.append(request)
                    act = self._script.pop(0) if self._script else honest()
                if act(Answer(connection, self), request) is CLOSE:
                    return
        except OSError:
            pass
        finally:
            stream.close()
            with self._lock:
                self._open.discard(connection)
            connection.close()


CLOSE = object()


class Answer:
    def __init__(self, connection, peer):
        self._connection = connection
        self.peer = peer

    def raw(self, data):
        self._connection.sendall(data)

    def is_left_within(self, seconds):
        """Whether the client closes its end."""
        self._connection.settimeout(seconds)
        try:
            return self._connection.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True

    def whole(self, status, body, headers=()):
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(data)}", *headers, "", ""]
        self.raw("\r\n".join(head).encode() + data)

    def begin(self):
        self.raw(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: application/x-ndjson\r\n\r\n"
        )

    def chunk(self, data):
        self.raw(b"%x\r\n" % len(data) + data + b"\r\n")

    def event(self, value):
        self.chunk(json.dumps(value).encode() + b"\n")

    def end(self):
        self.raw(b"0\r\n\r\n")


def _read_request(stream):
    line = stream.readline()
    if not line:
        return None
    method, target, _ = line.split()
    headers = {}
    while line := stream.readline().strip():
        name, _, value = line.decode().partition(": ")
        headers[name.lower()] = value
    body = stream.read(int(headers.get("content-length", 0)))
    return Request(method.decode(), target.decode(), headers, body)


def verdict(request, index, key=KEY, **changes):
    """What an honest daemon with `key` answers to the item at `index`, but for `changes`: those
    are made before the MAC is. `mac_changes` are made after it."""
    after = changes.pop("mac_changes", {})
    item = request["items"][index]
    code = item["code"]
    code_bytes = code.encode() if isinstance(code, str) else _unbase64(code["b64"])
    is_right, is_absent = b"right" in code_bytes, b"absent" in code_bytes
    integrity = item.get(
        "integrity", "stdio" if item["tests"].get("kind") == "stdio" else "separate"
    )
    judged_by = {
        "tests": item["tests"],
        "language": item["language"],
        "integrity": integrity,
        "scoring": request.get("scoring", "fraction"),
        "stop": request.get("stop", "all"),
    }
    text = json.dumps(judged_by, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    answer = {
        "id": item["id"],
        "group": item.get("group"),
        "verdict": "invalid" if is_absent else "pass" if is_right else "fail",
        "reward": None if is_absent else 1.0 if is_right else 0.0,
        "passed": int(is_right),
        "total": 1,
        "cases": [
            {
                "verdict": "pass" if is_right else "fail",
                "cause": "x",
                "cpu_ms": None,
                "wall_ms": 0.5,
            }
        ],
        "cause": "host_overloaded" if is_absent else "passed" if is_right else "wrong_answer",
        "detail": "",
        "integrity": integrity,
        "isolation": {"profile": request.get("profile", "STRICT"), "degraded": []},
        "queue_ms": 0,
        "run_ms": 1,
        "stdout_tail": "",
        "stderr_tail": "",
        "cached": False,
        "code_hash": hashlib.sha256(code_bytes).hexdigest(),
        "tests_hash": hashlib.sha256(text.encode()).hexdigest(),
        "policy_hash": "ab" * 32,
        "nonce": item.get("nonce"),
        "receipt": {"runs": ["r-1", "r-2"]},
        "mac": None,
        "key_id": None,
    }
    answer.update(changes)
    if key is not None:
        reward = "null" if answer["reward"] is None else "%.17g" % answer["reward"]
        lines = [
            "paddock-verdict-1",
            answer["nonce"] or "",
            answer["id"],
            answer["code_hash"],
            answer["tests_hash"],
            answer["policy_hash"],
            answer["integrity"],
            answer["verdict"],
            reward,
        ]
        answer["mac"] = hmac.new(key, ("\n".join(lines) + "\n").encode(), "sha256").hexdigest()
        answer["key_id"] = hashlib.sha256(key).hexdigest()[:16]
    answer.update(after)
    return answer


def _unbase64(text):
    import base64

    return base64.b64decode(text, validate=True)


def honest(key=KEY, order=None):
    """Every item, as a stream, then its end."""

    def act(answer, request):
        if request.method == "GET":
            return answer.whole(200, {"status": "ok"})
        body = request.json
        answer.begin()
        for index in order or range(len(body["items"])):
            answer.event({"event": "verdict", **verdict(body, index, key)})
        answer.event({"event": "group", "group": "g", "ids": [], "rewards": []})
        answer.event({"event": "end", "items": len(body["items"])})
        return answer.end()

    return act


def cut(after, key=KEY):
    """Goes away within the answer, when so many items have been answered."""

    def act(answer, request):
        answer.begin()
        for index in range(after):
            answer.event({"event": "verdict", **verdict(request.json, index, key)})
        answer.raw(b'ff\r\n{"event": "ver')
        return CLOSE

    return act


def changed(index=0, **changes):
    """Honest, but for the verdict at `index`."""

    def act(answer, request):
        body = request.json
        answer.begin()
        for i in range(len(body["items"])):
            answer.event(
                {"event": "verdict", **verdict(body, i, **(changes if i == index else {}))}
            )
        answer.event({"event": "end", "items": len(body["items"])})
        return answer.end()

    return act


def status(code, error="x", retry_after=None, message="m"):
    def act(answer, _):
        headers = [] if retry_after is None else [f"Retry-After: {retry_after}"]
        return answer.whole(code, {"error": {"code": error, "message": message}}, headers)

    return act


def raw(data):
    def act(answer, _):
        answer.raw(data)
        return CLOSE

    return act


def events(*values, is_whole=True):
    """Lines of a feed, and a clean end or a cut."""

    def act(answer, _):
        answer.begin()
        for value in values:
            answer.chunk(b"\n") if value is None else answer.event(value)
        if not is_whole:
            return CLOSE
        return answer.end()

    return act
