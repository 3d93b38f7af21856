#include <sys/resource.h>

#include <chrono>
#include <random>

#include <nlohmann/json.hpp>

#include "supervisor/api/json.hpp"
#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

// The message with which `body` is refused; empty, and a failed test, if it is accepted.
std::string refusal(const std::string& body) {
  INFO(body.substr(0, 300));
  const auto parsed = parse_run_request(body);
  CHECK_FALSE(parsed);
  if (parsed) return {};
  CHECK(parsed.error().code == kernel::ErrorCode::invalid_request);
  return parsed.error().message;
}

// `value` in a request that is otherwise valid.
std::string request_with(const std::string& key, const json& value) {
  json request = {{"argv", {"true"}}};
  request[key] = value;
  return request.dump();
}

kernel::Request request_of(const std::string& body) {
  const auto parsed = parse_run_request(body);
  INFO((parsed ? "" : parsed.error().message));
  REQUIRE(parsed);
  return parsed->request;
}

long peak_memory_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

}  // namespace

TEST_CASE("every key of a request is read into its field") {
  const auto parsed = parse_run_request(R"json({
    "profile": "STRICT", "argv": ["python3", "-c", "print('\u00fc')"], "stdin": "input",
    "stdin_open": true, "env": {"TZ": "UTC", "LANG": ""},
    "limits": {"wall_seconds": 1.5, "cpu_seconds": 2, "memory_bytes": "256MiB", "fsize_bytes": 4096,
               "nproc": 5, "nofile": 6, "output_bytes": "1KiB",
               "output_stop_bytes": "2KiB"},
    "bind_ro": ["/srv/a"], "bind_rw": ["/srv/b", "/srv/c"], "network": true, "workdir": "/srv/b",
    "cwd": "/srv", "tenant": "team-a", "allow_degraded": true, "detach": true, "stream": false})json");
  REQUIRE(parsed);
  RunRequest expected;
  expected.detach = true;
  expected.stdin_open = true;
  kernel::Request& request = expected.request;
  request.profile = "STRICT";
  request.argv = {"python3", "-c", "print('\u00fc')"};
  request.stdin_bytes = "input";
  request.environment = {{"LANG", ""}, {"TZ", "UTC"}};
  request.wall_clock = milliseconds(1500);
  request.cpu_seconds = 2;
  request.memory_bytes = 256u << 20;
  request.fsize_bytes = 4096;
  request.nproc = 5;
  request.nofile = 6;
  request.output_bytes = 1024;
  request.output_stop_bytes = 2048;
  request.bind_ro = {"/srv/a"};
  request.bind_rw = {"/srv/b", "/srv/c"};
  request.network = true;
  request.workdir = "/srv/b";
  request.cwd = "/srv";
  request.tenant = "team-a";
  request.allow_degraded = true;
  CHECK(*parsed == expected);
}

TEST_CASE("a request names an agent, an argv, or both") {
  CHECK(request_of(R"({"agent": "python"})").agent == "python");
  CHECK(request_of(R"({"agent": "python", "argv": []})").argv.empty());
  CHECK(request_of(R"({"argv": ["true"]})").profile.empty());
  CHECK(refusal("{}").find("nothing to run") != std::string::npos);
  CHECK(refusal(R"({"argv": []})").find("nothing to run") != std::string::npos);
  CHECK(refusal(R"({"argv": [""]})").find("argv[0] is empty") != std::string::npos);
}

