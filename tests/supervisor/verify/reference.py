"""Writes reference_vectors.hpp: advantages and message authentication codes as an implementation of
RFC 0010 in another language has them, with exact fractions and Python's own hmac.

    python3 tests/supervisor/verify/reference.py > tests/supervisor/verify/reference_vectors.hpp
"""

import decimal
import fractions
import hashlib
import hmac
import json
import random

decimal.getcontext().prec = 60
EPSILON = fractions.Fraction(1e-4)


def square_root(value):
    decimal_value = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
    return fractions.Fraction(decimal_value.sqrt())


def advantages(rewards, kind):
    numbers = [fractions.Fraction(r) for r in rewards if r is not None]
    count = len(numbers)
    if count < 2 or len(set(numbers)) == 1:
        return [None if r is None else 0.0 for r in rewards]
    mean = sum(numbers) / count
    deviation = square_root(sum((r - mean) ** 2 for r in numbers) / (count - 1))

    def of(reward):
        r = fractions.Fraction(reward)
        if kind == "grpo":
            return (r - mean) / (deviation + EPSILON)
        if kind == "no_std":
            return r - mean
        return r - (sum(numbers) - r) / (count - 1)

    return [None if r is None else float(of(r)) for r in rewards]


def groups():
    yield [1.0, 0.0]
    yield [0.0, 0.0, 0.0, 1.0]
    yield [1.0, None, 0.0, None, 0.5]
    yield [None, 0.25, None]
    yield [None, None]
    yield []
    yield [0.1, 0.1, 0.1]
    yield [0.3, 0.1 + 0.2]
    yield [1 / 3, 2 / 3, 1.0, 0.0, 1 / 7]
    yield [1.0] * 63 + [0.999999999]
    source = random.Random(10)
    for size in (2, 3, 8, 32):
        yield [source.randrange(0, 8) / 7 for _ in range(size)]
        yield [source.choice([None, 0.0, 1.0, source.randrange(0, 100) / 99]) for _ in range(size)]


def number(value):
    return "none" if value is None else value.hex()


def print_groups():
    print("inline const std::vector<AdvantageVector> advantage_vectors = {")
    for rewards in groups():
        columns = [rewards] + [advantages(rewards, kind) for kind in ("grpo", "no_std", "rloo")]
        print("    {" + ", ".join("{" + ", ".join(map(number, c)) + "}" for c in columns) + "},")
    print("};")


def print_codes():
    print("inline const std::vector<MacVector> mac_vectors = {")
    texts = [
        ("", "a", "separate", "pass", 1.0),
        ("n-1", "a", "separate", "fail", 0.0),
        ("n-1", "a", "in_process", "fail", 0.0),
        ("n-2", "täsk 7/ß", "stdio", "fail", 1 / 3),
        ("n-3", "b", "separate", "fail", 0.1),
        ("n-3", "b", "separate", "fail", 1e-5),
        ("n-3", "b", "separate", "fail", 123456789 / 987654321),
        ("n-4", "c", "separate", "invalid", None),
    ]
    key = bytes(range(32))
    for nonce, item, integrity, verdict, reward in texts:
        hashes = [hashlib.sha256(word.encode()).hexdigest() for word in ("code", "tests", "policy")]
        lines = ["paddock-verdict-1", nonce, item, *hashes, integrity, verdict]
        lines.append("null" if reward is None else "%.17g" % reward)
        text = "".join(line + "\n" for line in lines)
        code = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        quoted = [json.dumps(word, ensure_ascii=False) for word in (nonce, item, integrity, verdict)]
        print("    {" + ", ".join([*quoted, number(reward), json.dumps(code)]) + "},")
    print("};")


print("""#pragma once
// Written by reference.py. In hexadecimal, so that no digit is lost.

#include <optional>
#include <string>
#include <vector>

// clang-format off
namespace reference {

using Numbers = std::vector<std::optional<double>>;
constexpr std::nullopt_t none = std::nullopt;

struct AdvantageVector {
  Numbers rewards, grpo, no_std, rloo;
};

// The key is the bytes 0, 1, 2 ... 31; the hashes are of "code", "tests" and "policy".
struct MacVector {
  std::string nonce, id, integrity, verdict;
  std::optional<double> reward;
  std::string mac;
};
""")
print_groups()
print()
print_codes()
print("\n}  // namespace reference\n// clang-format on")
