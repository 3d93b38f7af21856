#include "supervisor/doors/code_door.hpp"

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using std::chrono::milliseconds;

namespace {

struct Door {
  Door() {
    kernel::Profile strict;
    strict.name = "STRICT";
    strict.wall_clock = milliseconds(20'000);
    strict.limits.memory_bytes = 512u << 20;
    catalog.profiles["STRICT"] = strict;
    kernel::Profile node;
    node.name = "NODE";
    node.wall_clock = milliseconds(60'000);
    node.output_bytes = 1000;
    catalog.profiles["NODE"] = node;
    runtime.name = "cpp";
    runtime.source = "main.cpp";
    runtime.compile = CompileStep{
        .command = {"g++", "main.cpp"}, .artifact = "a.out", .wall_clock = milliseconds(9'000)};
    runtime.run = {"./a.out"};
  }

  kernel::Result<PreparedCode> prepare(const CodeAsk& ask) {
    requests.clear();
    return prepare_code(
        ask, runtime,
        {.catalog = catalog,
         .profile = "STRICT",
         .admit = [this](const kernel::Request& request) -> kernel::Result<ResolvedRun> {
           requests.push_back(request);
           if (request.profile == refused)
             return kernel::fail(kernel::ErrorCode::forbidden, "not this one");
           return ResolvedRun{};
         }});
  }

  kernel::Catalog catalog;
  Runtime runtime;
  std::string refused;
  std::vector<kernel::Request> requests;  // that were admitted
};

CodeAsk ask_for(std::string code) {
  CodeAsk ask;
  ask.code = std::move(code);
  return ask;
}

}  // namespace

TEST_CASE("code goes beside the other files, and its two steps get their limits") {
  Door door;
  CodeAsk ask = ask_for("int main() {}");
  ask.files = {{"data", "x"}};
  ask.arguments = {"-v"};
  ask.wanted = {"out"};
  ask.stdin_bytes = "input";
  ask.compile.wall_clock = milliseconds(5'000);
  ask.run = {.wall_clock = milliseconds(2'000), .memory_bytes = 1u << 20};
  const auto prepared = door.prepare(ask);
  REQUIRE(prepared);
  CHECK(prepared->notes.empty());
  CHECK(prepared->job.files == Files{{"data", "x"}, {"main.cpp", "int main() {}"}});
  CHECK(prepared->job.arguments == std::vector<std::string>{"-v"});
  CHECK(prepared->job.wanted == std::vector<std::string>{"out"});
  REQUIRE(door.requests.size() == 2);
  CHECK(door.requests[0].profile == "STRICT");
  CHECK(door.requests[0].argv == std::vector<std::string>{"g++", "main.cpp"});
  CHECK(door.requests[0].stdin_bytes.empty());
  CHECK(door.requests[0].wall_clock == milliseconds(5'000));
  CHECK(door.requests[0].memory_bytes == std::nullopt);
  CHECK(door.requests[1].argv == std::vector<std::string>{"./a.out", "-v"});
  CHECK(door.requests[1].stdin_bytes == "input");
  CHECK(door.requests[1].wall_clock == milliseconds(2'000));
  CHECK(door.requests[1].memory_bytes == 1u << 20);
  CHECK(door.requests[1].output_bytes == door_output_bytes_max);
}

TEST_CASE("limits above the profile's are lowered to it, and that is said") {
  Door door;
  CodeAsk ask = ask_for("");
  ask.compile.wall_clock = milliseconds(30'000);
  ask.run = {.wall_clock = milliseconds(100'500), .memory_bytes = 1u << 30};
  const auto prepared = door.prepare(ask);
  REQUIRE(prepared);
  CHECK(door.requests[0].wall_clock == milliseconds(9'000));  // the runtime's own, tighter still
  CHECK(door.requests[1].wall_clock == milliseconds(20'000));
  CHECK(door.requests[1].memory_bytes == 512u << 20);
  CHECK(prepared->notes == std::vector<std::string>{"run timeout of 100.5 s to 20 s",
                                                    "run memory of 1073741824 bytes to 536870912"});
}

TEST_CASE("a language with a profile of its own runs under it") {
  Door door;
  door.runtime.compile.reset();
  door.runtime.profile = "NODE";
  CodeAsk ask = ask_for("");
  ask.run.memory_bytes = 1u << 30;
  const auto prepared = door.prepare(ask);
  REQUIRE(prepared);
  REQUIRE(door.requests.size() == 1);
  CHECK(door.requests[0].profile == "NODE");
  CHECK(door.requests[0].memory_bytes == std::nullopt);
  CHECK(door.requests[0].output_bytes == 1000);
  CHECK(prepared->notes ==
        std::vector<std::string>{"run memory limit left out, as profile NODE has none"});
}

TEST_CASE("what the caller may not have is refused as admission refuses it") {
  Door door;
  door.refused = "STRICT";
  const auto prepared = door.prepare(ask_for(""));
  REQUIRE_FALSE(prepared);
  CHECK(prepared.error().code == kernel::ErrorCode::forbidden);
}

TEST_CASE("a file in the place of the code is a mistake") {
  Door door;
  CodeAsk ask = ask_for("");
  ask.files = {{"main.cpp", "x"}};
  const auto prepared = door.prepare(ask);
  REQUIRE_FALSE(prepared);
  CHECK(prepared.error().message == "files: 'main.cpp' is where the code itself goes");
  CHECK(door.requests.empty());
}

TEST_CASE("arguments that no program could get are refused") {
  Door door;
  CodeAsk ask = ask_for("");
  ask.arguments = {std::string("a\0b", 3)};
  CHECK_FALSE(door.prepare(ask));
}

TEST_CASE("seconds become milliseconds only if they are a time") {
  CHECK(milliseconds_of(1.5) == milliseconds(1500));
  CHECK(milliseconds_of(0.0001) == milliseconds(1));
  for (const double seconds : {0.0, -1.0, 1e300, std::numeric_limits<double>::quiet_NaN(),
                               std::numeric_limits<double>::infinity()})
    CHECK(milliseconds_of(seconds) == std::nullopt);
}

TEST_CASE("an unknown language is told with those that there are") {
  Runtimes runtimes;
  CHECK(unknown_language(runtimes, "x").message == "unknown language 'x'; there is none");
  runtimes["c"] = {};
  runtimes["bash"] = {};
  CHECK(unknown_language(runtimes, "cobol").message ==
        "unknown language 'cobol'; there is 'bash', 'c'");
}
