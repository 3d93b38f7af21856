# Plain values as JSON text, and back: what goes between candidate and judge (RFC 0010). The parts of
# a program are joined into one source by the build: programs.txt. _json and not json: it is there
# without the milliseconds that importing json, re and enum takes.
import os
import sys
from _json import encode_basestring_ascii as quoted, make_scanner

MESSAGE_BYTES_MAX = 8 << 20
DEPTH_MAX = 64
TEXT_MAX = 1000  # of an exception or a reason, in characters
INT_BITS_MAX = 100_000
MARKS = ",[{"
MARKS_MAX = 1_100_000  # of a message, before it is read: each costs time, which nobody else bounds
ELEMENTS_MAX = 2_000_000  # of a value with its shared parts counted each time
EQUAL_HASHES_MAX = 100  # of one hash in a set or dict: more are made to be slow
CONTAINERS = (list, tuple, dict, set, frozenset)


class NotAValue(Exception):
    """It has no plain value."""


class TooLarge(NotAValue):
    """Of a kind that has one, and beyond the bounds."""


class Malformed(Exception):
    """Text that encoded() does not write."""


def of_base(value):
    """The same value by exact type. Asks the base class and never the object's own methods, so a
    subclass that lies says what its base holds."""
    kind = type(value)
    for base, plain in (
        (int, int.__pos__),
        (float, float.__pos__),
        (str, str.__str__),
        (bytes, lambda v: bytes.__getitem__(v, slice(None))),
        (list, lambda v: list.__getitem__(v, slice(None))),
        (tuple, lambda v: tuple.__getitem__(v, slice(None))),
        (dict, lambda v: {k: w for k, w in dict.items(v)}),
        (set, lambda v: {*set.__iter__(v)}),
        (frozenset, lambda v: frozenset(frozenset.__iter__(v))),
        (complex, lambda v: complex.__sub__(v, 0)),
    ):
        if issubclass(kind, base):
            for own in kind.__mro__:
                if own.__name__ == "OrderedDict" and own.__module__ == "collections":
                    return {k: w for k, w in own.items(value)}  # its order is not that of its base
            return plain(value)
    if kind.__module__ == "numpy" and getattr(value, "shape", None) == ():
        plain = value.item()
        if type(plain) in (bool, int, float, complex, str, bytes):
            return plain
    raise NotAValue(kind.__name__)


def encoded(value, known, table=None):
    """JSON text. known: the number of each list, dict and set, by its id, that both sides have; such
    a one goes as a reference, and so stays the same object on the other side. With a table each
    that is met is made known and put there, in the order in which decoded() meets their ends."""
    numbering = table is not None
    parts = []
    room = MESSAGE_BYTES_MAX

    def put(text):
        nonlocal room
        room -= len(text)
        if room < 0:
            raise TooLarge("more than 8 MiB")
        parts.append(text)

    def put_all(values, depth):
        comma = "["
        for one in values:
            put(comma)
            write(one, depth)
            comma = ","
        put("]" if comma == "," else "[]")

    def write(v, depth):
        kind = type(v)
        if kind is str:
            put(quoted(v))
        elif kind is bool or v is None:
            put("null" if v is None else "true" if v else "false")
        elif kind is int:
            if -(1 << 60) < v < 1 << 60:
                put(int.__repr__(v))
            elif v.bit_length() > INT_BITS_MAX:
                raise TooLarge("an integer of more than 100,000 bits")
            else:
                put('{"i":"%x"}' % v)
        elif kind is float:
            put(float.__repr__(v) if v - v == 0 else '{"f":"%r"}' % v)
        elif kind in CONTAINERS:
            number = known.get(id(v))
            if number is not None:
                return put('{"r":%d}' % number)
            if depth == DEPTH_MAX:
                raise TooLarge("more than 64 levels deep")
            depth += 1
            if kind is list:
                if numbering:
                    put('{"l":')
                put_all(v, depth)
                if numbering:
                    put("}")
            elif kind is dict:
                put('{"d":[')
                comma = "["
                for key, one in v.items():
                    put(comma)
                    write(key, depth)
                    put(",")
                    write(one, depth)
                    put("]")
                    comma = ",["
                put("]}")
            else:
                put({tuple: '{"t":', set: '{"s":', frozenset: '{"z":'}[kind])
                put_all(v, depth)
                put("}")
            if numbering and kind in (list, dict, set):
                known[id(v)] = len(table)
                table.append(v)
        elif kind is bytes:
            put('{"b":"%s"}' % v.hex())
        elif kind is complex:
            put('{"c":')
            put_all((v.real, v.imag), depth)
            put("}")
        else:
            if id(v) in known:  # a Counter of the tests, say
                return put('{"r":%d}' % known[id(v)])
            plain = of_base(v)
            write(plain, depth)
            if numbering and id(plain) in known:
                known[id(v)] = known.pop(id(plain))
                table[-1] = v

    write(value, 0)
    return within_bounds("".join(parts))


