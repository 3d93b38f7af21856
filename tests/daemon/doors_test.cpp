// The front doors, over TCP and over the Unix sockets, with real compilers.

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>

#include "supervisor/json/encoding.hpp"
#include "support/daemon_fixture.hpp"

using namespace paddock::supervisor;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

const std::string token = "0123456789abcdef-token";

struct TcpOptions {
  std::string more{};  // lines of [tcp]
  DaemonOptions daemon{};
};

// A daemon with the doors open on a port of its own.
struct Doors {
  explicit Doors(TcpOptions options = {})
      : token_file(files.write("token", token + "\n", 0600)),
        daemon(with_tcp(std::move(options))),
        port(port_in(daemon.log())) {}

  DaemonOptions with_tcp(TcpOptions options) const {
    options.daemon.config +=
        "[tcp]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"" + token_file + "\"\n" + options.more;
    return std::move(options.daemon);
  }
  static std::uint16_t port_in(const std::string& log) {
    const std::string before = "listening on 127.0.0.1:";
    const std::size_t at = log.find(before);
    REQUIRE(at != std::string::npos);
    return static_cast<std::uint16_t>(std::stoul(log.substr(at + before.size())));
  }

  std::string own_headers() const {
    return "Host: 127.0.0.1:" + std::to_string(port) + "\r\nAuthorization: Bearer " + token +
           "\r\n";
  }
  HttpReply send(const std::string& method, const std::string& target, const std::string& body,
                 const std::string& headers) const {
    HttpConnection connection(port);
    connection.send(method + " " + target + " HTTP/1.1\r\n" + headers +
                    "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return connection.receive_reply();
  }
  HttpReply get(const std::string& target) const { return send("GET", target, "", own_headers()); }
  HttpReply post(const std::string& target, const json& body) const {
    return send("POST", target, body.dump(), own_headers());
  }

  DaemonDirectory files;
  std::string token_file;
  DaemonFixture daemon;
  std::uint16_t port;
};

json python_code(const std::string& code) {
  return {{"language", "python"}, {"code", code}};
}

json answered(const HttpReply& reply) {
  INFO(reply.body);
  REQUIRE(reply.status == 200);
  return reply.json();
}

}  // namespace

// ---- Who is let in -----------------------------------------------------------------------------

TEST_CASE("TCP needs the token and this daemon's own name with each request") {
  if (!sandbox_works()) return;
  const Doors doors;
  const std::string host = "Host: 127.0.0.1:" + std::to_string(doors.port) + "\r\n";
  const std::string bearer = "Authorization: Bearer " + token + "\r\n";
  const auto status = [&](const std::string& headers) {
    return doors.send("GET", "/health", "", headers).status;
  };
  CHECK(status(host + bearer) == 200);
  CHECK(status("Host: localhost:" + std::to_string(doors.port) + "\r\n" + bearer) == 200);
  CHECK(status(host + "Authorization: Basic " + to_base64("any:" + token) + "\r\n") == 200);

  CHECK(status(host) == 401);
  CHECK(status(host + "Authorization: Bearer 0123456789abcdef-tokeN\r\n") == 401);
  CHECK(status(host + "Authorization: Bearer \r\n") == 401);
  CHECK(status("Host: evil.example:" + std::to_string(doors.port) + "\r\n" + bearer) == 421);
  CHECK(status("Host: 127.0.0.1\r\n" + bearer) == 421);
  const HttpReply refused = doors.send("POST", "/run_code", python_code("1").dump(), host);
  CHECK(refused.status == 401);
  CHECK(refused.header("WWW-Authenticate") == "Bearer");
  CHECK(doors.daemon.get("/v1/runs").json()["runs"].empty());
}

TEST_CASE("TCP serves the doors and nothing else") {
  if (!sandbox_works()) return;
  const Doors doors;
  for (const char* target : {"/v1/runs", "/v1/host", "/metrics", "/v1/events", "/v1/profiles"})
    CHECK(doors.get(target).status == 404);
  CHECK(doors.post("/v1/runs", {{"argv", {"true"}}}).status == 404);
  CHECK(doors.post("/v1/reload", nullptr).status == 404);
  CHECK(doors.get("/run_code").status == 405);
}