TEST_CASE("a value of the wrong type is refused with its key") {
  const json strings[] = {1, 1.5, true, nullptr, json::array({"x"}), json::object()};
  for (const char* key : {"profile", "agent", "stdin", "stdin_base64", "workdir", "cwd", "tenant"})
    for (const json& value : strings)
      CHECK(refusal(request_with(key, value)).find(std::string(key) + ": must be") == 0);

  const json flags[] = {0, 1, "true", nullptr, json::array(), json::object()};
  for (const char* key : {"stdin_open", "network", "allow_degraded", "detach", "stream"})
    for (const json& value : flags)
      CHECK(refusal(request_with(key, value)) == std::string(key) + ": must be true or false");

  const json lists[] = {"true",
                        1,
                        nullptr,
                        json::object(),
                        json::array({1}),
                        json::array({"a", nullptr}),
                        json::array({json::array({"a"})})};
  for (const char* key : {"argv", "bind_ro", "bind_rw"})
    for (const json& value : lists)
      CHECK(refusal(request_with(key, value)) ==
            std::string(key) + ": must be an array of strings");

  const json objects[] = {"x", 1, true, nullptr, json::array()};
  for (const json& value : objects) {
    CHECK(refusal(request_with("env", value)) == "env: must be an object of strings");
    CHECK(refusal(request_with("limits", value)) == "limits: must be an object");
  }
  CHECK(refusal(request_with("env", {{"TZ", 1}})) == "env.TZ: must be a string");
}

TEST_CASE("a limit is a whole number of 1 or more, or a text with a unit where that makes sense") {
  const auto refused = [](const char* key, const json& value) {
    return refusal(request_with("limits", {{key, value}})).find(key) != std::string::npos;
  };
  const json never[] = {0, -1, 1.5, true, nullptr, json::array(), json::object()};
  for (const char* key : {"cpu_seconds", "memory_bytes", "fsize_bytes", "nproc", "nofile",
                          "output_bytes", "output_stop_bytes"})
    for (const json& value : never) CHECK(refused(key, value));
  for (const char* key : {"cpu_seconds", "nproc", "nofile"}) CHECK(refused(key, "5"));
  for (const char* text : {"", "x", "-1", "1.5", "5 MiB", "5mib", "0", "0KiB",
                           "99999999999999999999", "18446744073709551615TiB"})
    CHECK(refused("memory_bytes", text));
  for (const json& value : {json(0), json(-1), json(0.0001), json(1e300), json(1e-300), json(true),
                            json(nullptr), json(""), json("1d"), json("-1s"), json("0s")})
    CHECK(refused("wall_seconds", value));
  // Larger than 64 bits, in every way to write it.
  for (const char* number : {"18446744073709551616", "1e30", "-9223372036854775809"})
    CHECK_FALSE(
        refusal(std::string(R"({"argv": ["x"], "limits": {"nproc": )") + number + "}}").empty());

  const auto duration = [](const json& value) {
    return *request_of(request_with("limits", {{"wall_seconds", value}})).wall_clock;
  };
  CHECK(duration(2) == milliseconds(2000));
  CHECK(duration(0.5) == milliseconds(500));
  CHECK(duration(0.001) == milliseconds(1));
  CHECK(duration("250ms") == milliseconds(250));
  CHECK(duration("1.5s") == milliseconds(1500));
  CHECK(*request_of(request_with("limits", {{"nproc", 18446744073709551615u}})).nproc ==
        18446744073709551615u);
}

TEST_CASE("an unknown key is refused and names the nearest known one") {
  CHECK(refusal(request_with("profil", "OFF")) == "unknown key 'profil'; did you mean 'profile'?");
  CHECK(refusal(request_with("Argv", json::array())) == "unknown key 'Argv'; did you mean 'argv'?");
  CHECK(refusal(request_with("limits", {{"nprocs", 1}})) ==
        "unknown key 'limits.nprocs'; did you mean 'limits.nproc'?");
  CHECK(refusal(request_with("limits", {{"grace_seconds", 1}})).find("unknown key") == 0);
  CHECK(refusal(request_with("xyzzyxyzzy", 1)) == "unknown key 'xyzzyxyzzy'");
  CHECK(refusal(request_with("", 1)).find("unknown key ''") == 0);
  CHECK(refusal(request_with(std::string(100000, 'k'), 1)).find("unknown key 'kkk") == 0);
}

