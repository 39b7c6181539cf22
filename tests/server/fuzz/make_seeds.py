#!/usr/bin/env python3
"""Writes what the fuzzer begins with: make_seeds.py DIRECTORY.

The first byte of an input is its kind, the second the size of the pieces in which it comes, less one:

    0   the bytes of a connection
    1   the query of a subscription, a zero, and frames
    2   the number of a route, something for its path, a zero, a query, a zero, and a body, in which
        $E, $W and $H are the newest execution, workflow and handle
    3   frames for the parser alone

Beside what is made here there is `corpus.txt`: an input a line, as Python escapes bytes. The fuzzer found
them by itself, and each reaches code that no other does.
"""

import struct
import sys
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus.txt"
MASK = b"\x37\xfa\x21\x3d"


def frame(first, payload=b""):
    size = len(payload)
    if size < 126:
        head = bytes([first, 0x80 | size])
    elif size < 65536:
        head = bytes([first, 0x80 | 126]) + struct.pack(">H", size)
    else:
        head = bytes([first, 0x80 | 127]) + struct.pack(">Q", size)
    return head + MASK + bytes(byte ^ MASK[at % 4] for at, byte in enumerate(payload))


def request(line, *headers, body=b""):
    if body:
        headers += ("Content-Type: application/json", f"Content-Length: {len(body)}")
    text = "\r\n".join([f"{line} HTTP/1.1", "Host: localhost", *headers])
    return text.encode() + b"\r\n\r\n" + body


INSERT = b'{"operations":[{"op":"upsert","table":"orders","row":{"id":1,"item":"a","cents":2000}}]}'
DELETE = b'{"operations":[{"op":"delete","table":"orders","key":{"id":1}}]}'
UPGRADE = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")

CONNECTIONS = [
    request("GET /healthz") * 2,
    request("GET /api/v1/tables/orders/rows?limit=2&after=1"),
    request("GET /api/v1/views/items/rows?limit=1&after=1&at=5"),
    request("HEAD /api/v1/views/large/rows/1?at=3"),
    request("GET /api/v1/tables/orders/changes?after=1&limit=3&wait=1", "traceparent: 00-" +
            "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    request("OPTIONS *"),
    request("POST /api/v1/transactions", body=INSERT) + request("GET /readyz"),
    request("POST /api/v1/transactions", "Content-Type: application/json",
            "Transfer-Encoding: chunked") + b"10\r\n" + INSERT[:16] + b"\r\n0\r\n\r\n",
    request("GET http://localhost/api/v1/log?limit=1", "Connection: close"),
    request("GET /api/v1/tables/orders/subscribe?snapshot=false&credit=5", *UPGRADE) +
    frame(0x81, b'{"type":"credit","messages":3}') + frame(0x88, b"\x03\xe8"),
]
FRAMES = [
    frame(0x81, b'{"type":"credit","messages":3}'),
    frame(0x01, b'{"type":"cre') + frame(0x89, b"ping") + frame(0x80, b'dit","messages":1}'),
    frame(0x8A) + frame(0x88, b"\x03\xe8bye"),
    frame(0x82, b"\x00\xff") + frame(0x81, b"\xce\xba"),
    frame(0x81, b"x" * 200),
    b"\x81\x05Hello",
]
BODIES = [INSERT, DELETE, b'{"operations":[]}', b'{"type":"x","messages":[1,2.5e3,"\\u00e9",null]}']
ANY = b'{"kind":"any_of","on_satisfied":"cancel_remaining"}'
WORK = [
    b'{"kind":"w","payload":{"base64":"AP8="},"priority":7,"deadline":"2999-01-01T00:00:00Z",'
    b'"retry":{"retries_max":1,"backoff_seconds":1},"tags":{"a.b":"c"},"limit_keys":["customer:7"]}',
    b'{"kind":"w","workflow":"$W"}',
    b'{"kind":"w","stays_open":true}',
    b'{"kind":"w","executions":[{"kind":"a"},{"kind":"b"}],"edges":[{"upstream":0,"downstream":1,"input":"x"}],'
    b'"policies":[{"downstream":1,"policy":' + ANY + b'}],"on_failure":"fail_fast"}',
    b'{"edges":[{"upstream":"$E","downstream":"$E"}]}',
    b'{"downstream":"$E","policy":' + ANY + b"}",
    b'{"worker":"w","namespaces":["default"],"lease_seconds":60,"executions_max":3,"wait_seconds":0.001}',
    b'{"handle":"$H","lease_seconds":60}',
    b'{"handle":"$H","result":"done"}',
    b'{"handle":"$H","reason":"x","category":"y","final":true}',
    b'{"handle":"$H","delay_seconds":0}',
    b'{"handle":"$H","condition":{"kind":"count","count":2,"waitpoints":["a"],"distinct":"sources"}}',
    b'{"token":"t","waitpoint":"a","payload":"x","source":"s"}',
    b'{"waitpoint":"a","payload":"x"}',
    b'{"state":"active"}',
    b'{"from":1,"to":100,"over_seconds":1e3}',
    b'{"concurrency_max":300}',
    b'{"rate":{"count":2000,"per_seconds":1,"burst":30}}',
    b'{"consumer":"c","number":1}',
    b'{"tags":{"a":"b"}}',
    b'{"priority":3}',
    b'{"reason":"r"}',
    b"{}",
]
QUERIES = [b"", b"limit=2&after=1", b"at=1", b"wait=1&after=0", b"credit=2", b"resume=w2.1.1.1"]


def seeds():
    for bytes_of_connection in CONNECTIONS:
        yield b"\x00\xff" + bytes_of_connection
        yield b"\x00\x06" + bytes_of_connection
    for frames in FRAMES:
        for query in (b"", b"snapshot=false", b"credit=1"):
            yield b"\x01\xff" + query + b"\x00" + frames
        yield b"\x03\x02" + frames
    # As many as there may be routes; a number beyond them counts from the first again.
    for route in range(112):
        for query in QUERIES[:2]:
            yield b"\x02\xff" + bytes([route]) + b"\x00" + query + b"\x00" + INSERT
        for body in WORK:
            yield b"\x02\xff" + bytes([route]) + b"\x00\x00" + body
    for body in BODIES:
        for query in QUERIES:
            yield b"\x02\xff\x05orders\x00" + query + b"\x00" + body
    for line in CORPUS.read_text(encoding="ascii").splitlines():
        yield line.encode().decode("unicode_escape").encode("latin-1")


def main():
    directory = Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()):
        (directory / f"seed_{number:04}").write_bytes(seed)


if __name__ == "__main__":
    main()