TEST_CASE("a run that sees the host's network gets nothing from TCP without the token") {
  const Doors doors;
  const std::string port = std::to_string(doors.port);
  const json run = doors.daemon.run(
      {{"profile", "DEFAULT"},
       {"argv",
        {"bash", "-c",
         "exec 3<>/dev/tcp/127.0.0.1/" + port + "; printf 'POST /run_code HTTP/1.1\\r\\nHost: " +
             "127.0.0.1:" + port + "\\r\\nContent-Length: 0\\r\\n\\r\\n' >&3; head -1 <&3; " +
             "cat " + doors.token_file}}});
  CHECK(run["result"]["stdout"].get<std::string>().find("401") != std::string::npos);
  // Of an ordinary user's daemon such a run has that user's files, whatever they are.
  if (::geteuid() == 0)
    CHECK(run["result"]["stderr"].get<std::string>().find("Permission denied") !=
          std::string::npos);
}

TEST_CASE("who is on TCP has the rights of the configured tenant, also after a reload") {
  if (!sandbox_works()) return;
  const DaemonDirectory access;
  const auto rules = [&](const std::string& verbs, const std::string& profiles) {
    return access.write("access.toml", "[[tenant]]\nname = \"trainer\"\nuids = [20001]\nverbs = [" +
                                           verbs + "]\nprofiles = [" + profiles + "]\n");
  };
  const std::string file = rules("\"run\"", "\"STRICT\"");
  Doors doors(
      {.more = "tenant = \"trainer\"\n", .daemon = {.config = "access = \"" + file + "\"\n"}});
  CHECK(answered(doors.post("/run_code", python_code("print(1)")))["status"] == "Success");
  CHECK(doors.daemon.get("/v1/runs").json()["runs"][0]["tenant"] == "trainer");

  rules("\"run\"", "\"DEFAULT\"");
  REQUIRE(doors.daemon.post("/v1/reload").status == 200);
  const HttpReply other_profile = doors.post("/run_code", python_code("print(1)"));
  CHECK(other_profile.status == 403);
  CHECK(other_profile.error_message() == "tenant 'trainer' may not use profile 'STRICT'");

  rules("\"verify\"", "\"STRICT\"");
  REQUIRE(doors.daemon.post("/v1/reload").status == 200);
  CHECK(doors.post("/run_code", python_code("print(1)")).status == 403);

  access.write("access.toml", "");
  REQUIRE(doors.daemon.post("/v1/reload").status == 200);
  CHECK(doors.post("/run_code", python_code("print(1)")).status == 403);
}

TEST_CASE("the feed is there on TCP, of the doors' own tenant alone") {
  if (!sandbox_works()) return;
  const Doors doors;
  CHECK(doors.get("/v1/feed").body.empty());
  const json item = {
      {"id", "a"},
      {"code", "def f(x): return x + 1"},
      {"tests",
       {{"kind", "call"}, {"entry_point", "f"}, {"cases", {{{"args", {1}}, {"expected", 2}}}}}}};
  CHECK(answered(doors.post("/v1/verify", {{"items", {item}}}))["items"][0]["reward"] == 1.0);
  const HttpReply feed = doors.get("/v1/feed?kind=verdict");
  REQUIRE(feed.status == 200);
  CHECK(json::parse(feed.body)["id"] == "a");
  CHECK(doors.send("GET", "/v1/feed", "", "Host: 127.0.0.1:" + std::to_string(doors.port) + "\r\n")
            .status == 401);
}

TEST_CASE("a reload takes a new token, and keeps the old one where the new one is none") {
  if (!sandbox_works()) return;
  Doors doors;
  const auto status = [&](const std::string& word) {
    return doors
        .send("GET", "/health", "",
              "Host: 127.0.0.1:" + std::to_string(doors.port) + "\r\nAuthorization: Bearer " +
                  word + "\r\n")
        .status;
  };
  HttpConnection following(doors.port);
  following.send("GET /v1/feed?follow=true HTTP/1.1\r\n" + doors.own_headers() + "\r\n");

  doors.files.write("token", "short\n", 0600);
  const HttpReply refused = doors.daemon.post("/v1/reload");
  CHECK(refused.status == 422);
  CHECK(refused.body.find("holds 5 bytes") != std::string::npos);
  CHECK(doors.daemon.health("config_stale") == true);
  CHECK(status(token) == 200);

  const std::string second = "another-token-altogether";
  doors.files.write("token", second + "\n", 0600);
  doors.daemon.signal(SIGHUP);
  REQUIRE(eventually([&] { return status(second) == 200; }));
  CHECK(status(token) == 401);
  CHECK(doors.daemon.health("config_stale") == false);
  CHECK(following.receive_reply().body.find("a reload has taken the right") != std::string::npos);
}

