# tries: references to objects of the judge that were never sent
# threat: against the channel; other checkers have none
import sys

main = sys.modules["__main__"]


def answer(module, text):
    token = text[1 : text.index(",")]
    return '[%s,"value",{"r":-1},[]]' % token


if hasattr(main, "answer"):
    main.answer = answer


def solve(a, b):
    return None
