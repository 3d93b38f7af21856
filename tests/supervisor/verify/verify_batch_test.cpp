#include "supervisor/verify/verify_batch.hpp"

#include <nlohmann/json.hpp>

#include "supervisor/verify/parse_items.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

json item(const std::string& id, const json& limits = json::object()) {
  return {{"id", id},
          {"code", "x"},
          {"limits", limits},
          {"tests",
           {{"kind", "call"},
            {"entry_point", "f"},
            {"cases", {{{"args", json::array()}, {"expected", 1}}}}}}};
}

json program(const std::string& id, const std::string& language) {
  return {{"id", id},
          {"code", "x"},
          {"language", language},
          {"tests", {{"kind", "stdio"}, {"cases", {{{"stdin", ""}, {"stdout", ""}}}}}}};
}

VerifyBatch resolved(const std::vector<json>& items,
                     std::optional<milliseconds> profile_wall = seconds(300)) {
  kernel::Profile profile;
  profile.name = "STRICT";
  profile.wall_clock = profile_wall;
  profile.limits.nproc = 16;
  Runtimes runtimes;
  runtimes["cpp"] = Runtime{.name = "cpp",
                            .aliases = {"c++"},
                            .source = "main.cpp",
                            .compile = {},
                            .run = {"./main"},
                            .version = {},
                            .profile = {},
                            .file = {}};
  auto request = parse_items(json({{"items", items}}).dump());
  REQUIRE(request);
  auto batch =
      resolve_batch(std::move(*request), {.tenant = "t", .profile = profile, .runtimes = runtimes});
  REQUIRE(batch);
  return std::move(*batch);
}

std::string refusal(const VerifyBatch& batch, std::size_t index = 0) {
  const auto* const refused = std::get_if<RefusedItem>(&batch.items.at(index));
  return refused == nullptr ? "" : refused->why;
}

}  // namespace

TEST_CASE("an item has ten seconds unless it or its profile says otherwise") {
  const auto wall = [](const json& limits, std::optional<milliseconds> profile) {
    return std::get<ResolvedItem>(resolved({item("a", limits)}, profile).items[0])
        .candidate_policy->wall_clock;
  };
  CHECK(wall(json::object(), seconds(300)) == seconds(10));
  CHECK(wall(json::object(), std::nullopt) == seconds(10));
  CHECK(wall(json::object(), seconds(3)) == seconds(3));
  CHECK(wall({{"wall_seconds", 60}}, seconds(300)) == seconds(60));
}

TEST_CASE("the judge has the profile's own limits, whatever its item asks for") {
  const VerifyBatch batch = resolved({item("a", {{"nproc", 4}}), item("b")});
  const auto& a = std::get<ResolvedItem>(batch.items[0]);
  const auto& b = std::get<ResolvedItem>(batch.items[1]);
  CHECK(a.candidate_policy->nproc == 4u);
  CHECK(a.judge_policy->nproc == 16u);
  CHECK(a.policy_hash == kernel::policy_hash(*a.candidate_policy));
  CHECK(a.policy_hash != b.policy_hash);
}

TEST_CASE("the compiler of a language that names a profile has the limits of that one") {
  kernel::Profile strict;
  strict.name = "STRICT";
  strict.limits.nproc = 16;
  kernel::Profile large;
  large.name = "LARGE";
  large.limits.nproc = 64;
  Runtimes runtimes;
  runtimes["go"].name = "go";
  runtimes["go"].profile = "LARGE";
  runtimes["go"].source = "main.go";
  const auto batch = resolve_batch(
      *parse_items(json{{"items", {program("a", "go"), item("b")}}}.dump()),
      {.tenant = "t",
       .profile = strict,
       .runtimes = runtimes,
       .profile_named = [&](const std::string&) -> kernel::Result<const kernel::Profile*> {
         return &large;
       }});
  REQUIRE(batch);
  const auto& compiled = std::get<ResolvedItem>(batch->items.at(0));
  CHECK(compiled.candidate_policy->profile == "LARGE");
  CHECK(compiled.judge_policy->profile == "LARGE");
  CHECK(compiled.judge_policy->nproc == 64u);
  CHECK(std::get<ResolvedItem>(batch->items.at(1)).judge_policy->profile == "STRICT");
}

