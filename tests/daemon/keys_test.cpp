// POST and GET /v1/keys.

#include <sys/stat.h>

#include <csignal>
#include <filesystem>

#include "kernel/base/hash.hpp"
#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

constexpr const char* key_rules = R"([[tenant]]
name = "blue"
uids = [20001]
verbs = ["verify"]
)";

struct WithTenant {
  DaemonDirectory files;
  std::string file = files.write("access.toml", key_rules);
  DaemonFixture daemon{{.config = "access = \"" + file + "\"\n"}};

  std::string key_file(const std::string& name) const {
    return daemon.directory().path("state/keys/" + name);
  }
};

std::string bytes_of(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

std::string text_of(const std::string& path) {
  return paddock::kernel::read_file(path, 1 << 26).value_or("");
}

}  // namespace

TEST_CASE("a key is made once, told once, and kept for the daemon's user alone") {
  const WithTenant with;
  const HttpReply made = with.daemon.post("/v1/keys", {{"tenant", "blue"}});
  INFO(made.body);
  REQUIRE(made.status == 200);
  const std::string key = made.json()["key"];
  const std::string id = made.json()["key_id"];
  CHECK(made.json()["tenant"] == "blue");
  CHECK(key.size() == 64);
  CHECK(id == paddock::kernel::sha256_hex(bytes_of(key)).substr(0, 16));
  CHECK(text_of(with.key_file("blue.key")) == key + "\n");
  struct stat info {};
  REQUIRE(::stat(with.key_file("blue.key").c_str(), &info) == 0);
  CHECK((info.st_mode & 07777) == 0600);

  const HttpReply again = with.daemon.post("/v1/keys", {{"tenant", "blue"}, {"rotate", false}});
  CHECK(again.status == 400);
  CHECK(again.error_message() ==
        "tenant 'blue' has a key already; `paddock key rotate` replaces it");
  const HttpReply shown = with.daemon.get("/v1/keys?tenant=blue");
  CHECK(shown.json() == json({{"tenant", "blue"}, {"key_id", id}}));

  const HttpReply rotated = with.daemon.post("/v1/keys", {{"tenant", "blue"}, {"rotate", true}});
  REQUIRE(rotated.status == 200);
  CHECK(rotated.json()["key"] != key);
  CHECK(with.daemon.get("/v1/keys?tenant=blue").json()["key_id"] == rotated.json()["key_id"]);
}

// Goal: who has made which key is on record, and the key itself nowhere but in its file.
TEST_CASE("keys are events by their ids, and in no log or ledger") {
  const WithTenant with;
  const json made = with.daemon.post("/v1/keys", {{"tenant", "blue"}}).json();
  const json rotated = with.daemon.post("/v1/keys", {{"tenant", ""}, {"rotate", true}}).json();
  std::string events;  // they are written when the keys have been told
  CHECK(eventually([&] {
    events = with.daemon.get("/v1/events?kind=key.").body;
    return events.find("key.rotated") != std::string::npos;
  }));
  CHECK_THAT(events, Catch::Contains(R"("kind":"key.made")") &&
                         Catch::Contains(R"("body":{"tenant":"blue","key_id":)" +
                                         made["key_id"].dump() + "}"));
  CHECK_THAT(events, Catch::Contains(R"("kind":"key.rotated")") &&
                         Catch::Contains(rotated["key_id"].dump()));
  CHECK_THAT(with.daemon.log(), Catch::Contains("made the key " + std::string(made["key_id"])));
  for (const json& each : {made, rotated}) {
    const std::string key = each["key"];
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(with.daemon.directory().path())) {
      if (!entry.is_regular_file() || entry.path().extension() == ".key") continue;
      INFO(entry.path());
      const std::string text = text_of(entry.path());
      CHECK(text.find(key) == std::string::npos);
      CHECK(text.find(bytes_of(key)) == std::string::npos);
    }
  }
}

TEST_CASE("a tenant that access.toml does not have gets no key, and no file") {
  const WithTenant with;
  for (const char* tenant : {"blu", "../blue", "@operator", "blue/../red", "."}) {
    const HttpReply refused = with.daemon.post("/v1/keys", {{"tenant", tenant}});
    INFO(refused.body);
    CHECK(refused.status == 404);
    CHECK_THAT(refused.error_message(), Catch::StartsWith("unknown tenant"));
  }
  CHECK(with.daemon.post("/v1/keys", {{"tenant", "blu"}}).error_message() ==
        "unknown tenant 'blu'; did you mean 'blue'?");
  CHECK(with.daemon.get("/v1/keys?tenant=blu").status == 404);
  CHECK_FALSE(std::filesystem::exists(with.key_file("")));
}

TEST_CASE("a request for a key that is not understood is refused by name") {
  const WithTenant with;
  for (const json& body : {json::object(), json({{"tenant", 1}}), json::array(),
                           json({{"tenant", "blue"}, {"rotat", true}}),
                           json({{"tenant", "blue"}, {"rotate", "yes"}})}) {
    INFO(body);
    CHECK(with.daemon.post("/v1/keys", body).status == 400);
  }
  CHECK(with.daemon.get("/v1/keys?tenat=blue").status == 400);
  CHECK(with.daemon.get("/v1/keys?tenant=blue").json()["key_id"].is_null());
}

TEST_CASE("a key is there for the next daemon, and a damaged one is told of") {
  WithTenant with;
  const json made = with.daemon.post("/v1/keys", {{"tenant", ""}}).json();
  with.daemon.signal(SIGKILL);
  with.daemon.wait_for_end();
  with.daemon.start_again();
  CHECK(with.daemon.get("/v1/keys").json()["key_id"] == made["key_id"]);
  with.daemon.directory().write("state/keys/@operator.key", "damaged", 0600);
  const HttpReply damaged = with.daemon.get("/v1/keys");
  CHECK(damaged.status == 500);
  CHECK(damaged.error_code() == "internal");
  CHECK_THAT(damaged.error_message(),
             Catch::StartsWith("the key of the operator cannot be used: ") &&
                 Catch::Contains("is damaged"));
  CHECK(with.daemon.get("/healthz").status == 200);
}

TEST_CASE("many keys at once are each made once") {
  const WithTenant with;
  std::vector<std::unique_ptr<HttpConnection>> clients;
  const std::string body = R"({"tenant": "blue"})";
  for (int i = 0; i < 20; ++i) {
    clients.push_back(std::make_unique<HttpConnection>(with.daemon.socket()));
    clients.back()->send_request("POST", "/v1/keys", body);
  }
  int made = 0;
  for (const auto& client : clients) {
    const HttpReply reply = client->receive_reply();
    made += reply.status == 200;
    CHECK((reply.status == 200 || reply.status == 400));
  }
  CHECK(made == 1);
}
