// key new, rotate and show-id, the daemon being a test.

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "with_daemon.hpp"

namespace {

const std::string key = std::string(62, '0') + "7f";
const std::string made =
    R"({"tenant": "blue", "key_id": "0123456789abcdef", "key": ")" + key + "\"}\n";

}  // namespace

TEST_CASE("a new key is alone on stdout, so that it can go to a file, and its id on stderr") {
  const FakeDaemon daemon(answering(200, made));
  const CliEnded ended = with_daemon(daemon, {"key", "new", "blue"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.out == key + "\n");
  CHECK(ended.err ==
        "paddock: this is the key 0123456789abcdef of tenant 'blue'; it is not shown again\n");
  REQUIRE(daemon.requests().size() == 1);
  CHECK(daemon.requests()[0].method == "POST");
  CHECK(daemon.requests()[0].target == "/v1/keys");
  CHECK(nlohmann::json::parse(daemon.requests()[0].body) ==
        nlohmann::json({{"tenant", "blue"}, {"rotate", false}}));
}

TEST_CASE("without a tenant it is the operator's key, and rotate says so to the daemon") {
  const FakeDaemon daemon(answering(200, made));
  const CliEnded ended = with_daemon(daemon, {"key", "rotate"});
  CHECK(ended.exit_code == 0);
  CHECK(ended.err ==
        "paddock: this is the key 0123456789abcdef of the operator; it is not shown again\n");
  CHECK(nlohmann::json::parse(daemon.requests().at(0).body) ==
        nlohmann::json({{"tenant", ""}, {"rotate", true}}));
  CHECK(with_daemon(daemon, {"key", "rotate", "blue", "--json"}).out == made);
}

TEST_CASE("show-id prints the id, and a tenant without a key is an error") {
  const std::string known = R"({"tenant": "blue", "key_id": "0123456789abcdef"})";
  const std::string none = R"({"tenant": "blue", "key_id": null})";
  const FakeDaemon has(answering(200, known));
  CHECK(with_daemon(has, {"key", "show-id", "blue"}).out == "0123456789abcdef\n");
  CHECK(with_daemon(has, {"key", "show-id", "blue", "--json"}).out == known);
  CHECK(with_daemon(has, {"key", "show-id"}).exit_code == 0);
  CHECK(has.requests().at(0).method == "GET");
  CHECK(has.requests().at(0).target == "/v1/keys?tenant=blue");
  CHECK(has.requests().at(2).target == "/v1/keys?tenant=");
  const FakeDaemon has_not(answering(200, none));
  const CliEnded ended = with_daemon(has_not, {"key", "show-id", "blue"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.out.empty());
  CHECK(ended.err == "paddock: tenant 'blue' has no key; `paddock key new` makes one\n");
  const CliEnded as_json = with_daemon(has_not, {"key", "show-id", "blue", "--json"});
  CHECK(as_json.exit_code == 1);
  CHECK(as_json.out == none);
}

TEST_CASE("a key that is refused is an error with the daemon's reason") {
  const FakeDaemon daemon(
      answering(404, R"({"error": {"code": "not_found", "message": "unknown tenant 'blu'"}})"));
  for (const char* command : {"new", "rotate", "show-id"}) {
    const CliEnded ended = with_daemon(daemon, {"key", command, "blu"});
    CHECK(ended.exit_code == 1);
    CHECK(ended.err == "paddock: unknown tenant 'blu'\n");
    CHECK(ended.out.empty());
  }
}

TEST_CASE("what cannot be a tenant's name is refused before the daemon is asked") {
  const FakeDaemon daemon(answering(200, made));
  for (const Words& words :
       {Words{"key"}, Words{"key", "new", "../a"}, Words{"key", "show-id", "a&b=c"},
        Words{"key", "new", "a", "b"}, Words{"key", "rotate", "a b"}, Words{"key", "old"}}) {
    const CliEnded ended = with_daemon(daemon, words);
    INFO(ended.err);
    CHECK(ended.exit_code == 1);
    CHECK_FALSE(ended.err.empty());
    CHECK(ended.out.empty());
  }
  CHECK(daemon.requests().empty());
}

TEST_CASE("an answer that is no key is an error, and nothing on stdout") {
  for (const char* answer : {"", "[]", R"({"key": "00"})", R"({"key_id": 1, "key": "00"})"}) {
    const FakeDaemon daemon(answering(200, answer));
    for (const char* command : {"new", "show-id"}) {
      const CliEnded ended = with_daemon(daemon, {"key", command});
      INFO(ended.err);
      CHECK(ended.exit_code == 1);
      CHECK(ended.out.empty());
    }
  }
}
