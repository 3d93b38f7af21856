// Programs of stdio tests as forks (RFC 0013) with the real daemon: the same answers as cold, and
// what an answer says where they are none.

#include <algorithm>

#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

json stdio_case(const std::string& in, const std::string& out) {
  return {{"stdin", in}, {"stdout", out}};
}

json program(const std::string& id, const std::string& code,
             const json& cases = {stdio_case("1\n", "2\n"), stdio_case("2\n", "3\n")}) {
  return {{"id", id}, {"code", code}, {"tests", {{"kind", "stdio"}, {"cases", cases}}}};
}

const char* const adding = "print(int(input()) + 1)\n";

json verify_programs(const DaemonFixture& daemon, const json& items,
                     const json& rest = json::object()) {
  json body = {{"items", items}, {"profile", "STRICT"}, {"allow_degraded", true}};
  body.update(rest);
  return daemon.verify(body)["items"];
}

json verify_one(const DaemonFixture& daemon, const json& item, const json& rest = json::object()) {
  return verify_programs(daemon, json::array({item}), rest).at(0);
}

// The first ones are cold: their zygotes start.
json warm_verdicts(const DaemonFixture& daemon, const json& items) {
  json answers;
  const auto is_warm = [](const json& answer) { return !answer.contains("cold_because"); };
  REQUIRE(eventually([&] {
    answers = verify_programs(daemon, items);
    return std::all_of(answers.begin(), answers.end(), is_warm);
  }));
  return answers;
}

// Without what differs between two runs of one program.
json what_counts(json answer) {
  for (const char* key : {"queue_ms", "run_ms", "receipt", "cold_because"}) answer.erase(key);
  for (json& each : answer["cases"])
    for (const char* key : {"cpu_ms", "wall_ms"}) each.erase(key);
  return answer;
}

// Whether each run of an answer was a fork.
std::vector<bool> warmth(const DaemonFixture& daemon, const json& answer) {
  std::vector<bool> warm;
  for (const json& id : answer["receipt"]["runs"])
    warm.push_back(daemon.get("/v1/runs/" + id.get<std::string>()).json().value("warm", false));
  return warm;
}

const std::vector<std::pair<const char*, const char*>> programs = {
    {"right", adding},
    {"right in one case", "print(2)"},
    {"wrong", "print(int(input()))"},
    {"solve() with a guard",
     "import sys\ndef solve():\n    n, = map(int, sys.stdin.readline().split())\n    "
     "sys.stdout.write(str(n + 1))\nif __name__ == '__main__':\n    solve()\n"},
    {"bytes", "import sys\nsys.stdout.buffer.write(b'%d' % (int(sys.stdin.buffer.read()) + 1))"},
    {"open(0)", "print(sum(map(int, open(0))) + 1)"},
    {"nothing", ""},
    {"a syntax error", "def f(:\n"},
    {"an exception", "print(int(input()) + 1)\n1/0"},
    {"a name that there is not", "prnt(1)"},
    {"sys.exit(0)", "import sys\nprint(int(input()) + 1)\nsys.exit(0)"},
    {"sys.exit(3)", "import sys\nprint(int(input()) + 1)\nsys.exit(3)"},
    {"sys.exit with a text", "import sys\nsys.exit('over')"},
    {"os._exit before the output is flushed", "import os\nprint(int(input()) + 1)\nos._exit(0)"},
    {"os._exit with 127", "import os\nos._exit(127)"},
    {"killed by itself", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"},
    {"SIGSEGV", "import ctypes\nctypes.string_at(0)"},
    {"input() at the end of its input", "input(); input()"},
    {"exit handlers", "import atexit\natexit.register(lambda: print(int(input()) + 1))"},
    {"threads",
     "import threading\nt = threading.Thread(target=lambda: print(int(input()) + 1))\nt.start()"},
    {"multiprocessing",
     "from multiprocessing import Pool\ndef f(x): return x + 1\nif __name__ == '__main__':\n    "
     "with Pool(2) as p: print(p.map(f, [int(input())])[0])"},
    {"a deep recursion",
     "import sys\nsys.setrecursionlimit(100000)\ndef f(n): return 0 if n == 0 else 1 + f(n - 1)\n"
     "print(f(30000) - 29999 + int(input()))"},
    {"a recursion that does not end", "def f(): f()\nf()"},
    {"too much output", "while True: print('x' * 10000, end='')"},
    {"too much memory", "x = bytearray(1 << 34)"},
    {"a hang", "import time\ntime.sleep(60)"},
    {"its names", "import sys\nprint(__file__, __name__, sys.argv, sys.path[0], sys.orig_argv)"},
    {"what it can reach",
     "import os, sys\nprint(sorted(os.listdir('.')), sorted(os.listdir('/tmp')), os.getcwd(), "
     "os.getuid(), sorted(os.environ))\nprint(len(os.listdir('/proc/self/fd')), file=sys.stderr)"},
    {"a child that it leaves",
     "import os, time\nprint(int(input()) + 1, flush=True)\nif os.fork() == 0: time.sleep(60)"},
};

}  // namespace