TEST_CASE("an item that asks for more than its profile has is refused, with the reason") {
  const VerifyBatch batch = resolved({item("a", {{"nproc", 17}}), item("b")});
  CHECK(refusal(batch, 0).starts_with("limits: "));
  CHECK(refusal(batch, 0).find("nproc") != std::string::npos);
  CHECK(refusal(batch, 1).empty());
  CHECK_FALSE(refusal_of_all(batch));
}

TEST_CASE("a language is found by its names, and one that is not there is refused") {
  const VerifyBatch batch = resolved(
      {program("a", "cpp"), program("b", "c++"), program("c", "cobol"), program("d", "cppp")});
  CHECK(std::get<ResolvedItem>(batch.items[0]).runtime->name == "cpp");
  CHECK(std::get<ResolvedItem>(batch.items[1]).runtime->name == "cpp");
  CHECK(refusal(batch, 2) == "language: there is no 'cobol', only 'cpp'");
  CHECK(refusal(batch, 3) == "language: there is no 'cppp'; did you mean 'cpp'?");
}

TEST_CASE("a request without one item that can be judged says why of the first") {
  CHECK(refusal_of_all(resolved({json::object()})) == "items[0]: the key 'id' is missing");
  CHECK(refusal_of_all(resolved({1, 2, 3}))
            ->starts_with("items[0]: an item must be an object (and none"));
}

TEST_CASE(
    "candidates and judges want to be forks of different programs, unless they shall be cold") {
  const auto wish = [](const char* name) {
    return std::make_shared<const WarmWish>(WarmWish{.runtime = name, .program = {}});
  };
  const VerifyWishes wishes{.candidate = wish("c"), .judge = wish("j"), .in_process = wish("p")};
  kernel::Profile profile;
  profile.name = "STRICT";
  const Runtimes none;
  const auto resolve = [&](const json& request) {
    auto batch =
        resolve_batch(*parse_items(request.dump()),
                      {.tenant = "t", .profile = profile, .runtimes = none, .wishes = wishes});
    REQUIRE(batch);
    return std::get<ResolvedItem>(batch->items.at(0));
  };
  json in_process = item("a");
  in_process["integrity"] = "in_process";
  const ResolvedItem separate = resolve({{"items", {item("a")}}});
  CHECK(separate.candidate_warm == wishes.candidate);
  CHECK(separate.judge_warm == wishes.judge);
  CHECK(resolve({{"items", {in_process}}}).candidate_warm == wishes.in_process);
  const ResolvedItem cold = resolve({{"items", {item("a")}}, {"warm", false}});
  CHECK_FALSE(cold.candidate_warm);
  CHECK_FALSE(cold.judge_warm);
}

TEST_CASE("nothing of an item has a grace: at its deadline its verdict is known") {
  kernel::Profile profile;
  profile.name = "STRICT";
  profile.grace = std::chrono::seconds(5);
  const Runtimes none;
  auto batch = resolve_batch(*parse_items(json{{"items", {item("a")}}}.dump()),
                             {.tenant = "t", .profile = profile, .runtimes = none, .wishes = {}});
  REQUIRE(batch);
  const ResolvedItem& resolved = std::get<ResolvedItem>(batch->items.at(0));
  CHECK(resolved.candidate_policy->grace.count() == 0);
  CHECK(resolved.judge_policy->grace.count() == 0);
}

