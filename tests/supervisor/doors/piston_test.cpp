#include "supervisor/doors/piston.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

std::string piston_refusal(const std::string& body) {
  const auto execute = piston::parse(body);
  INFO(body);
  REQUIRE_FALSE(execute);
  CHECK(execute.error().code == kernel::ErrorCode::invalid_request);
  return execute.error().message;
}

Runtime cpp() {
  Runtime runtime;
  runtime.name = "cpp";
  runtime.aliases = {"c++"};
  return runtime;
}

StepResult ended(kernel::Cause cause, int exit_code, int signal = 0) {
  StepResult step;
  step.result.cause = cause;
  step.result.exit_code = exit_code;
  step.result.signal = signal;
  step.result.stdout = "o";
  step.result.stderr = "e";
  step.output = "eo";
  step.result.duration_s = 1.25;
  step.result.cpu_user_us = 2'000;
  step.result.cpu_system_us = 1'000;
  step.result.max_rss_bytes = 4096;
  return step;
}

json piston_rendered(const CodeResult& result, const std::vector<std::string>& notes = {}) {
  return json::parse(piston::render(result, cpp(), "12.2.0", notes));
}

}  // namespace

TEST_CASE("an execute request has what its client says, and the protocol's defaults") {
  const auto least =
      piston::parse(R"({"language": "python", "version": "*", "files": [{"content": "x"}]})");
  REQUIRE(least);
  CHECK(least->version == "*");
  CHECK(least->ask.language == "python");
  CHECK(least->ask.code == "x");
  CHECK(least->ask.run.wall_clock == milliseconds(3'000));
  CHECK(least->ask.compile.wall_clock == milliseconds(10'000));

  const auto all = piston::parse(R"({"language": "c++", "version": "12",
    "files": [{"name": "a.cpp", "content": "eA==", "encoding": "base64"},
              {"name": "b.h", "content": "00fF", "encoding": "hex"}, {"content": "third"}],
    "stdin": "in", "args": ["1"], "compile_timeout": 500, "run_timeout": -1,
    "compile_memory_limit": 1000, "run_memory_limit": -1, "run_cpu_time": 7})");
  REQUIRE(all);
  CHECK(all->ask.code == "x");
  CHECK(all->ask.files == Files{{"b.h", std::string("\0\xff", 2)}, {"file2.code", "third"}});
  CHECK(all->ask.stdin_bytes == "in");
  CHECK(all->ask.arguments == std::vector<std::string>{"1"});
  CHECK(all->ask.compile.wall_clock == milliseconds(500));
  CHECK(all->ask.run.wall_clock == std::nullopt);
  CHECK(all->ask.compile.memory_bytes == 1000);
  CHECK(all->ask.run.memory_bytes == std::nullopt);
}

TEST_CASE("an execute request with a mistake is refused with its place") {
  CHECK(piston_refusal("{}") == "the key 'language' is missing");
  CHECK(piston_refusal(R"({"language": "c"})") == "the key 'version' is missing");
  const auto with_files = [](const std::string& files) {
    return piston_refusal(R"({"language": "c", "version": "*", "files": )" + files + "}");
  };
  for (const char* files : {"[]", "{}", "null", "\"x\""})
    CHECK(with_files(files) == "files is required as an array of one or more");
  CHECK(with_files("[1]") == "files[0] must be an object with 'content'");
  CHECK(with_files("[{\"name\": \"a\"}]") == "files[0] must be an object with 'content'");
  CHECK(with_files(R"([{"content": "x", "encoding": "rot13"}])") ==
        "files[0].content: its encoding is not base64, hex or utf8");
  for (const char* hex : {"0", "0g", "xy", "00 "})
    CHECK(with_files(R"([{"content": "", "encoding": "hex"}, {"encoding": "hex", "content": ")" +
                     std::string(hex) + "\"}]") == "files[1].content: is not hexadecimal");
  CHECK(with_files(R"([{"content": "", "name": "/x"}])") == "the file name '/x' is not relative");
  const auto with = [](const std::string& more) {
    return piston_refusal(R"({"language": "c", "version": "*", "files": [{"content": ""}], )" +
                          more + "}");
  };
  CHECK(with(R"("run_timeout": 0)") == "run_timeout must be above 0, or -1 for the most");
  CHECK(with(R"("run_memory_limit": 0)") == "run_memory_limit must be 1 or more, or -1 for none");
  CHECK(with(R"("args": [1])") == "args: must be an array of strings");
}

TEST_CASE("an execution is told with both steps, in Piston's words") {
  CodeResult result;
  result.compile = ended(kernel::Cause::exited, 0);
  result.run = ended(kernel::Cause::exited, 7);
  const json answer = piston_rendered(result, {"run timeout of 9 s to 1 s"});
  CHECK(answer["language"] == "cpp");
  CHECK(answer["version"] == "12.2.0");
  CHECK(answer["compile"]["status"] == nullptr);
  CHECK(answer["compile"]["message"] == nullptr);
  CHECK(answer["run"] ==
        json::parse(R"({"stdout": "o", "stderr": "e", "output": "eo", "code": 7, "signal": null,
                        "status": "RE", "cpu_time": 3, "wall_time": 1250, "memory": 4096,
                        "message": "lowered to what the profile allows: run timeout of 9 s to 1 s"})"));
}

TEST_CASE("how a program was ended is a signal and two letters") {
  struct Row {
    kernel::Cause cause;
    int exit_code;
    int signal;
    const char* signal_name;
    const char* status;
  };
  const Row rows[] = {{kernel::Cause::signaled, -11, 11, "SIGSEGV", "SG"},
                      {kernel::Cause::wall_clock, -9, 0, "SIGKILL", "TO"},
                      {kernel::Cause::memory_limit, -9, 9, "SIGKILL", "SG"},
                      {kernel::Cause::output_limit, -15, 15, "SIGTERM", "OL"}};
  for (const Row& row : rows) {
    CodeResult result;
    result.run = ended(row.cause, row.exit_code, row.signal);
    const json run = piston_rendered(result)["run"];
    CHECK(run["code"] == nullptr);
    CHECK(run["signal"] == row.signal_name);
    CHECK(run["status"] == row.status);
    CHECK(run["message"] == kernel::name_of(row.cause));
  }
}

TEST_CASE("output that was cut is said to be") {
  StepResult step = ended(kernel::Cause::exited, 0);
  step.result.stdout_truncated = true;
  CodeResult result;
  result.run = step;
  CHECK(piston_rendered(result, {})["run"]["message"] == "stdout was cut after 1 bytes");
}

TEST_CASE("limits of CPU time are the program's, not those of the clock") {
  const auto execute = piston::parse(
      R"({"language": "c", "version": "*", "files": [{"content": "x"}], "run_cpu_time": 1500})");
  REQUIRE(execute);
  CHECK(execute->ask.run.cpu == milliseconds(1500));
  CHECK_FALSE(execute->ask.compile.cpu);
}

TEST_CASE("what does not compile was not run") {
  CodeResult result;
  result.compile = ended(kernel::Cause::exited, 1);
  CHECK_FALSE(piston_rendered(result).contains("run"));
  CHECK(piston_rendered(result)["compile"]["code"] == 1);
}

TEST_CASE("runtimes are listed with version and aliases") {
  CHECK(json::parse(piston::render_runtimes({{cpp(), "12.2.0"}, {cpp(), ""}})) ==
        json::parse(R"([{"language": "cpp", "version": "12.2.0", "aliases": ["c++"]},
                        {"language": "cpp", "version": "0.0.0", "aliases": ["c++"]}])"));
  CHECK(json::parse(piston::render_runtimes({})) == json::array());
}
