#include "supervisor/agents/jsonl.hpp"

#include <random>
#include <vector>

#include "support/catch.hpp"

using namespace paddock::supervisor;
using namespace std::chrono_literals;

namespace {

struct Cut {
  std::string text;
  bool whole = true;
  bool operator==(const Cut&) const = default;
};

std::vector<Cut> cut(const std::vector<std::string>& pieces) {
  std::vector<Cut> lines;
  LineSplitter splitter;
  const auto take = [&](const LineSplitter::Line& line) {
    lines.push_back({std::string(line.text), line.whole});
  };
  for (const std::string& piece : pieces) {
    splitter.push(piece, take);
    CHECK(splitter.held().size() <= message_bytes_max);
  }
  splitter.finish(take);
  return lines;
}

template <class T>
T message(std::string_view line) {
  const auto parsed = parse_message(line);
  INFO(line);
  REQUIRE(parsed);
  REQUIRE(std::holds_alternative<T>(*parsed));
  return std::get<T>(*parsed);
}

}  // namespace

TEST_CASE("lines are the same however the stream is cut into pieces") {
  const std::string text = "one\n\ntwo three\n{\"a\": 1}\nlast";
  const std::vector<Cut> expected = {{"one"}, {""}, {"two three"}, {"{\"a\": 1}"}, {"last"}};
  CHECK(cut({text}) == expected);
  std::vector<std::string> bytes;
  for (const char c : text) bytes.emplace_back(1, c);
  CHECK(cut(bytes) == expected);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 6;
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    CHECK(cut(pieces) == expected);
  }
}

TEST_CASE("a line longer than a message comes in pieces, none of which is a whole line") {
  const std::string longest(message_bytes_max, 'a');
  CHECK(cut({longest + "\nb\n"}) == std::vector<Cut>{{longest, true}, {"b", true}});
  CHECK(cut({longest + "c\nb\n"}) == std::vector<Cut>{{longest, false}, {"c", false}, {"b", true}});
  CHECK(cut({longest + longest + "\n"}).front().whole == false);
  CHECK(cut({longest, "c", "", "\n"}) == std::vector<Cut>{{longest, false}, {"c", false}});
}

TEST_CASE("a line that is cut before its end is no whole line, nor is its rest") {
  std::vector<Cut> lines;
  LineSplitter splitter;
  const auto take = [&](const LineSplitter::Line& line) {
    lines.push_back({std::string(line.text), line.whole});
  };
  splitter.cut(take);
  splitter.push("a\n50 %", take);
  splitter.cut(take);
  splitter.cut(take);
  splitter.push("\n\nb", take);
  splitter.cut(take);
  splitter.push("c\nd\n", take);
  CHECK(lines == std::vector<Cut>{{"a"}, {"50 %", false}, {""}, {"b", false}, {"c", false}, {"d"}});
}

TEST_CASE("each message of an agent is understood") {
  message<ReadyMessage>(R"({"type": "ready"})");
  CHECK(message<LogMessage>(R"( {"type":"log","level":"warning","text":"hot"})") ==
        LogMessage{"warning", "hot"});
  CHECK(message<IterationMessage>(R"({"type":"iteration_start","n":3})") ==
        IterationMessage{false, 3});
  CHECK(message<IterationMessage>(R"({"type":"iteration_done","n":3})") ==
        IterationMessage{true, 3});
  CHECK(message<ChargeMessage>(R"({"type":"charge","dim":"tokens","amount":7})").charges ==
        Charges{{"tokens", 7}});
  CHECK(message<ChargeMessage>(R"({"type":"charge","dim":"tokens","amount":7.0})").charges ==
        Charges{{"tokens", 7}});
  CHECK(message<ChargeMessage>(R"({"type":"charge","charges":{"tokens":7,"reviews":1}})").charges ==
        Charges{{"reviews", 1}, {"tokens", 7}});
  CHECK(message<ExitMessage>(R"({"type":"exit","exit_kind":"completed","summary":"done"})") ==
        ExitMessage{ExitKind::completed, "done"});
  CHECK(message<ExitMessage>(R"({"type":"exit","exit_kind":"crashed"})") ==
        ExitMessage{ExitKind::crashed, ""});
}