TEST_CASE("a daemon does not start with a [tcp] table that cannot be meant") {
  const DaemonDirectory directory;
  directory.make_directory("run");
  const auto refused = [&](const std::string& token_text, unsigned mode, const std::string& more) {
    directory.write("token", token_text, mode);
    directory.write("paddockd.toml", "[tcp]\nlisten = \"127.0.0.1:0\"\ntoken_file = \"" +
                                         directory.path("token") + "\"\n" + more);
    const DaemonAttempt attempt =
        try_daemon({"--runtime-dir", directory.path("run"), "--state-dir", directory.path("state"),
                    "--config", directory.path("paddockd.toml")});
    CHECK(attempt.ended.exit_status == 1);
    return attempt.standard_error;
  };
  CHECK(refused(token, 0644, "").find("has mode 0644; chmod it to 0600 or 0640") !=
        std::string::npos);
  CHECK(refused("short", 0600, "").find("holds 5 bytes") != std::string::npos);
  CHECK(refused(token, 0600, "tenant = \"nobody-here\"\n").find("'nobody-here' is not in") !=
        std::string::npos);
  CHECK(refused(token, 0600, "profile = \"STRIC\"\n").find("did you mean 'STRICT'?") !=
        std::string::npos);
}

TEST_CASE("the port closes with the daemon, and what runs then is no wrong answer") {
  if (!sandbox_works()) return;
  Doors doors({.daemon = {.config = "[limits]\ndrain_seconds = 1\n"}});
  HttpConnection waiting(doors.port);
  const std::string body = python_code("import time; time.sleep(60)").dump();
  waiting.send("POST /run_code HTTP/1.1\r\n" + doors.own_headers() +
               "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  REQUIRE(eventually([&] { return doors.daemon.health("runs_alive") == 1; }));
  doors.daemon.signal(SIGTERM);
  CHECK(waiting.receive_reply().status == 504);
  CHECK(doors.daemon.wait_for_end().exit_status == 0);
  CHECK_THROWS(HttpConnection(doors.port));
}

// ---- SandboxFusion -----------------------------------------------------------------------------

TEST_CASE("run_code runs code of each shipped language, over TCP and over both sockets") {
  if (!sandbox_works()) return;
  const Doors doors;
  std::vector<json> requests = {
      {{"language", "python"}, {"code", "print(input() + '!')"}},
      {{"language", "bash"}, {"code", "read line; echo \"$line!\""}},
      {{"language", "c"},
       {"code",
        "#include <stdio.h>\nint main() { char s[9]; scanf(\"%8s\", s); printf(\"%s!\\n\", s); }"}},
      {{"language", "cpp"},
       {"code",
        "#include <iostream>\nint main() { std::string s; std::cin >> s; std::cout << s << "
        "\"!\\n\"; }"}},
      {{"language", "nodejs"},
       {"code", "console.log(require('fs').readFileSync(0, 'utf8').trim() + '!')"}},
  };
  for (json& request : requests) {
    INFO(request["language"]);
    request["stdin"] = "hello\n";
    const HttpReply reply = doors.post("/run_code", request);
    if (reply.status == 501) {
      CHECK(reply.error_message().find("is unsupported on this host") != std::string::npos);
      continue;
    }
    const json answer = answered(reply);
    CHECK(answer["status"] == "Success");
    CHECK(answer["run_result"]["stdout"] == "hello!\n");
    CHECK(answer["run_result"]["status"] == "Finished");
    const bool compiles = request["language"] == "c" || request["language"] == "cpp";
    CHECK(answer["compile_result"].is_null() != compiles);
  }
  CHECK(answered(doors.daemon.post("/run_code", requests[0]))["status"] == "Success");
  CHECK(answered(http(doors.daemon.trainer_socket(), "POST", "/run_code", requests[0]))["status"] ==
        "Success");
}

TEST_CASE("run_code takes files in and gives files out, byte for byte") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  std::string bytes;
  for (int i = 0; i < 1024; ++i) bytes += static_cast<char>(i);
  json request = python_code(
      "import pkg.helper, shutil, os\n"
      "shutil.copy('data.bin', 'out.bin')\n"
      "print(pkg.helper.x)\n"
      "os.symlink('/etc/passwd', 'link')\n");
  request["files"] = {{"data.bin", to_base64(bytes)},
                      {"pkg/helper.py", to_base64("x = 42\n")},
                      {"ignored", nullptr}};
  request["fetch_files"] = {"out.bin", "missing", "link"};
  const json answer = answered(daemon.post("/run_code", request));
  CHECK(answer["run_result"]["stdout"] == "42\n");
  CHECK(answer["files"] == json{{"out.bin", to_base64(bytes)}});
}

