# tries: answers of kinds that the channel does not have
# threat: against the channel; other checkers have none
import sys

main = sys.modules["__main__"]


def answer(module, text):
    token = text[1 : text.index(",")]
    return '[%s,"passed",true,[]]' % token


if hasattr(main, "answer"):
    main.answer = answer


def solve(a, b):
    return None
