#include "bench/verify/workload.hpp"

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/real_daemon.hpp"

namespace bench {
namespace {

using nlohmann::ordered_json;

Problem problem_of(const ordered_json& line) {
  const std::string prompt = line.at("prompt");
  const std::string code = prompt + line.at("canonical_solution").get<std::string>();
  const std::string tests = line.at("test");
  const std::string entry_point = line.at("entry_point");
  const ordered_json item = {
      {"code", code},
      {"language", "python"},
      {"tests",
       {{"kind", "assert"}, {"source", tests}, {"entry_point", entry_point}, {"prelude", prompt}}}};
  return {line.at("task_id"), code + "\n" + tests + "\ncheck(" + entry_point + ")\n", item.dump()};
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + word.size()))
    ++count;
  return count;
}

const char* asked_as(Runtime runtime) {
  switch (runtime) {
    case Runtime::warm:
      return R"("warm":true,)";
    case Runtime::warm_judged:
      return R"("warm":true,"known_answers":false,)";
    case Runtime::cold:
      return R"("warm":false,)";
    case Runtime::unasked:
      return "";
  }
  return "";
}

}  // namespace

std::vector<Problem> read_problems(const std::string& path, std::size_t count) {
  std::ifstream file(path);
  std::vector<Problem> problems;
  for (std::string line; problems.size() < count && std::getline(file, line);) {
    try {
      problems.push_back(problem_of(ordered_json::parse(line)));
    } catch (const ordered_json::exception& failure) {
      give_up(path + ", line " + std::to_string(problems.size() + 1) + ": " + failure.what());
    }
  }
  if (problems.empty()) give_up("no problems in " + path);
  return problems;
}

const char* name_of(Runtime runtime) {
  switch (runtime) {
    case Runtime::warm:
      return "warm";
    case Runtime::warm_judged:
      return "judged warm";
    case Runtime::cold:
    case Runtime::unasked:
      break;
  }
  return "cold";
}

bool is_warm(Runtime runtime) {
  return runtime == Runtime::warm || runtime == Runtime::warm_judged;
}

std::string verify_request(const std::vector<Problem>& problems, std::size_t first,
                           std::size_t count, Runtime runtime) {
  std::string body = std::string("{") + asked_as(runtime) + R"("profile":"STRICT","items":[)";
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& item = problems[(first + i) % problems.size()].item;
    body += std::string(i == 0 ? "" : ",") + R"({"id":")" + std::to_string(first + i) + "\"," +
            item.substr(1);
  }
  return body + "]}";
}

std::size_t not_passed(const std::string& answer, std::size_t count) {
  // An item's verdict stands before its reward; those of its cases have none.
  const std::size_t passed = count_of(answer, R"("verdict":"pass","reward":)");
  return passed > count ? count : count - passed;
}

bool says_cold(const std::string& text) {
  return text.find(R"("warm":false)") != std::string::npos;
}

bool says_warm(const std::string& text) {
  return text.find(R"("warm":true)") != std::string::npos && !says_cold(text);
}

}  // namespace bench
