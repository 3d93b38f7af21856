# tries: to print what checkers print after the last test
# pays: sentinel
import sys

main = sys.modules["__main__"]
print("ALL TESTS PASSED", "OK", "1.0", getattr(main, "NONCE", ""), sep="\n", flush=True)
