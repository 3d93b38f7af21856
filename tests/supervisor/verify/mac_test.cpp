#include "supervisor/verify/mac.hpp"

#include <algorithm>
#include <set>

#include "kernel/base/hash.hpp"
#include "reference_vectors.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

MacKey key() {
  MacKey made;
  for (std::size_t i = 0; i < made.bytes.size(); ++i) made.bytes[i] = static_cast<unsigned char>(i);
  return made;
}

ItemAnswer answer() {
  ItemAnswer made;
  made.id = "a";
  made.nonce = "n";
  made.verdict = Verdict::fail;
  made.reward = 0.5;
  made.integrity = Integrity::separate;
  made.code_hash = kernel::sha256_hex("code");
  made.tests_hash = kernel::sha256_hex("tests");
  made.policy_hash = kernel::sha256_hex("policy");
  return made;
}

Integrity integrity_named(const std::string& name) {
  for (const Integrity integrity : {Integrity::separate, Integrity::stdio, Integrity::in_process})
    if (name_of(integrity) == name) return integrity;
  FAIL(name);
  return Integrity::separate;
}

}  // namespace

TEST_CASE("codes are those that Python's hmac makes over the same lines") {
  for (const auto& vector : reference::mac_vectors) {
    ItemAnswer made = answer();
    made.nonce = vector.nonce;
    made.id = vector.id;
    made.integrity = integrity_named(vector.integrity);
    made.verdict = verdict_named(vector.verdict).value();
    made.reward = vector.reward;
    INFO(mac_text(made));
    CHECK(mac_of(made, key()) == vector.mac);
  }
}

TEST_CASE("the text of a code is nine lines, with the reward to its last digit") {
  ItemAnswer made = answer();
  made.code_hash = "c";
  made.tests_hash = "t";
  made.policy_hash = "p";
  CHECK(mac_text(made) == "paddock-verdict-1\nn\na\nc\nt\np\nseparate\nfail\n0.5\n");
  made.reward = 1.0 / 3;
  CHECK(mac_text(made) ==
        "paddock-verdict-1\nn\na\nc\nt\np\nseparate\nfail\n0.33333333333333331\n");
  made.reward = std::nullopt;
  made.verdict = Verdict::invalid;
  made.nonce.clear();
  CHECK(mac_text(made) == "paddock-verdict-1\n\na\nc\nt\np\nseparate\ninvalid\nnull\n");
}

TEST_CASE("each thing that a code covers changes it, and so does the key") {
  std::vector<ItemAnswer> answers(9, answer());
  answers[1].nonce = "m";
  answers[2].id = "b";
  answers[3].code_hash = answers[3].tests_hash;
  answers[4].tests_hash = answers[4].policy_hash;
  answers[5].policy_hash = answers[5].code_hash;
  answers[6].integrity = Integrity::in_process;
  answers[7].verdict = Verdict::pass;
  answers[8].reward = std::nextafter(0.5, 1.0);
  std::set<std::string> codes;
  for (const ItemAnswer& one : answers) codes.insert(mac_of(one, key()));
  MacKey other = key();
  other.bytes[31] ^= 1;
  codes.insert(mac_of(answer(), other));
  CHECK(codes.size() == 10);
}
