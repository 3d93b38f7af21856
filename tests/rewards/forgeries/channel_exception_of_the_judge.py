# tries: to make the judge raise what ends it, or what the tests take for success
# threat: against the channel; other checkers have none
import sys

main = sys.modules["__main__"]
names = '["SystemExit","KeyboardInterrupt","GeneratorExit","Unusable","FirstFailure","BaseException"]'


def answer(module, text):
    token = text[1 : text.index(",")]
    return '[%s,"raised",[%s,[0],"x"],[]]' % (token, names)


if hasattr(main, "answer"):
    main.answer = answer


def solve(a, b):
    return None