TEST_CASE("who asks for warm runs where there are none is told why, and nobody else") {
  kernel::Profile profile;
  profile.name = "STRICT";
  Runtimes runtimes;
  runtimes["python"].name = "python";
  const auto resolve = [&](const json& request) {
    auto batch =
        resolve_batch(*parse_items(request.dump()),
                      {.tenant = "t", .profile = profile, .runtimes = runtimes, .wishes = {}});
    REQUIRE(batch);
    return std::get<ResolvedItem>(batch->items.at(0));
  };
  const json stdio = program("s", "python");
  CHECK_FALSE(resolve({{"items", {stdio}}}).candidate_warm);
  CHECK_FALSE(resolve({{"items", {item("a")}}}).candidate_warm);
  REQUIRE(resolve({{"items", {stdio}}, {"warm", true}}).candidate_warm);
  CHECK(resolve({{"items", {stdio}}, {"warm", true}}).candidate_warm->cold_because ==
        "[verify] warm is false");
  REQUIRE(resolve({{"items", {item("a")}}, {"warm", true}}).judge_warm);
  CHECK(resolve({{"items", {item("a")}}, {"warm", true}})
            .judge_warm->cold_because.find("[verify] warm") != std::string::npos);
}

TEST_CASE("programs of stdio tests want what their runtime can have, and are cold without a word") {
  kernel::Profile profile;
  profile.name = "STRICT";
  Runtimes runtimes;
  const auto add = [&](const std::string& name) -> Runtime& {
    Runtime& runtime = runtimes[name];
    runtime.name = name;
    runtime.source = "main.py";
    runtime.run = {"python3", "main.py"};
    runtime.warm = std::make_shared<const WarmWish>(
        WarmWish{.runtime = name,
                 .program = {.interpreter = {"python3", "-I"}, .modules = {}, .programs = {}}});
    return runtime;
  };
  add("python").aliases = {"py"};
  add("compiled").compile = CompileStep{.command = {"cc"}, .artifact = "a", .wall_clock = {}};
  add("bash").warm = nullptr;
  const VerifyWishes wishes = verify_wishes(runtimes);
  const auto wish = [&](const std::string& language, std::optional<bool> warm) {
    json request = {{"items", {program("a", language)}}};
    if (warm) request["warm"] = *warm;
    auto batch =
        resolve_batch(*parse_items(request.dump()),
                      {.tenant = "t", .profile = profile, .runtimes = runtimes, .wishes = wishes});
    REQUIRE(batch);
    const auto& resolved = std::get<ResolvedItem>(batch->items.at(0));
    CHECK_FALSE(resolved.judge_warm);
    return resolved.candidate_warm;
  };
  for (const auto asked : {std::optional<bool>{}, std::optional(true)}) {
    REQUIRE(wish("py", asked));
    CHECK(wish("py", asked) == wishes.stdio.at("python"));
    CHECK(wish("py", asked)->cold_because.empty());
  }
  CHECK_FALSE(wish("python", false));
  for (const char* cold : {"compiled", "bash"}) {
    CHECK_FALSE(wish(cold, std::nullopt));
    CHECK_FALSE(wish(cold, false));
    REQUIRE(wish(cold, true));
  }
  CHECK(wish("compiled", true)->cold_because == "what is compiled is no fork of an interpreter");
  CHECK(wish("bash", true)->cold_because == "the runtime of bash has no [warm]");
}

TEST_CASE(
    "the wishes of items are there if the runtime of Python has a [warm], and never the same") {
  Runtimes runtimes;
  CHECK_FALSE(verify_wishes(runtimes).candidate);
  runtimes["python"].name = "python";
  CHECK_FALSE(verify_wishes(runtimes).judge);
  runtimes["python"].warm = std::make_shared<const WarmWish>(
      WarmWish{.runtime = "python",
               .program = {.interpreter = {"python3", "-I"}, .modules = {}, .programs = {}}});
  const VerifyWishes wishes = verify_wishes(runtimes);
  REQUIRE(wishes.candidate);
  REQUIRE(wishes.judge);
  REQUIRE(wishes.in_process);
  CHECK(wishes.judge->runtime == "judge");
  CHECK(wishes.candidate->program != wishes.judge->program);
  CHECK(wishes.candidate->program != wishes.in_process->program);
}