TEST_CASE("a key that is given twice is refused, wherever and however it is written") {
  CHECK(refusal(R"({"argv": ["a"], "argv": ["b"]})") == "the key 'argv' is given twice");
  CHECK(refusal(R"({"argv": ["a"], "\u0061rgv": ["b"]})") == "the key 'argv' is given twice");
  CHECK(refusal(R"({"argv": ["a"], "env": {"X": "1", "X": "1"}})") == "the key 'X' is given twice");
  CHECK(refusal(R"({"argv": ["a"], "limits": {"nproc": 1, "nproc": 2}})") ==
        "the key 'nproc' is given twice");
  // The same name in two objects is not twice.
  CHECK(request_of(R"({"argv": ["a"], "env": {"argv": "1"}})").environment.size() == 1);
}

TEST_CASE("what is not a JSON object is refused") {
  for (const char* body : {"[]", "[{}]", "\"x\"", "1", "true", "null"})
    CHECK(refusal(body) == "the body must be a JSON object");
  for (const char* body : {"",
                           " ",
                           "{",
                           "}",
                           "{]",
                           "{\"argv\": [\"a\"]",
                           "{\"argv\": [\"a\"],}",
                           "{argv: 1}",
                           "{'argv': 1}",
                           "{\"argv\": [\"a\"]} x",
                           "{\"argv\": [\"a\"]}{}",
                           "nul",
                           "\xff",
                           "\xef\xbb\xbf",
                           "{\"argv\": [\"\xff\"]}",
                           "{\"argv\": [\"\\ud800\"]}",
                           "{\"argv\": [\"\\x\"]}",
                           "{\"argv\": [\"a\nb\"]}",
                           "// x\n{}",
                           "{\"argv\": NaN}",
                           "{\"argv\": 01}"}) {
    CHECK(refusal(body).find("the body is not valid JSON") == 0);
  }
  CHECK(refusal("{\"argv\": [\"a\", ]}") == "the body is not valid JSON: near byte 16");
}

// Goal: nesting costs neither the stack nor memory. Method: as deep as the largest body allows.
TEST_CASE("nesting is refused before it costs anything") {
  CHECK(refusal(R"({"argv": [[[[[[[[[]]]]]]]]]})") == "the body is nested too deeply");
  for (const std::string opening : {"[", "{\"a\":"}) {
    std::string body;
    body.reserve((32u << 20) + opening.size());
    while (body.size() < 32u << 20) body += opening;
    const long before_kib = peak_memory_kib();
    const auto begin = std::chrono::steady_clock::now();
    CHECK(parse_run_request(body).error().message == "the body is nested too deeply");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(1));
    CHECK(peak_memory_kib() - before_kib < 16 * 1024);
  }
}

TEST_CASE("standard input is text or base64, not both") {
  CHECK(request_of(request_with("stdin", "a\0b")).stdin_bytes == "a");
  CHECK(request_of(R"({"argv": ["x"], "stdin": "a\u0000b"})").stdin_bytes ==
        std::string("a\0b", 3));
  CHECK(request_of(request_with("stdin_base64", "AP8=")).stdin_bytes == std::string("\0\xff", 2));
  CHECK(request_of(request_with("stdin_base64", "")).stdin_bytes.empty());
  for (const char* text :
       {"A", "AP8", "AP8==", "AP8=x", "A P8=", "AP8=\n", "AP9=", "____", "\u00fc"})
    CHECK(refusal(request_with("stdin_base64", text)) == "stdin_base64: must be base64");
  CHECK(refusal(R"({"argv": ["x"], "stdin": "", "stdin_base64": ""})") ==
        "'stdin' and 'stdin_base64' exclude each other");
  CHECK(refusal(request_with("stdin", std::string((16u << 20) + 1, 'x'))) ==
        "stdin is 16777217 bytes, at most 16777216");
}

TEST_CASE("ways to answer exclude each other, and open input needs one of them") {
  CHECK(refusal(R"({"argv": ["x"], "detach": true, "stream": true})") ==
        "'detach' and 'stream' exclude each other");
  CHECK(refusal(R"({"argv": ["x"], "stdin_open": true})") ==
        "'stdin_open' needs 'detach' or 'stream'");
  CHECK(parse_run_request(R"({"argv": ["x"], "stdin_open": true, "stream": true})"));
}

