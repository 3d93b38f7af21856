// Goal: a program cannot tell, by what it prints and how it ends, whether it was started warm.
// Method: one table of small programs; what each does cold is what it must do warm.

#include <chrono>

#include "sandbox/warm_fixture.hpp"
#include "sandbox/warm_programs.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

void check_alike(WarmPython& python, const std::vector<WarmProgram>& programs) {
  for (const WarmProgram& program : programs) {
    RunOptions options;
    options.stdin_bytes = program.input;
    const SandboxResult warm = python.run(program.code, std::move(options));
    const SandboxResult cold = python.run_cold(program.code, {.stdin_bytes = program.input});
    INFO("program: " << program.name);
    CHECK(shown(warm) == shown(cold));
  }
}

void check_alike(const std::vector<WarmProgram>& programs) {
  for (const auto& imported : {std::vector<std::string>{}, common_modules}) {
    INFO("with " << imported.size() << " modules imported ahead");
    WarmPython python(policy_of("STRICT"), imported);
    check_alike(python, programs);
  }
}

}  // namespace

TEST_CASE("a warm program ends as it would cold") {
  check_alike(endings);
}
TEST_CASE("what a warm program leaves for its end is done as it would be cold") {
  check_alike(afterwards);
}
TEST_CASE("a warm program finds around itself what it would find cold") {
  check_alike(surroundings);
}
TEST_CASE("a warm program's standard streams are as they would be cold") {
  check_alike(streams);
}
TEST_CASE("a warm program has the environment that its run was given, and no other") {
  SandboxPolicy policy = policy_of("STRICT");
  policy.environment["TZ"] = "Asia/Tokyo";
  policy.environment["OF_THE_RUN"] = "a=b=c";
  policy.environment["EMPTY"] = "";
  policy.environment["HOME"] = "/tmp";
  WarmPython python(policy, {"time"});
  check_alike(python,
              {{"os.environ", "import os; print(sorted(os.environ.items()))"},
               {"the environment of C",
                "import ctypes\nl = ctypes.CDLL(None); l.getenv.restype = ctypes.c_char_p\n"
                "print([l.getenv(n) for n in (b'TZ', b'OF_THE_RUN', b'EMPTY', b'HOME', b'NONE')])"},
               {"the environment of a child",
                "import subprocess; print(subprocess.run(['env'], capture_output=True).stdout)"},
               {"its home", "import os; print(os.path.expanduser('~'))"},
               {"its time zone", "import time; print(time.tzname, time.localtime(0))"}});
}
TEST_CASE("what keeps something of its process works warm as it does cold") {
  check_alike(modules);
}
