#include "supervisor/access/caller.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

const KnownUids known{.daemon = 990, .runs = {.first = 60578, .count = 606}};

AccessRules sample_rules() {
  Tenant first;
  first.name = "first";
  first.uids = {1000};
  first.gids = {50};
  first.verbs = {Verb::run, Verb::read};
  first.profiles = std::set<std::string>{"STRICT"};
  Tenant second;
  second.name = "second";
  second.metrics_class = "external";
  second.uids = {1001};
  second.gids = {51};
  second.verbs = {Verb::kill};
  second.sees = Sees::all;
  return {.socket_group = std::nullopt, .tenants = {first, second}};
}

kernel::Result<Caller> caller(uid_t uid, const std::vector<gid_t>& gids,
                              const AccessRules& rules = sample_rules()) {
  return caller_of({.uid = uid, .gids = gids}, rules, known);
}

}  // namespace

TEST_CASE("root and the daemon's user may do everything, with rules and without") {
  for (const uid_t uid : {0u, 990u}) {
    for (const AccessRules& rules : {AccessRules{}, sample_rules()}) {
      const auto found = caller(uid, {50, 51}, rules);
      REQUIRE(found);
      CHECK(*found == operator_caller());
      CHECK(found->tenant.empty());
      for (const Verb verb : all_verbs()) CHECK(found->may(verb));
      CHECK(found->sees("first"));
      CHECK(found->may_use("OFF"));
    }
  }
}

TEST_CASE("a tenant gets what is written, and no more") {
  const auto first = caller(1000, {1000});
  REQUIRE(first);
  CHECK(first->tenant == "first");
  CHECK(first->metrics_class == "default");
  CHECK(first->may(Verb::run));
  CHECK(first->may(Verb::read));
  for (const Verb verb : {Verb::kill, Verb::agent, Verb::budget, Verb::verify, Verb::operate})
    CHECK_FALSE(first->may(verb));
  CHECK(first->sees("first"));
  CHECK_FALSE(first->sees("second"));
  CHECK_FALSE(first->sees(""));  // the operator's
  CHECK(first->may_use("STRICT"));
  CHECK_FALSE(first->may_use("OFF"));

  const auto second = caller(1001, {1001});
  REQUIRE(second);
  CHECK(second->metrics_class == "external");
  CHECK(second->sees("first"));
  CHECK(second->sees(""));
  CHECK(second->may_use("OFF"));
}

TEST_CASE("a uid that is listed wins over groups, and the first of several groups in the file") {
  CHECK(caller(1001, {50})->tenant == "second");
  CHECK(caller(7, {50})->tenant == "first");
  CHECK(caller(7, {7, 51})->tenant == "second");
  CHECK(caller(7, {51, 50})->tenant == "first");
}

TEST_CASE("whoever is in no tenant is nobody") {
  for (const auto& refused : {caller(7, {7}), caller(7, {}), caller(1000, {}, {})}) {
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == kernel::ErrorCode::forbidden);
  }
  CHECK(caller(7, {7}).error().message == "no tenant has uid 7 or one of its groups");
  CHECK_FALSE(caller(static_cast<uid_t>(-1), {}));  // without credentials
}

TEST_CASE("a uid for runs is let in by no rule, but for a daemon that has it itself") {
  AccessRules rules = sample_rules();
  rules.tenants[0].uids.insert(60578);
  rules.tenants[0].gids.insert(61183);
  for (const uid_t uid : {60578u, 60600u, 61183u}) {
    const auto refused = caller(uid, {50, 61183}, rules);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message == "a process of a run may not use this socket");
  }
  CHECK(caller_of({.uid = 60578, .gids = {}}, rules, {.daemon = 60578, .runs = known.runs}));
}
