# The channel: fd 3, frames of a length (4 bytes, big-endian) and text.

CHANNEL = 3
READ_BYTES_MAX = 1 << 20
came = bytearray()  # what somebody else has read of it already


class Ended(Exception):
    """The other side has closed the channel."""


def everything(descriptor):
    pieces = []
    while True:
        piece = os.read(descriptor, READ_BYTES_MAX)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)


def received(count):
    pieces = [bytes(came[:count])]
    del came[:count]
    count -= len(pieces[0])
    while count:
        try:
            piece = os.read(CHANNEL, min(count, READ_BYTES_MAX))
        except OSError:
            piece = b""
        if not piece:
            raise Ended
        pieces.append(piece)
        count -= len(piece)
    return b"".join(pieces)


def receive():
    length = int.from_bytes(received(4), "big")
    if length > MESSAGE_BYTES_MAX:
        raise Malformed("more than 8 MiB")
    try:
        text = received(length).decode("ascii")
    except UnicodeDecodeError:
        raise Malformed("not ASCII")
    if sum(map(text.count, MARKS)) > MARKS_MAX:
        raise Malformed("more than 1,100,000 elements")
    return text


def send(text):
    rest = memoryview(len(text).to_bytes(4, "big") + text.encode("ascii"))
    try:
        while rest:
            rest = rest[os.write(CHANNEL, rest):]
    except OSError:
        raise Ended
