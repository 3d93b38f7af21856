#include "supervisor/access/token.hpp"

#include "kernel/policy/scratch_directory.hpp"
#include "supervisor/json/encoding.hpp"
#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

const std::string token = "0123456789abcdef";

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
  const std::string path = scratch.file("token", token + "\n");
  for (const unsigned mode : {0600u, 0640u, 0400u}) {
    ScratchDirectory::set_mode(path, mode);
    CHECK(read_token_file(path) == token);
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
  const std::string path = scratch.file("token", token);
  ScratchDirectory::set_mode(path, 0600);
  ScratchDirectory::set_mode(scratch.path(), 0777);
  CHECK(told(path).find("may be written by others") != std::string::npos);
}

TEST_CASE("the right token is a bearer's, or the password of basic authentication") {
  CHECK(is_authorized("Bearer " + token, token));
  CHECK(is_authorized("bearer   " + token, token));
  CHECK(is_authorized("Basic " + to_base64("user:" + token), token));
  CHECK(is_authorized("Basic " + to_base64(":" + token), token));
}

TEST_CASE("anything but the right token is none") {
  for (const std::string& header :
       {std::string(), std::string("Bearer"), std::string("Bearer "), token, "Bearer" + token,
        "Bearer " + token + "x", "Bearer " + token.substr(1),
        std::string("Bearer 0123456789abcdeF"), "Token " + token, "Basic " + token,
        "Basic " + to_base64(token), "Basic " + to_base64("user:" + token + "x"),
        "Basic " + to_base64(token + ":"), std::string("Basic "),
        "Bearer " + token + " " + token}) {
    INFO(header);
    CHECK_FALSE(is_authorized(header, token));
  }
}
