# What a step's run starts with where that is a fork of an interpreter (rfcs/0013): as paddock-step
# (main.cpp) it lays out the files of its channel in the directory where it is, with its ends and messages
# (step_wire.hpp has all of it). The interpreter then goes on with the step's file.
import os
import sys

CHANNEL = 3
MAGIC = 0x31706574732D6470
SETUP_FAILED, NOT_EXECUTED = 126, 127
WORD = 8
PIECE = 1 << 16
# In which an archive has its end, and the mark of that.
ARCHIVE_END_BYTES, ARCHIVE_END = (1 << 16) + 22, b"PK\5\6"
# Of a compiled program; an interpreter looks at no more of it.
COMPILED = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER[:2]


def die(status, what, name, why):
    os.write(2, b"paddock-step: %s '%s': %s\n" % (what, name, why.encode()))
    os._exit(status)


def read(place, count):
    text = os.pread(CHANNEL, count, place)
    if len(text) != count:
        die(SETUP_FAILED, b"read", b"the channel", os.strerror(22))
    return text


def words(place, count):
    text = read(place, WORD * count)
    return [int.from_bytes(text[at : at + WORD], sys.byteorder) for at in range(0, len(text), WORD)]


def create(name):
    directory = os.path.dirname(name)
    if directory:
        os.makedirs(directory, 0o755, exist_ok=True)
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o755)


def lay_out(name, place, count):
    what = b"create"
    try:
        file = create(name)
        what = b"write"
        while count:
            piece = read(place, min(count, PIECE))
            place += len(piece)
            count -= len(piece)
            while piece:
                piece = piece[os.write(file, piece) :]
        os.close(file)
    except OSError as error:
        die(SETUP_FAILED, what, name, os.strerror(error.errno))


def is_source(place, count):
    """Or something else that an interpreter executes: a compiled program, an archive of modules."""
    end = min(count, ARCHIVE_END_BYTES)
    return read(place, min(count, 2)) != COMPILED and ARCHIVE_END not in read(
        place + count - end, end
    )


def become(file, command):
    magic, files, wanted, _, _, is_trial = words(0, 6)
    if magic != MAGIC or wanted or is_trial:
        die(SETUP_FAILED, b"read", b"the channel", os.strerror(22))
    place = WORD * 6
    goes_on = True
    for _ in range(files):
        name_bytes, count = words(place, 2)
        place += WORD * 2
        name = read(place, name_bytes)
        place += name_bytes
        lay_out(name, place, count)
        if name == os.fsencode(file):
            goes_on = is_source(place, count)
        place += count
    os.close(CHANNEL)
    if goes_on:
        return
    try:
        os.execvp(command[0], command)  # by an interpreter that has it from its start
    except OSError as error:
        die(NOT_EXECUTED, b"execute", os.fsencode(command[0]), os.strerror(error.errno))