TEST_CASE("run_code compiles and runs a program of 200 KiB") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  std::string code = "#include <cstdio>\n";
  while (code.size() < (200u << 10)) code += "// filler filler filler filler filler filler\n";
  code += "int main() { std::puts(\"large\"); }\n";
  const json answer = answered(daemon.post("/run_code", {{"language", "cpp"}, {"code", code}}));
  CHECK(answer["run_result"]["stdout"] == "large\n");
}

TEST_CASE("run_code tells how code failed") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const auto ran = [&](json request) { return answered(daemon.post("/run_code", request)); };

  const json broken = ran({{"language", "cpp"}, {"code", "int main() { return x; }"}});
  CHECK(broken["status"] == "Failed");
  CHECK(broken["compile_result"]["return_code"] == 1);
  CHECK(broken["compile_result"]["stderr"].get<std::string>().find("error") != std::string::npos);
  CHECK(broken["run_result"].is_null());

  const json raised = ran(python_code("raise SystemExit(3)"));
  CHECK(raised["status"] == "Failed");
  CHECK(raised["run_result"]["return_code"] == 3);

  const json killed = ran(python_code("import os; os.kill(os.getpid(), 11)"));
  CHECK(killed["run_result"]["return_code"] == -11);

  json slow = python_code("import time; print('began', flush=True); time.sleep(60)");
  slow["run_timeout"] = 1;
  const json late = ran(slow);
  CHECK(late["status"] == "Failed");
  CHECK(late["run_result"]["status"] == "TimeLimitExceeded");
  CHECK(late["run_result"]["stdout"] == "began\n");

  json large = python_code("print(1)");
  large["memory_limit_MB"] = 1024;
  const json lowered = ran(large);
  CHECK(lowered["status"] == "Success");
  CHECK(lowered["message"].get<std::string>().find("memory of 1073741824 bytes to 536870912") !=
        std::string::npos);
}

TEST_CASE("run_code refuses what it cannot take, and nothing runs") {
  const DaemonFixture daemon;
  const auto status = [&](json request) { return daemon.post("/run_code", request).status; };
  CHECK(status({{"language", "cobol"}, {"code", ""}}) == 400);
  CHECK(status({{"language", "python"}}) == 400);
  json request = python_code("1");
  request["files"] = {{"../../etc/cron.d/x", ""}};
  CHECK(status(request) == 400);
  request["files"] = {{"main.py", ""}};
  CHECK(status(request) == 400);
  CHECK(daemon.get("/v1/runs").json()["runs"].empty());
}

TEST_CASE("run_code sheds load with 504, which its clients try again") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\nruns_queued = 1\n"});
  daemon.run(shell("true"));
  answered(daemon.post("/run_code", python_code("1")));  // the version is known from now on
  const std::string first = daemon.start(shell("sleep 60"));
  const std::string second = daemon.start(shell("sleep 60"));
  const HttpReply refused = daemon.post("/run_code", python_code("print(1)"));
  CHECK(refused.status == 504);
  CHECK(refused.header("Retry-After") == "1");
  daemon.remove("/v1/runs/" + first);
  daemon.remove("/v1/runs/" + second);
}