TEST_CASE("programs of stdio tests have the same answers as forks and cold") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  json items = json::array();
  for (const auto& [name, code] : programs) {
    json item = program(name, code);
    item["limits"] = {{"wall_seconds", 3}, {"output_bytes", 10'000}};
    items.push_back(std::move(item));
  }
  items.push_back(program("no text", ""));
  items.back()["code"] = {{"b64", "/w=="}};
  const json cold = verify_programs(daemon, items, {{"warm", false}});
  warm_verdicts(daemon, json::array({program("first", adding)}));
  REQUIRE(cold.size() == items.size());
  std::size_t passed = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const json warm = warm_verdicts(daemon, json::array({items[i]})).at(0);
    INFO("program: " << items[i]["id"] << "\nwarm: " << warm.dump()
                     << "\ncold: " << cold[i].dump());
    CHECK(what_counts(warm) == what_counts(cold[i]));
    const auto forks = warmth(daemon, warm);
    CHECK(std::count(forks.begin(), forks.end(), true) == 2);  // a trial is none
    const auto none = warmth(daemon, cold[i]);
    CHECK(std::count(none.begin(), none.end(), true) == 0);
    if (warm["verdict"] == "pass") ++passed;
  }
  CHECK(passed >= 9);
}

TEST_CASE("a fork's record names the command and the policy of the cold run") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const json cold = verify_one(daemon, program("a", adding), {{"warm", false}});
  const json warm = warm_verdicts(daemon, json::array({program("a", adding)})).at(0);
  const auto run_of = [&](const json& answer) {
    return daemon.get("/v1/runs/" + answer["receipt"]["runs"][0].get<std::string>()).json();
  };
  CHECK(run_of(warm)["argv"] == run_of(cold)["argv"]);
  CHECK(run_of(warm)["confinement"]["policy_hash"] == run_of(cold)["confinement"]["policy_hash"]);
  CHECK_FALSE(run_of(cold).contains("warm"));
  CHECK(warm["policy_hash"] == cold["policy_hash"]);
}

TEST_CASE("an answer says how many of its cases were no forks, and why the first was none") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  json cases = json::array();
  for (int i = 0; i < 60; ++i) cases.push_back(stdio_case("1\n", "2\n"));
  const json mixed = verify_one(daemon, program("mixed", adding, cases));
  INFO(mixed.dump().substr(0, 300));
  CHECK(mixed["verdict"] == "pass");
  const auto forks = warmth(daemon, mixed);
  const auto cold = std::count(forks.begin(), forks.end(), false);
  CHECK(cold > 0);
  CHECK(cold < 60);
  CHECK(mixed["cold_because"] ==
        "candidate, " + std::to_string(cold) + " of 60 cases: no zygote is ready");
}

TEST_CASE("programs of stdio tests are cold where somebody says so, or their language cannot") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const auto check_cold = [](const DaemonFixture& where, const json& item, const json& rest,
                             const json& why) {
    for (int i = 0; i < 2; ++i) {
      const json answer = verify_one(where, item, rest);
      INFO(answer.dump());
      CHECK(answer["verdict"] == "pass");
      CHECK(answer.value("cold_because", json()) == why);
      for (const bool warm : warmth(where, answer)) CHECK_FALSE(warm);
    }
  };
  check_cold(daemon, program("a", adding), {{"warm", false}}, nullptr);
  json shell = program("b", "read x; echo $((x + 1))");
  shell["language"] = "bash";
  check_cold(daemon, shell, json::object(), nullptr);
  check_cold(daemon, shell, {{"warm", true}}, "candidate: the runtime of bash has no [warm]");
  check_cold(daemon, program("a", adding), {{"profile", "OFF"}},
             "candidate: the profile does not use bubblewrap");
  const DaemonFixture by_config({.config = "[verify]\nwarm = false\n"});
  check_cold(by_config, program("a", adding), json::object(), nullptr);
  check_cold(by_config, program("a", adding), {{"warm", true}},
             "candidate: [verify] warm is false");
}

TEST_CASE("a zygote of stdio programs that cannot start costs no verdict, and the cause is told") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon(
      {.runtimes = {{"python.toml",
                     "name = \"python\"\nsource = \"main.py\"\n[run]\ncommand = [\"python3\", "
                     "\"main.py\"]\n[warm]\ninterpreter = [\"python3\", \"-I\"]\nmodules = "
                     "[\"no_such_module\"]\n"}}});
  json answer;
  REQUIRE(eventually([&] {
    answer = verify_one(daemon, program("a", adding));
    return answer.value("cold_because", "").find("no_such_module") != std::string::npos;
  }));
  CHECK(answer["verdict"] == "pass");
}

TEST_CASE("items under SEALED are judged by forks, too, or the refusal says what the host lacks") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const json items = {
      program("stdio", adding),
      {{"id", "call"},
       {"code", "def f(x):\n    return x + 1\n"},
       {"tests",
        {{"kind", "call"}, {"entry_point", "f"}, {"cases", {{{"args", {1}}, {"expected", 2}}}}}}}};
  const json request = {{"items", items}, {"profile", "SEALED"}};
  const HttpReply reply = http(daemon.trainer_socket(), "POST", "/v1/verify", request);
  INFO(reply.body);
  if (reply.status != 200) {
    CHECK(reply.error_code() == "sandbox_not_available");
    CHECK(reply.error_message().find("SEALED") != std::string::npos);
    return;
  }
  json answers;
  const bool are_forks = eventually([&] {
    answers = http(daemon.trainer_socket(), "POST", "/v1/verify", request).json()["items"];
    return std::none_of(answers.begin(), answers.end(),
                        [](const json& answer) { return answer.contains("cold_because"); });
  });
  INFO(answers.dump());
  CHECK(are_forks);
  for (const json& answer : answers) {
    CHECK(answer["verdict"] == "pass");
    CHECK(answer["isolation"]["profile"] == "SEALED");
    CHECK(answer["isolation"]["degraded"] == json::array());
    for (const bool warm : warmth(daemon, answer)) CHECK(warm);
  }
}