TEST_CASE("what is no message is output, never an error") {
  for (const std::string line :
       {"", "hello", "{", "{}", "[]", "null", "{\"type\": 3}", "{\"type\": \"hello\"}",
        "{\"type\": \"log\", \"text\": \"no level\"}",
        "{\"type\": \"log\", \"level\": \"loud\", \"text\": \"\"}",
        "{\"type\": \"log\", \"level\": \"info\", \"text\": 3}", "{\"type\": \"iteration_start\"}",
        "{\"type\": \"iteration_start\", \"n\": -1}", "{\"type\": \"exit\"}",
        "{\"type\": \"exit\", \"exit_kind\": \"happy\"}", "{\"type\": \"ready\"} trailing",
        "{\"type\": \"ready\", \"x\": \"\xff\"}", "\xff\xfe{\"type\": \"ready\"}"}) {
    INFO(line);
    CHECK_FALSE(parse_message(line));
  }
  CHECK_FALSE(
      parse_message("{\"type\":\"ready\",\"x\":\"" + std::string(message_bytes_max, 'a') + "\"}"));
  CHECK_FALSE(parse_message("{\"a\":" + std::string(60'000, '[')));
}

TEST_CASE("a charge that may not be is refused as a whole, with the reason") {
  const auto why = [](const std::string& rest) {
    return message<RefusedCharge>("{\"type\":\"charge\"," + rest + "}").why;
  };
  for (const char* measured : {"cpu_s", "wall_s", "fs_w_bytes"})
    CHECK(why("\"dim\":\"" + std::string(measured) + "\",\"amount\":1") ==
          "'" + std::string(measured) + "' is measured by the supervisor");
  for (const char* amount :
       {"-1", "1.5", "9007199254740993", "1e300", "\"1\"", "null", "true", "18446744073709551616"})
    CHECK(why("\"dim\":\"tokens\",\"amount\":" + std::string(amount)) ==
          "the amount of 'tokens' is no whole number from 0 to 2^53");
  CHECK(message<ChargeMessage>(R"({"type":"charge","dim":"a","amount":9007199254740992})")
            .charges.at("a") == 9007199254740992);
  CHECK(why("\"dim\":\"To kens\",\"amount\":1").find("is no dimension") != std::string::npos);
  CHECK(why("\"x\":1").find("neither") != std::string::npos);
  CHECK(why(R"("dim":"a","amount":1,"charges":{"b":1})").find("not clear") != std::string::npos);
  CHECK(why("\"charges\":{}").find("1 to 32") != std::string::npos);
  CHECK(why("\"charges\":[1]").find("1 to 32") != std::string::npos);
  CHECK(why("\"charges\":{\"tokens\":1,\"cpu_s\":1}").find("'cpu_s'") != std::string::npos);
}

TEST_CASE("a summary is cut between characters") {
  const std::string text(message_text_bytes_max - 1, 'a');
  const auto exit = message<ExitMessage>(
      "{\"type\":\"exit\",\"exit_kind\":\"failed\",\"summary\":\"" + text + "\xc3\xa9z\"}");
  CHECK(exit.summary == text);
}

TEST_CASE("the messages to an agent are one line each") {
  CHECK(init_message("a", "r-1", {{"tokens", {.limit = 5, .used = 2}}, {"x", {}}}) ==
        "{\"type\":\"init\",\"agent\":\"a\",\"run\":\"r-1\",\"budget\":{\"tokens\":{\"limit\":5,"
        "\"used\":2},\"x\":{\"limit\":null,\"used\":0}}}\n");
  CHECK(stop_message(5s) == "{\"type\":\"stop\",\"deadline_ms\":5000}\n");
}
