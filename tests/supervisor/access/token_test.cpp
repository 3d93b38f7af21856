#include "supervisor/access/token.hpp"

#include "kernel/policy/scratch_directory.hpp"
#include "supervisor/json/encoding.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

const std::string right_token = "0123456789abcdef";

std::string told(const std::string& path) {
  const auto read = read_token_file(path);
  REQUIRE_FALSE(read);
  CHECK(read.error().code == paddock::kernel::ErrorCode::io);
  CHECK(read.error().message.find(path) != std::string::npos);
  return read.error().message;
}

}  // namespace

TEST_CASE("a token is one word in a file that only its owner writes and only its group reads") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("token", right_token + "\n");
  for (const unsigned mode : {0600u, 0640u, 0400u}) {
    ScratchDirectory::set_mode(path, mode);
    CHECK(read_token_file(path) == right_token);
  }
  for (const unsigned mode : {0644u, 0604u, 0660u, 0700u, 0622u}) {
    ScratchDirectory::set_mode(path, mode);
    CHECK(told(path).find("chmod it to 0600 or 0640") != std::string::npos);
  }
}

TEST_CASE("a token file that is not there, too short, too long or no word is refused by name") {
  const ScratchDirectory scratch;
  CHECK(told(scratch.path() + "/missing").find("No such file") != std::string::npos);
  const auto refused = [&](const std::string& text) {
    const std::string path = scratch.file("token", text);
    ScratchDirectory::set_mode(path, 0600);
    return told(path);
  };
  CHECK(refused("0123456789abcde\n").find("holds 15 bytes") != std::string::npos);
  CHECK(refused("").find("holds 0 bytes") != std::string::npos);
  CHECK(refused(std::string(1025, 'x')).find("holds 1025 bytes") != std::string::npos);
  CHECK(refused("0123456789 abcdef").find("more than one word") != std::string::npos);
  CHECK(refused("0123456789abcdef\n\n").find("more than one word") != std::string::npos);
  CHECK(refused("0123456789abcdef\xc3\xa4").find("more than one word") != std::string::npos);
}

TEST_CASE("a token in a directory that others may write is refused") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("token", right_token);
  ScratchDirectory::set_mode(path, 0600);
  ScratchDirectory::set_mode(scratch.path(), 0777);
  CHECK(told(path).find("may be written by others") != std::string::npos);
}

TEST_CASE("the right token is a bearer's, or the password of basic authentication") {
  CHECK(is_authorized("Bearer " + right_token, right_token));
  CHECK(is_authorized("bearer   " + right_token, right_token));
  CHECK(is_authorized("Basic " + to_base64("user:" + right_token), right_token));
  CHECK(is_authorized("Basic " + to_base64(":" + right_token), right_token));
}

TEST_CASE("anything but the right token is none") {
  for (const std::string& header :
       {std::string(), std::string("Bearer"), std::string("Bearer "), right_token,
        "Bearer" + right_token, "Bearer " + right_token + "x", "Bearer " + right_token.substr(1),
        std::string("Bearer 0123456789abcdeF"), "Token " + right_token, "Basic " + right_token,
        "Basic " + to_base64(right_token), "Basic " + to_base64("user:" + right_token + "x"),
        "Basic " + to_base64(right_token + ":"), std::string("Basic "),
        "Bearer " + right_token + " " + right_token}) {
    INFO(header);
    CHECK_FALSE(is_authorized(header, right_token));
  }
}
