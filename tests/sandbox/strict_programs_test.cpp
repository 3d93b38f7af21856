// Ordinary programs work under STRICT.

#include <unistd.h>

#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

// As it is shipped, without the directory of the tiny programs.
SandboxPolicy strict() {
  SandboxPolicy policy = policy_of("STRICT");
  policy.bind_ro.pop_back();
  return policy;
}

// The output of a shell command under STRICT, which must succeed.
std::string output_of(const std::string& command, const RunInput& input = {}) {
  const SandboxResult result = run(strict(), {"/bin/sh", "-c", command}, input);
  CHECK(result.cause == Cause::exited);
  CHECK(result.exit_code == 0);
  return one_line(result.stdout);
}

std::string output_of_python(const std::string& code) {
  const SandboxResult result = run(strict(), {"python3", "-c", code});
  CHECK(result.exit_code == 0);
  return one_line(result.stdout);
}

}  // namespace

TEST_CASE("STRICT has a shell, by each of its names") {
  CHECK(output_of("echo hello") == "hello");
  CHECK(run(strict(), {"sh", "-c", "echo hello"}).stdout == "hello\n");
  CHECK(run(strict(), {"/usr/bin/sh", "-c", "echo hello"}).stdout == "hello\n");
}

TEST_CASE("STRICT knows who the agent is") {
  CHECK(output_of("whoami") == "agent");
  CHECK(output_of("id -u; id -g") == "1000\n1000");
  CHECK(output_of("echo ~") == "/home/agent");
  CHECK(output_of_python("import getpass; print(getpass.getuser())") == "agent");
}

TEST_CASE("STRICT has temporary files") {
  CHECK(output_of("f=$(mktemp) && echo text >$f && cat $f") == "text");
  CHECK(output_of("d=$(mktemp -d -p /var/tmp) && touch $d/f && ls $d") == "f");
  CHECK(output_of_python("import tempfile; tempfile.NamedTemporaryFile().write(b'x'); print(1)") ==
        "1");
}

TEST_CASE("STRICT has a HOME and a workspace that can be written, and starts in the workspace") {
  CHECK(output_of("touch ~/file here && echo ~/file $PWD/here && ls ~/file $PWD/here >/dev/null") ==
        "/home/agent/file /workspace/here");
}

TEST_CASE("STRICT runs Python with its process pool") {
  NEEDS(::access("/usr/bin/python3", X_OK) == 0, "python3 is not installed");
  CHECK(output_of_python("import sys; print(sys.version_info[0])") == "3");
  CHECK(output_of_python("import multiprocessing as m\n"
                         "with m.Pool(2) as p: print(sum(p.map(abs, range(-10, 0))))") == "55");
}

TEST_CASE("STRICT has a UTF-8 locale") {
  CHECK(output_of("locale charmap") == "UTF-8");
  CHECK(output_of("printf 'h\\303\\251' | wc -m") == "2");
  CHECK(output_of_python("import sys; print(sys.stdout.encoding, '\\u00e9')") == "utf-8 \u00e9");
}

TEST_CASE("STRICT has time zones") {
  NEEDS(::access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0, "tzdata is not installed");
  const std::string summer = "date -d @1750000000 '+%Z %H:%M'";
  CHECK(output_of(summer, {.environment = {{"TZ", "Europe/Berlin"}}}) == "CEST 17:06");
  CHECK(output_of(summer, {.environment = {{"TZ", "UTC"}}}) == "UTC 15:06");
}

TEST_CASE("STRICT has the usual devices") {
  CHECK(
      output_of("echo x >/dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c") ==
      "3\n3");
  CHECK(output_of("echo text | cat /dev/stdin") == "text");
}

TEST_CASE("STRICT shows the run's own processes and no others") {
  CHECK(output_of("set -- /proc/[0-9]*; echo $#") == "2");  // the init and the shell
  CHECK(output_of("cat /proc/1/comm") == "paddock-launch");
}
