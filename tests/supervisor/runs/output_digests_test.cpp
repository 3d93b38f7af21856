#include "supervisor/runs/output_digests.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::sha256_hex;
using kernel::Stream;

TEST_CASE("a hash in pieces is the hash of the whole, and can go on after it was asked for") {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += std::to_string(i);
  for (const std::size_t piece : {1u, 63u, 64u, 65u, 1000u, 10000u}) {
    kernel::Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      CHECK(hash.hex() == sha256_hex(text.substr(0, at)));
      hash.append(std::string_view(text).substr(at, piece));
    }
    CHECK(hash.hex() == sha256_hex(text));
  }
}

TEST_CASE("each stream has a digest of its first bytes, as many as are kept") {
  OutputDigests digests(10);
  CHECK(digests.of_stdout() == sha256_hex(""));
  digests.append(Stream::stdout_stream, "01234567");
  digests.append(Stream::stderr_stream, "error");
  CHECK(digests.of_stdout() == sha256_hex("01234567"));
  digests.append(Stream::stdout_stream, "89abc");
  digests.append(Stream::stdout_stream, "more");
  CHECK(digests.of_stdout() == sha256_hex("0123456789"));
  CHECK(digests.of_stderr() == sha256_hex("error"));
}
