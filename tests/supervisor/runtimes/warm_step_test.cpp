#include "supervisor/runtimes/warm_step.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

using Words = std::vector<std::string>;

Runtime python(const Words& run) {
  Runtime runtime;
  runtime.name = "python";
  runtime.source = "main.py";
  runtime.run = run;
  runtime.warm = std::make_shared<const WarmWish>(
      WarmWish{.runtime = "python",
               .program = {.interpreter = {"python3", "-I"}, .modules = {"re"}, .programs = {}},
               .limits = {.zygotes = 3}});
  return runtime;
}

}  // namespace

TEST_CASE("a step's fork is of the interpreter of its command, with the modules of [warm]") {
  const auto wish = warm_step_wish(python({"python3", "-u", "main.py"}));
  CHECK(wish->cold_because.empty());
  CHECK(wish->runtime == "python");
  CHECK(wish->program.interpreter == Words{"python3", "-u"});
  CHECK(wish->program.modules == Words{"re"});
  CHECK(wish->limits.zygotes == 3);
  CHECK(wish->program.programs == Words{std::string(warm_step_program)});
  CHECK(wish->argv ==
        Words{"python3", "-u", "-c", std::string(warm_step_program), "python3", "-u", "main.py"});
}

TEST_CASE(
    "a command that is no interpreter with its source is cold, and so is what has no [warm]") {
  for (const Words& run :
       {Words{"python3"}, Words{"main.py"}, Words{"pypy3", "main.py"}, Words{"python3", "other.py"},
        Words{"python3", "runner.py", "main.py"}, Words{"python3", "main.py", "main.py"},
        Words{"python3", "main.py", "-v"}, Words{"python3", "-c", "main.py"},
        Words{"python3", "-", "main.py"}}) {
    INFO(run.back() << ", " << run.size() << " words");
    CHECK_FALSE(warm_step_wish(python(run))->cold_because.empty());
  }
  Runtime compiled = python({"python3", "main.py"});
  CHECK(warm_step_wish(compiled)->cold_because.empty());
  compiled.compile = CompileStep{.command = {"cc"}, .artifact = "main", .wall_clock = {}};
  CHECK_FALSE(warm_step_wish(compiled)->cold_because.empty());
  Runtime without = python({"python3", "main.py"});
  without.warm = nullptr;
  CHECK_FALSE(warm_step_wish(without)->cold_because.empty());
}