TEST_CASE("a client of run_code that leaves takes its run with it") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  HttpConnection client(daemon.socket());
  client.send_request("POST", "/run_code", python_code("import time; time.sleep(60)").dump());
  REQUIRE(eventually([&] { return daemon.health("runs_alive") == 1; }));
  client.vanish();
  CHECK(eventually([&] { return daemon.health("runs_alive") == 0; }));
}

TEST_CASE("run_code gives up a run that the queue holds for too long") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon({.config = "[limits]\nruns_alive = 1\n"});
  answered(daemon.post("/run_code", python_code("1")));
  const std::string blocker = daemon.start(shell("sleep 60"));
  json request = python_code("print(1)");
  request["run_timeout"] = 0.1;
  const HttpReply refused = daemon.post("/run_code", request);
  CHECK(refused.status == 504);
  CHECK(daemon.health("runs_queued") == 0);
  daemon.remove("/v1/runs/" + blocker);
}

// ---- Piston ------------------------------------------------------------------------------------

TEST_CASE("Piston's list has the languages of this host with their versions") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon(
      {.runtimes = {{"missing.toml",
                     "name = \"missing\"\nsource = \"m\"\n[run]\ncommand = [\"no-such-thing\"]\n"
                     "[version]\ncommand = [\"no-such-thing\"]\n"}}});
  const json list = answered(daemon.get("/api/v2/runtimes"));
  std::map<std::string, json> by_name;
  for (const json& runtime : list) by_name[runtime["language"]] = runtime;
  CHECK_FALSE(by_name.contains("missing"));
  REQUIRE(by_name.contains("python"));
  CHECK(by_name["python"]["version"].get<std::string>().starts_with("3."));
  CHECK(by_name["python"]["aliases"] == json{"python3", "py"});

  const HttpReply absent =
      daemon.post("/api/v2/execute",
                  {{"language", "missing"}, {"version", "*"}, {"files", {{{"content", ""}}}}});
  CHECK(absent.status == 501);
  CHECK(absent.json()["message"].get<std::string>().find(
            "language 'missing' is unsupported on this host") != std::string::npos);
}

TEST_CASE("Piston's execute runs the first file beside the others") {
  if (!sandbox_works()) return;
  const Doors doors;
  const json answer = answered(doors.post(
      "/api/v2/execute",
      {{"language", "py"},
       {"version", "3.x"},
       {"files",
        {{{"name", "solution.py"},
          {"content",
           "import sys, other\nprint(other.x, sys.argv[1])\n"
           "print(input(), file=sys.stderr)\nsys.exit(3)"}},
         {{"name", "other.py"}, {"content", to_base64("x = 7")}, {"encoding", "base64"}}}},
       {"stdin", "in"},
       {"args", {"arg"}}}));
  CHECK(answer["language"] == "python");
  CHECK(answer["run"]["stdout"] == "7 arg\n");
  CHECK(answer["run"]["stderr"] == "in\n");
  CHECK(answer["run"]["code"] == 3);
  CHECK(answer["run"]["signal"].is_null());
  CHECK(answer["run"]["status"] == "RE");
  CHECK_FALSE(answer.contains("compile"));
}

TEST_CASE("Piston's execute tells a compiler's errors, a timeout and a wrong version") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const auto execute = [&](const std::string& language, const std::string& version,
                           const std::string& code, const json& more = json::object()) {
    json body = {{"language", language}, {"version", version}, {"files", {{{"content", code}}}}};
    body.update(more);
    return daemon.post("/api/v2/execute", body);
  };
  const json broken = answered(execute("c++", "*", "int main( {"));
  CHECK(broken["compile"]["code"] == 1);
  CHECK(broken["compile"]["status"] == "RE");
  CHECK_FALSE(broken.contains("run"));

  const json late =
      answered(execute("python", "*", "import time; time.sleep(60)", {{"run_timeout", 500}}));
  CHECK(late["run"]["status"] == "TO");
  CHECK(late["run"]["code"].is_null());

  const HttpReply old = execute("python", "2.7", "print 1");
  CHECK(old.status == 400);
  CHECK(old.json()["message"].get<std::string>().find("python-2.7 runtime is unknown") !=
        std::string::npos);
  CHECK(execute("cobol", "*", "").status == 400);
}

