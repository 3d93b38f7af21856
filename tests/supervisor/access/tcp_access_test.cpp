#include "supervisor/access/tcp_access.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

const TcpAccess configured = {
    .port = 8231, .token = "0123456789abcdef", .tenant = "trainer", .profile = "STRICT"};

HttpRequest request_with(std::vector<HeaderField> fields) {
  HttpRequest request;
  request.headers.fields = std::move(fields);
  return request;
}

const HeaderField host = {"Host", "127.0.0.1:8231"};
const HeaderField token = {"authorization", "Bearer 0123456789abcdef"};

}  // namespace

TEST_CASE("whoever names this daemon and has its token is let in") {
  CHECK(judge_entry(configured, request_with({host, token})) == TcpEntry::let_in);
}

TEST_CASE("a request to another name is misdirected, whatever token it has") {
  for (const char* name : {"evil.example:8231", "127.0.0.1", "127.0.0.1:80", ""})
    CHECK(judge_entry(configured, request_with({{"Host", name}, token})) == TcpEntry::misdirected);
  CHECK(judge_entry(configured, request_with({token})) == TcpEntry::misdirected);
}

TEST_CASE("without the token, or with two, nobody is let in") {
  CHECK(judge_entry(configured, request_with({host})) == TcpEntry::unauthorized);
  CHECK(
      judge_entry(configured, request_with({host, {"Authorization", "Bearer 0123456789abcdeF"}})) ==
      TcpEntry::unauthorized);
  CHECK(judge_entry(configured, request_with({host, token, token})) == TcpEntry::unauthorized);
  TcpAccess none = configured;
  none.token.clear();
  CHECK(judge_entry(none, request_with({host, {"Authorization", "Bearer "}})) ==
        TcpEntry::unauthorized);
  CHECK(judge_entry(none, request_with({host, token})) == TcpEntry::unauthorized);
}

TEST_CASE("a client on TCP is the tenant of the configuration, by the rules of now") {
  AccessRules rules;
  CHECK(tcp_caller(configured, rules, {}).error().code == paddock::kernel::ErrorCode::forbidden);
  Tenant tenant;
  tenant.name = "trainer";
  tenant.verbs = {Verb::verify};
  tenant.profiles = {"SEALED"};
  rules.tenants.push_back(tenant);
  const Caller caller = tcp_caller(configured, rules, {"NODE"}).value();
  CHECK(caller.tenant == "trainer");
  CHECK(caller.verbs == std::set<Verb>{Verb::verify});
  CHECK(caller.profiles == std::set<std::string>{"SEALED"});
}

TEST_CASE("without a tenant it has no more than the doors take") {
  TcpAccess own = configured;
  own.tenant.clear();
  const Caller caller = tcp_caller(own, {}, {"NODE"}).value();
  CHECK(caller.tenant.empty());
  CHECK(caller.verbs == std::set<Verb>{Verb::run, Verb::verify});
  CHECK(caller.profiles == std::set<std::string>{"NODE", "STRICT"});
  CHECK_FALSE(caller.sees_all);
}
