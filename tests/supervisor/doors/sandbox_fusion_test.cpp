#include "supervisor/doors/sandbox_fusion.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

std::string fusion_refusal(const std::string& body) {
  const auto ask = fusion::parse(body);
  INFO(body);
  REQUIRE_FALSE(ask);
  CHECK(ask.error().code == kernel::ErrorCode::invalid_request);
  return ask.error().message;
}

StepResult exited(int code, const std::string& out = "", const std::string& err = "") {
  StepResult step;
  step.id = "r-0123456789abcdef";
  step.result.cause = kernel::Cause::exited;
  step.result.exit_code = code;
  step.result.stdout = out;
  step.result.stderr = err;
  step.result.duration_s = 0.5;
  return step;
}

json fusion_rendered(const CodeResult& result, const std::vector<std::string>& notes = {}) {
  return json::parse(fusion::render(result, notes));
}

}  // namespace

TEST_CASE("a run_code request has what its client says, and the protocol's defaults") {
  const auto least = fusion::parse(R"({"code": "x", "language": "python"})");
  REQUIRE(least);
  CHECK(least->code == "x");
  CHECK(least->language == "python");
  CHECK(least->run.wall_clock == milliseconds(10'000));
  CHECK(least->compile.wall_clock == milliseconds(10'000));
  CHECK(least->run.memory_bytes == std::nullopt);

  const auto all = fusion::parse(R"({"code": "x", "language": "cpp", "compile_timeout": 1.5,
    "run_timeout": 2, "memory_limit_MB": 64, "stdin": "in", "files": {"a/b": "AAE=", "skip": null},
    "fetch_files": ["out"], "args": [], "something_new": {"x": 1}})");
  REQUIRE(all);
  CHECK(all->compile.wall_clock == milliseconds(1'500));
  CHECK(all->run.wall_clock == milliseconds(2'000));
  CHECK(all->run.memory_bytes == 64u << 20);
  CHECK(all->compile.memory_bytes == std::nullopt);
  CHECK(all->stdin_bytes == "in");
  CHECK(all->files == Files{{"a/b", std::string("\0\1", 2)}});
  CHECK(all->wanted == std::vector<std::string>{"out"});

  const auto nulls = fusion::parse(
      R"({"code": "", "language": "c", "stdin": null, "files": null, "memory_limit_MB": -1})");
  REQUIRE(nulls);
  CHECK(nulls->stdin_bytes.empty());
  CHECK(nulls->run.memory_bytes == std::nullopt);
}

TEST_CASE("a run_code request with a mistake is refused with its place") {
  CHECK(fusion_refusal("") == "the body is not valid JSON");
  CHECK(fusion_refusal("[]") == "the body must be a JSON object");
  CHECK(fusion_refusal(std::string(100, '[')) == "the body is nested too deeply");
  CHECK(fusion_refusal(R"({"language": "c"})") == "the key 'code' is missing");
  CHECK(fusion_refusal(R"({"code": "x"})") == "the key 'language' is missing");
  CHECK(fusion_refusal(R"({"code": 1, "language": "c"})") == "code: must be a string");
  const auto with = [](const std::string& more) {
    return fusion_refusal(R"({"code": "x", "language": "c", )" + more + "}");
  };
  CHECK(with(R"("run_timeout": 0)") == "run_timeout: must be above 0");
  CHECK(with(R"("run_timeout": "1")") == "run_timeout: must be a number");
  CHECK(with(R"("compile_timeout": -1)") == "compile_timeout: must be above 0");
  CHECK(with(R"("memory_limit_MB": 0)") == "memory_limit_MB: must be 1 or more, or -1 for none");
  CHECK(with(R"("files": ["a"])") == "files: must be an object of base64 strings");
  CHECK(with(R"("files": {"a": 1})") == "files.a: must be a string");
  CHECK(with(R"("files": {"a": "!"})") == "files.a: must be base64");
  CHECK(with(R"("files": {"../a": ""})") == "the file name '../a' has '.' or '..' as a part");
  CHECK(with(R"("fetch_files": ["/etc/passwd"])") == "the file name '/etc/passwd' is not relative");
  CHECK(with(R"("fetch_files": "a")") == "fetch_files: must be an array of strings");
  CHECK(with(R"("args": ["-k", "x"])") == "'args' are for a language that is not here");
}

TEST_CASE("a run that ended well is a Success with its output and files") {
  CodeResult result;
  result.run = exited(0, "out", "err");
  result.files = {{"f", std::string("\0\xff", 2)}};
  CHECK(fusion_rendered(result) == json::parse(R"({"status": "Success", "message": "",
    "compile_result": null,
    "run_result": {"status": "Finished", "execution_time": 0.5, "return_code": 0,
                   "stdout": "out", "stderr": "err"},
    "executor_pod_name": "r-0123456789abcdef", "files": {"f": "AP8="}})"));
}

TEST_CASE("a run that ended badly is Failed, by what its step says") {
  CodeResult result;
  result.compile = exited(0);
  result.run = exited(3);
  CHECK(fusion_rendered(result)["status"] == "Failed");
  CHECK(fusion_rendered(result)["run_result"]["return_code"] == 3);

  result.run->result.cause = kernel::Cause::wall_clock;
  result.run->result.exit_code = -9;
  result.run->result.detail = "5 s passed";
  CHECK(fusion_rendered(result)["status"] == "Failed");
  CHECK(fusion_rendered(result)["run_result"]["status"] == "TimeLimitExceeded");
  CHECK(fusion_rendered(result)["run_result"]["return_code"] == nullptr);
  CHECK(fusion_rendered(result)["message"] == "wall_clock: 5 s passed");

  result.run->result.cause = kernel::Cause::memory_limit;
  CHECK(fusion_rendered(result)["run_result"]["status"] == "Finished");
  CHECK(fusion_rendered(result)["run_result"]["return_code"] == -9);
}

TEST_CASE("code that does not compile has no run_result") {
  CodeResult result;
  result.compile = exited(1, "", "main.cpp:1: error");
  const json answer = fusion_rendered(result);
  CHECK(answer["status"] == "Failed");
  CHECK(answer["compile_result"]["return_code"] == 1);
  CHECK(answer["compile_result"]["stderr"] == "main.cpp:1: error");
  CHECK(answer["run_result"] == nullptr);
}

TEST_CASE("what is lowered or cut is in the message, and bytes that are no text are replaced") {
  CodeResult result;
  result.run = exited(0, "\xff\xfe");
  result.run->result.stdout_truncated = true;
  const json answer = fusion_rendered(result, {"run memory of 2 bytes to 1"});
  CHECK(answer["message"] ==
        "lowered to what the profile allows: run memory of 2 bytes to 1; stdout was cut after 2 "
        "bytes");
  CHECK(answer["run_result"]["stdout"] == "\xef\xbf\xbd\xef\xbf\xbd");
}

TEST_CASE("the answer is due before its client gives up") {
  CodeAsk ask;
  ask.compile.wall_clock = milliseconds(10'000);
  ask.run.wall_clock = milliseconds(10'000);
  CHECK(fusion::time_to_answer(ask, true) == milliseconds(28'000));
  CHECK(fusion::time_to_answer(ask, false) == milliseconds(18'000));
}