// ---- rlox --------------------------------------------------------------------------------------

TEST_CASE("rlox's verify gives its reward and its numbers, over TCP and over both sockets") {
  if (!sandbox_works()) return;
  const Doors doors;
  const json right = {{"code", "def f(x):\n    return x + 1\n"},
                      {"tests", "assert f(1) == 2\nassert f(2) == 3\n"},
                      {"is_adversarial", false}};
  const json answer = answered(doors.post("/verify", right));
  CHECK(answer["reward"] == 1.0);
  CHECK(answer["backend_stats"].size() == 14);
  CHECK(answer["backend_stats"]["rollouts_completed"] == 1);
  CHECK(answered(doors.daemon.post("/verify", right))["reward"] == 1.0);
  CHECK(answered(http(doors.daemon.trainer_socket(), "POST", "/verify", right))["reward"] == 1.0);

  json half = right;
  half["code"] = "def f(x):\n    return 2\n";
  CHECK(answered(doors.post("/verify", half))["reward"] == 0.0);
  json forged = right;
  forged["code"] = "import os\nos._exit(0)\n";
  forged["is_adversarial"] = true;
  const json contained = answered(doors.post("/verify", forged));
  CHECK(contained["reward"] == 0.0);
  CHECK(contained["backend_stats"]["adversarial_contained"] == 1);
}

TEST_CASE("rlox's verify refuses tests that test nothing, and gives no reward for them") {
  const DaemonFixture daemon;
  CHECK(daemon.post("/verify", {{"code", "x = 1"}, {"tests", ""}}).status == 400);
  CHECK(daemon.post("/verify", {{"code", "x = 1"}, {"tests", "print(1)"}}).status == 400);
  CHECK(daemon.post("/verify", {{"code", "x = 1"}}).status == 400);
}

TEST_CASE("rlox's verify has no reward for what the host is to blame for") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon({.config = "[limits]\ndrain_seconds = 1\n"});
  HttpConnection waiting(daemon.socket());
  waiting.send_request(
      "POST", "/verify",
      json{{"code", "import time\ntime.sleep(60)\n"}, {"tests", "assert f() == 1"}}.dump());
  REQUIRE(eventually([&] { return daemon.health("runs_alive") != 0; }));
  daemon.signal(SIGTERM);
  const HttpReply reply = waiting.receive_reply();
  INFO(reply.body);
  CHECK(reply.status == 503);
}

TEST_CASE("a verify request over TCP stays within the profiles of TCP") {
  if (!sandbox_works()) return;
  const Doors doors;
  json request = {{"items",
                   {{{"id", "a"},
                     {"code", "def f(x): return x"},
                     {"tests", {{"kind", "assert"}, {"source", "assert f(1) == 1"}}}}}}};
  CHECK(answered(doors.post("/v1/verify", request))["items"][0]["reward"] == 1.0);
  request["profile"] = "OFF";
  CHECK(doors.post("/v1/verify", request).status == 403);
}

// ---- Runtimes ----------------------------------------------------------------------------------

TEST_CASE("a language that an operator writes is there after a reload") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const json request = {{"language", "upper"}, {"code", "shout"}};
  CHECK(daemon.post("/run_code", request).status == 400);
  const std::string path = daemon.directory().write(
      "runtimes/upper.toml",
      "name = \"upper\"\nsource = \"text\"\n[run]\ncommand = [\"tr\", \"a-z\", \"A-Z\"]\n");
  REQUIRE(daemon.post("/v1/reload").status == 200);
  json with_input = request;
  with_input["stdin"] = "abc";
  CHECK(answered(daemon.post("/run_code", with_input))["run_result"]["stdout"] == "ABC");

  daemon.directory().write("runtimes/upper.toml", "name = \"upper\"\n");
  const HttpReply reload = daemon.post("/v1/reload");
  CHECK(reload.status == 422);
  CHECK(reload.body.find(path) != std::string::npos);
  CHECK(answered(daemon.post("/run_code", with_input))["run_result"]["stdout"] == "ABC");
}