TEST_CASE("what execve could not take is refused with its place") {
  CHECK(refusal(R"({"argv": ["a", "b\u0000c"]})") == "argv[1] contains a NUL byte");
  CHECK(refusal(R"({"argv": ["a"], "env": {"X": "\u0000"}})").find("NUL") != std::string::npos);
  CHECK(refusal(R"({"argv": ["a"], "env": {"X\u0000": "1"}})").find("NUL") != std::string::npos);
  CHECK(refusal(R"({"argv": ["a"], "env": {"A=B": "1"}})").find("'A=B'") != std::string::npos);
  CHECK(refusal(R"({"argv": ["a"], "workdir": "/a\u0000b"})").find("workdir") == 0);
  CHECK(refusal(R"({"argv": ["a"], "cwd": "relative"})").find("cwd 'relative'") == 0);
  CHECK(refusal(R"({"argv": ["a"], "bind_ro": ["x"]})").find("bind_ro[0] 'x'") == 0);
  CHECK(refusal(R"({"argv": ["a"], "tenant": "a b"})").find("tenant") == 0);
  CHECK(refusal(R"({"argv": ["a"], "profile": "../x"})").find("profile") == 0);
  CHECK(refusal(R"({"argv": ["a"], "profile": ""})") == "profile: must not be empty");
  CHECK(refusal(R"({"agent": ""})") == "agent: must not be empty");

  CHECK(request_of(json{{"argv", std::vector<std::string>(8192, "x")}}.dump()).argv.size() == 8192);
  CHECK(refusal(json{{"argv", std::vector<std::string>(9000, "x")}}.dump()) ==
        "argv has 9000 entries, at most 8192");
  CHECK(refusal(json{{"argv", {std::string(131072, 'x')}}}.dump()) ==
        "argv[0] is 131072 bytes, at most 131071");
  CHECK(
      refusal(request_with("env", {{"X", std::string(10u << 20, 'x')}})).find("environment is ") ==
      0);
}

// Goal: no body crashes the decoder or gets out of its bounds. Method: random changes of a valid
// body with a fixed seed; what is accepted must be a request that passes its own check.
TEST_CASE("no mutation of a request crashes the decoder") {
  const std::string valid =
      json{
          {"profile", "STRICT"},
          {"argv", {"python3", "-c", "print(1)"}},
          {"stdin_base64", "AP8="},
          {"env", {{"TZ", "UTC"}}},
          {"limits", {{"wall_seconds", 1.5}, {"memory_bytes", "1MiB"}, {"nproc", 3}}},
          {"stream", true},
      }
          .dump();
  REQUIRE(parse_run_request(valid));
  const std::string_view pieces[] = {"{",    "}",         "[",    "]",     "\"", "\\u0000",
                                     ":",    ",",         "null", "1e999", "-0", "\xff",
                                     "true", "\"argv\":", "\\",   "\n"};
  std::mt19937 random(20260101);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string body = valid;
    for (auto changes = 1 + random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % body.size();
      switch (random() % 4) {
        case 0:
          body[at] = static_cast<char>(random() % 256);
          break;
        case 1:
          body.erase(at, 1 + random() % 5);
          break;
        case 2:
          body.insert(at, pieces[random() % std::size(pieces)]);
          break;
        default:
          body.insert(at, body.substr(random() % body.size(), 1 + random() % 20));
      }
      if (body.empty()) body = " ";
    }
    const auto parsed = parse_run_request(body);
    if (!parsed) {
      CHECK(parsed.error().code == kernel::ErrorCode::invalid_request);
      CHECK_FALSE(parsed.error().message.empty());
      continue;
    }
    ++accepted;
    CHECK(kernel::check_request(parsed->request));
  }
  CHECK(accepted > 100);  // some changes, within a string, do no harm
  CHECK(accepted < 19000);
}

TEST_CASE("a request may ask to be warm, with true or false") {
  CHECK_FALSE(parse_run_request(R"({"argv": ["true"]})")->warm);
  CHECK(parse_run_request(R"({"argv": ["true"], "warm": true})")->warm);
  CHECK_FALSE(parse_run_request(R"({"argv": ["true"], "warm": false})")->warm);
  CHECK(refusal(request_with("warm", "yes")) == "warm: must be true or false");
}