def within_bounds(message):
    if len(message) > MESSAGE_BYTES_MAX:
        raise TooLarge("more than 8 MiB")
    if sum(map(message.count, MARKS)) > MARKS_MAX:
        raise TooLarge("more than 1,100,000 elements")
    return message


def whole_number(text):
    if len(text) > 20:
        raise Malformed("a long number")
    return int(text)


def from_hex(text):
    if type(text) is not str or len(text) > INT_BITS_MAX // 4 + 2:
        raise Malformed("an integer")
    return int(text, 16)


def hashed(kind, keys, values=None):
    """A set or dict out of what somebody else has chosen."""
    if len(keys) > EQUAL_HASHES_MAX and len(keys) - len({hash(k) for k in keys}) >= EQUAL_HASHES_MAX:
        counts = {}
        for key in keys:
            counts[hash(key)] = counts.get(hash(key), 0) + 1
        if max(counts.values()) > EQUAL_HASHES_MAX:
            raise Malformed("too many equal hashes")
    made = kind(keys) if values is None else kind(zip(keys, values))
    if len(made) != len(keys):
        raise Malformed("an element twice")
    return made


def listed(v):
    if type(v) is not list:
        raise Malformed("no array")
    return v


def decoded(text, table, numbering=False):
    """What encoded() wrote. table: the lists, dicts and sets by their numbers. Whatever the text is,
    this returns or raises; the depth is not looked at: bounded()."""

    def number(v):
        if type(v) is not int or not 0 <= v < len(table):
            raise Malformed("an unknown reference")
        return table[v]

    def pairs(v):
        if any(type(p) is not list or len(p) != 2 for p in listed(v)):
            raise Malformed("no pairs")
        return hashed(dict, [p[0] for p in v], [p[1] for p in v])

    def real(v):
        if v not in ("nan", "inf", "-inf"):
            raise Malformed("a number")
        return float(v)

    def parts(v):
        if len(listed(v)) != 2 or any(type(p) is not float for p in v):
            raise Malformed("a complex number")
        return complex(*v)

    make = {
        "t": lambda v: tuple(listed(v)),
        "d": pairs,
        "s": lambda v: hashed(set, listed(v)),
        "z": lambda v: hashed(frozenset, listed(v)),
        "b": bytes.fromhex,
        "i": from_hex,
        "f": real,
        "c": parts,
        "r": number,
        "l": listed,
    }

    def value_of(members):
        if len(members) != 1 or members[0][0] not in make:
            raise Malformed("an unknown object")
        tag, content = members[0]
        made = make[tag](content)
        if numbering and tag in "lds":
            table.append(made)
        return made

    class context:
        strict = True
        object_hook = None
        object_pairs_hook = staticmethod(value_of)
        parse_float = float
        parse_int = staticmethod(whole_number)
        memo = {}

        @staticmethod
        def parse_constant(_):
            raise Malformed("no JSON")

    try:
        value, end = make_scanner(context)(text, 0)
    except Malformed:
        raise
    except Exception as error:  # StopIteration, ValueError, no hash, RecursionError, MemoryError
        raise Malformed("no value: " + type(error).__name__)
    if end != len(text):
        raise Malformed("more than one value")
    return value


def bounded(*values):
    """Raises Malformed if they are deeper or larger than a message may be, cycles included."""
    room = ELEMENTS_MAX
    level = [v for v in values if type(v) in CONTAINERS]
    depth = 0
    while level:
        depth += 1
        if depth > DEPTH_MAX:
            raise Malformed("more than 64 levels deep")
        inner = []
        for v in level:
            room -= len(v)
            if room < 0:
                raise Malformed("too many elements")
            inner += [x for x in v if type(x) in CONTAINERS]
            if type(v) is dict:
                inner += [x for x in v.values() if type(x) in CONTAINERS]
        level = inner


def described(error):
    """An exception in words. Its own methods may do anything, so they may fail."""
    try:
        text = str.__str__(str(error))
    except BaseException:
        text = ""
    try:
        name = str.__str__(type(error).__name__)
    except BaseException:
        name = "an exception"
    return (name + ": " + text if text else name)[:TEXT_MAX]
