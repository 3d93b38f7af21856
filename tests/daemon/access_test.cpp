// Clients of other users, as the kernel tells the daemon who they are: children of the test that
// have given up root.

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>
#include <sstream>
#include <thread>

#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/verify/verdict_transition.hpp"
#include "support/daemon_fixture.hpp"

using nlohmann::json;

namespace {

// Groups and users that a host need not know. The sockets' group has to have a name: Debian's
// gid 1.
constexpr gid_t socket_group = 1;
constexpr uid_t alice = 20001;
constexpr uid_t bob = 20002;
constexpr uid_t watcher = 20003;
constexpr uid_t stranger = 20009;
constexpr gid_t bobs_group = 20100;

constexpr const char* access_rules = R"(socket_group = "daemon"
[[tenant]]
name = "red"
uids = [20001]
verbs = ["run", "read", "kill"]
profiles = ["OFF", "DEFAULT"]
runs_alive = 2
runs_queued = 1
[[tenant]]
name = "blue"
gids = [20100]
verbs = ["run", "read", "kill", "operate"]
[[tenant]]
name = "watch"
uids = [20003]
verbs = ["read", "kill"]
sees = "all"
)";

struct Client {
  uid_t uid;
  std::vector<gid_t> groups{socket_group};
  bool is_in_user_namespace = false;

  void become() const {
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(uid, uid, uid) != 0 ||
        ::setresuid(uid, uid, uid) != 0)
      ::_exit(120);
    if (is_in_user_namespace && ::unshare(CLONE_NEWUSER) != 0) ::_exit(123);
  }
};

// What a process of that user gets; status 0 with the reason if it could not even ask.
HttpReply ask(const Client& client, const std::string& socket, const std::string& method,
              const std::string& target, const json& body = nullptr) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    client.become();
    std::string answer;
    try {
      const HttpReply reply = http(socket, method, target, body);
      answer = std::to_string(reply.status) + "\n" + reply.body;
    } catch (const std::exception& error) {
      answer = std::string("0\n") + error.what();
    }
    [[maybe_unused]] const auto written = ::write(ends[1], answer.data(), answer.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string answer;
  char buffer[65536];
  for (ssize_t n = 0; (n = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    answer.append(buffer, static_cast<std::size_t>(n));
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  const std::size_t line = answer.find('\n');
  REQUIRE(line != std::string::npos);
  HttpReply reply;
  reply.status = std::stoi(answer.substr(0, line));
  reply.body = answer.substr(line + 1);
  return reply;
}

const Client red{alice};
const Client blue{bob, {socket_group, bobs_group}};
const Client watch{watcher};

struct Shared {
  explicit Shared(const std::string& text = access_rules, const std::string& more_config = "",
                  std::function<void()> in_child = {},
                  const std::map<std::string, std::string>& agents = {})
      : file(files.write("access.toml", text)),
        daemon({.config = "access = \"" + file + "\"\n" + more_config,
                .agents = agents,
                .in_child = std::move(in_child)}) {}

  HttpReply get(const Client& client, const std::string& target) const {
    return ask(client, daemon.socket(), "GET", target);
  }
  HttpReply post(const Client& client, const std::string& target,
                 const json& body = nullptr) const {
    return ask(client, daemon.socket(), "POST", target, body);
  }
  HttpReply remove(const Client& client, const std::string& target) const {
    return ask(client, daemon.socket(), "DELETE", target);
  }
  std::string start(const Client& client, json request) const {
    request["detach"] = true;
    const HttpReply reply = post(client, "/v1/runs", request);
    INFO(reply.body);
    REQUIRE(reply.status == 202);
    return reply.json()["id"];
  }
  std::size_t listed(const Client& client) const {
    const HttpReply reply = get(client, "/v1/runs");
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    return reply.json()["runs"].size();
  }

  DaemonDirectory files;
  std::string file;
  DaemonFixture daemon;
};

bool may_test() {
  if (!is_root()) return false;
  const group* found = ::getgrnam("daemon");
  if (found != nullptr && found->gr_gid == socket_group) return true;
  std::puts("UNSUPPORTED: this host's group 1 is not named daemon");
  return false;
}

std::string mode_and_group(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  char text[32];
  std::snprintf(text, sizeof text, "%04o %u", status.st_mode & 07777, status.st_gid);
  return text;
}

std::string directory_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

}  // namespace

TEST_CASE("tenants run, look at and kill their own, and do not find each other's") {
  if (!may_test()) return;
  const Shared shared;
  const std::string of_red = shared.start(red, shell("sleep 300"));
  const std::string of_blue = shared.start(blue, shell("sleep 300"));
  const std::string of_operator = shared.daemon.start(shell("sleep 300"));
  shared.daemon.wait_until_started(of_red);

  CHECK(shared.get(red, "/v1/runs/" + of_red).json()["tenant"] == "red");
  CHECK(shared.get(blue, "/v1/runs/" + of_blue).json()["tenant"] == "blue");
  const HttpReply unknown = shared.get(red, "/v1/runs/r-0000000000000000");
  CHECK(unknown.status == 404);
  for (const std::string& foreign : {of_blue, of_operator}) {
    const HttpReply hidden = shared.get(red, "/v1/runs/" + foreign);
    CHECK(hidden.status == 404);
    CHECK(hidden.error_message() == "no run '" + foreign + "'");
    CHECK(shared.get(red, "/v1/runs/" + foreign + "?wait_seconds=5").status == 404);
    CHECK(shared.remove(red, "/v1/runs/" + foreign).status == 404);
    CHECK(shared.post(red, "/v1/runs/" + foreign + "/stdin", "x").status == 404);
  }
  CHECK(shared.listed(red) == 1);
  CHECK(shared.listed(blue) == 1);
  CHECK(shared.listed(watch) == 3);
  CHECK(shared.get(red, "/health").json()["runs_alive"] == 1);
  CHECK(shared.get(watch, "/health").json()["runs_alive"] == 3);
  CHECK(shared.daemon.health("runs_alive") == 3);

  CHECK(shared.get(watch, "/v1/runs/" + of_blue).status == 200);
  CHECK(shared.remove(watch, "/v1/runs/" + of_blue).status == 202);
  CHECK(shared.daemon.finished(of_blue)["result"]["cause"] == "killed_by_request");
  CHECK(shared.remove(red, "/v1/runs/" + of_red).status == 202);
  CHECK(shared.daemon.get("/v1/runs/" + of_operator).json()["state"] == "running");
}

TEST_CASE("what only the ledger remembers of a run is its tenant's, too") {
  if (!may_test()) return;
  const Shared shared(access_rules, "[limits]\nruns_finished = 1\n");
  const std::string first = shared.post(red, "/v1/runs", shell("true")).json()["id"];
  for (int i = 0; i < 3; ++i) CHECK(shared.post(blue, "/v1/runs", shell("true")).status == 200);
  CHECK(shared.get(red, "/v1/runs/" + first).status == 200);
  CHECK(shared.get(watch, "/v1/runs/" + first).status == 200);
  CHECK(shared.get(blue, "/v1/runs/" + first).status == 404);
  CHECK(shared.listed(red) == 1);
  CHECK(shared.listed(blue) == 3);
  CHECK(shared.listed(watch) == 4);
}

TEST_CASE("each call takes its verb, and the one that is missing is named") {
  if (!may_test()) return;
  struct Call {
    const char* verb;
    const char* method;
    const char* target;
  };
  // Of each verb every call, also those on things that are not there.
  constexpr Call calls[] = {
      {"run", "POST", "/v1/runs"},
      {"run", "POST", "/v1/plan"},
      {"run", "POST", "/v1/runs/r-0/stdin"},
      {"read", "GET", "/v1/runs"},
      {"read", "GET", "/v1/runs/r-0"},
      {"read", "GET", "/v1/profiles"},
      {"read", "GET", "/v1/profiles/OFF"},
      {"read", "GET", "/v1/agents"},
      {"read", "GET", "/v1/agents/none"},
      {"read", "GET", "/v1/host"},
      {"read", "GET", "/v1/doctor"},
      {"kill", "DELETE", "/v1/runs/r-0"},
      {"read", "GET", "/v1/agents/none/budget"},
      {"agent", "GET", "/v1/agents/none/logs"},
      {"agent", "POST", "/v1/agents/none/start"},
      {"agent", "POST", "/v1/agents/none/stop"},
      {"agent", "POST", "/v1/agents/none/restart"},
      {"budget", "POST", "/v1/agents/none/budget/grant"},
      {"verify", "POST", "/v1/verify"},
      {"operate", "POST", "/v1/reload"},
      {"operate", "GET", "/v1/keys"},
      {"operate", "POST", "/v1/keys"},
      {"verify", "GET", "/v1/feed"},
  };
  std::string text = "socket_group = \"daemon\"\n";
  std::map<std::string, Client> has_only;
  std::map<std::string, Client> lacks_only;
  const std::vector<std::string> verbs = {"run",    "read",   "kill",   "agent",
                                          "budget", "verify", "operate"};
  uid_t next = 21000;
  for (const std::string& verb : verbs) {
    std::string others;
    for (const std::string& other : verbs)
      if (other != verb) others += "\"" + other + "\", ";
    has_only[verb] = Client{++next};
    text += "[[tenant]]\nname = \"only-" + verb + "\"\nuids = [" + std::to_string(next) +
            "]\nverbs = [\"" + verb + "\"]\n";
    lacks_only[verb] = Client{++next};
    text += "[[tenant]]\nname = \"no-" + verb + "\"\nuids = [" + std::to_string(next) +
            "]\nverbs = [" + others + "]\n";
  }
  const Shared shared(text);
  for (const Call& call : calls) {
    INFO(call.method << " " << call.target);
    CHECK(ask(has_only.at(call.verb), shared.daemon.socket(), call.method, call.target).status !=
          403);
    const HttpReply refused =
        ask(lacks_only.at(call.verb), shared.daemon.socket(), call.method, call.target);
    CHECK(refused.status == 403);
    CHECK(refused.error_code() == "forbidden");
    CHECK(refused.error_message() ==
          std::string("tenant 'no-") + call.verb + "' does not have the verb '" + call.verb + "'");
  }
  CHECK(shared.get(lacks_only.at("read"), "/health").status == 200);
  CHECK(ask(lacks_only.at("read"), shared.daemon.trainer_socket(), "GET", "/health").status == 200);
}

TEST_CASE("whoever is in no tenant, and every uid for runs, is refused on both sockets") {
  if (!may_test()) return;
  const Shared shared;
  for (const std::string& socket : {shared.daemon.socket(), shared.daemon.trainer_socket()}) {
    const HttpReply refused = ask(Client{stranger}, socket, "GET", "/health");
    CHECK(refused.status == 403);
    CHECK(refused.error_message() == "no tenant has uid 20009 or one of its groups");
    // In bob's group, as a run that shares a directory with bob may be.
    const HttpReply run = ask(Client{60578, {socket_group, bobs_group}}, socket, "GET", "/health");
    CHECK(run.status == 403);
    CHECK(run.error_message() == "a process of a run may not use this socket");
  }
  // Who is not in the sockets' group does not get that far.
  CHECK(ask(Client{alice, {}}, shared.daemon.socket(), "GET", "/health").status == 0);
}

TEST_CASE("a tenant asks in its own name and for its own profiles") {
  if (!may_test()) return;
  const Shared shared;
  json request = shell("true");
  request["tenant"] = "red";
  CHECK(shared.post(red, "/v1/runs", request).json()["tenant"] == "red");
  request["tenant"] = "blue";
  CHECK(shared.post(red, "/v1/runs", request).error_message() ==
        "tenant 'red' may not ask for tenant 'blue'");
  CHECK(shared.daemon.run(request)["tenant"] == "blue");  // the operator may
  const HttpReply profile = shared.post(red, "/v1/runs", shell("true", "STRICT"));
  CHECK(profile.status == 403);
  CHECK(profile.error_message() == "tenant 'red' may not use profile 'STRICT'");
  CHECK(shared.post(red, "/v1/plan", shell("true", "STRICT")).status == 403);
}

TEST_CASE("an agent is its tenant's, and is not there for others") {
  if (!may_test()) return;
  const auto agent = [](const std::string& name, const std::string& tenant) {
    return "name = \"" + name + "\"\nprofile = \"OFF\"\ncommand = [\"true\"]\ntenant = \"" +
           tenant + "\"\n[budget]\ntokens = 5\n";
  };
  const Shared shared(access_rules, "", {},
                      {{"a.toml", agent("reds", "red")}, {"b.toml", agent("blues", "blue")}});
  const json visible = shared.get(red, "/v1/agents").json()["agents"];
  REQUIRE(visible.size() == 1);
  CHECK(visible[0]["name"] == "reds");
  CHECK(shared.get(watch, "/v1/agents").json()["agents"].size() > 2);
  CHECK(shared.get(red, "/v1/agents/reds").status == 200);
  CHECK(shared.get(red, "/v1/agents/reds/budget").status == 200);
  for (const char* target : {"/v1/agents/blues", "/v1/agents/blues/budget"}) {
    const HttpReply hidden = shared.get(red, target);
    CHECK(hidden.status == 404);
    CHECK(hidden.error_message() == "unknown agent 'blues'; known are 'reds'");
  }
  const HttpReply run = shared.post(red, "/v1/runs", {{"agent", "blues"}});
  CHECK(run.status == 404);
  CHECK(run.error_message() == "unknown agent 'blues'; known are 'reds'");
  CHECK(shared.post(red, "/v1/runs", {{"agent", "reds"}}).status == 200);
}

TEST_CASE("a tenant has no more runs alive and waiting than its own limits, and others start") {
  if (!may_test()) return;
  const Shared shared;
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(shared.start(red, shell("sleep 300")));
  REQUIRE(eventually([&] { return shared.daemon.health("runs_alive") == 2; }));
  CHECK(shared.daemon.health("runs_queued") == 1);
  const HttpReply full = shared.post(red, "/v1/runs", shell("true"));
  CHECK(full.status == 429);
  CHECK(full.error_message() ==
        "the queue of tenant 'red' is full (1 runs, and 2 of its runs are alive); try again later");
  const HttpReply other = shared.post(blue, "/v1/runs", shell("true"));
  CHECK(other.status == 200);
  CHECK(shared.get(red, "/v1/runs/" + ids[2]).json()["state"] == "queued");
  CHECK(shared.get(blue, "/health").json()["runs_queued"] == 0);
  CHECK(shared.remove(red, "/v1/runs/" + ids[0]).status == 202);
  CHECK(eventually(
      [&] { return shared.get(red, "/v1/runs/" + ids[2]).json()["state"] == "running"; }));
}

TEST_CASE("a reload takes the whole of access.toml or nothing, for open connections too") {
  if (!may_test()) return;
  const Shared shared;
  const std::string run = shared.start(red, shell("sleep 300"));
  CHECK(shared.post(red, "/v1/reload").status == 403);

  shared.files.write("access.toml", "[[tenant]]\nname = \"new\"\nuids = [20001, 0]\nverbs = []\n");
  const HttpReply bad = shared.post(blue, "/v1/reload");
  CHECK(bad.status == 422);
  REQUIRE(bad.json()["error"]["diagnostics"].size() == 1);
  CHECK(bad.json()["error"]["diagnostics"][0]["file"] == shared.file);
  CHECK(bad.json()["error"]["diagnostics"][0]["line"] == 3);
  CHECK(bad.json()["error"]["diagnostics"][0]["column"] == 16);
  CHECK(shared.get(red, "/health").json()["config_stale"] == true);
  CHECK(shared.get(red, "/v1/runs/" + run).status == 200);

  // One connection, before and after: the child tells when it has its first answer.
  int told[2];
  int go[2];
  REQUIRE(::pipe(told) == 0);
  REQUIRE(::pipe(go) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    red.become();
    HttpConnection connection(shared.daemon.socket());
    connection.send_request("GET", "/v1/runs");
    if (connection.receive_reply().status != 200) ::_exit(1);
    char byte = 'x';
    if (::write(told[1], &byte, 1) != 1 || ::read(go[0], &byte, 1) != 1) ::_exit(2);
    connection.send_request("GET", "/v1/runs");
    ::_exit(connection.receive_reply().status == 403 ? 0 : 3);
  }
  char byte = 0;
  REQUIRE(::read(told[0], &byte, 1) == 1);
  shared.files.write("access.toml",
                     "socket_group = \"daemon\"\n[[tenant]]\nname = \"red\"\n"
                     "uids = [20002]\nverbs = [\"read\"]\n");
  CHECK(shared.daemon.post("/v1/reload").status == 200);
  REQUIRE(::write(go[1], &byte, 1) == 1);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  for (const int fd : {told[0], told[1], go[0], go[1]}) ::close(fd);
  // The run kept its tenant, whose name bob has now.
  CHECK(shared.get(Client{bob}, "/v1/runs/" + run).json()["tenant"] == "red");
}

// Goal: what a client listens to ends with its right to it, also where nothing happens to be said.
TEST_CASE("a reload ends the open streams of those who lose the right to them, and no others") {
  if (!may_test()) return;
  const std::string may = R"(socket_group = "daemon"
[[tenant]]
name = "red"
uids = [20001]
verbs = ["run", "read", "agent"]
)";
  const Shared shared(may, "", {},
                      {{"a.toml",
                        "name = \"quiet\"\nprofile = \"OFF\"\ncommand = [\"/bin/sh\", \"-c\", "
                        "\"echo up; sleep 300\"]\ntenant = \"red\"\n"}});
  REQUIRE(shared.post(red, "/v1/agents/quiet/start?wait_seconds=20").status == 202);
  struct Listener {
    const char* method;
    const char* target;
    json body;
    std::string last{};  // of what it gets until its stream ends
    pid_t pid = -1;
    int told = -1;
  };
  const auto listen = [&](Listener& listener) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    listener.pid = ::fork();
    REQUIRE(listener.pid >= 0);
    if (listener.pid == 0) {
      red.become();
      int exit_status = 1;
      try {
        HttpConnection connection(shared.daemon.socket());
        connection.send_request(listener.method, listener.target,
                                listener.body.is_null() ? "" : listener.body.dump());
        if (connection.receive_head().status != 200) ::_exit(2);
        const json first = connection.receive_event();
        if (first.is_null() || ::write(ends[1], "x", 1) != 1) ::_exit(3);
        json last;
        for (json next = first; !next.is_null(); next = connection.receive_event()) last = next;
        exit_status = last.dump().find(listener.last) != std::string::npos ? 0 : 4;
      } catch (const std::exception&) {
      }
      ::_exit(exit_status);
    }
    ::close(ends[1]);
    listener.told = ends[0];
    char byte = 0;
    REQUIRE(::read(listener.told, &byte, 1) == 1);
  };
  const auto ended = [](Listener& listener) {
    int status = 0;
    if (::waitpid(listener.pid, &status, WNOHANG) != listener.pid) return false;
    ::close(listener.told);
    INFO(listener.target);
    CHECK(WEXITSTATUS(status) == 0);
    listener.pid = -1;
    return true;
  };
  const std::string revoked = "a reload has taken the right to this stream";
  json streamed = shell("echo on; sleep 3; echo last");
  streamed["stream"] = true;
  Listener events{"GET", "/v1/events?follow=true", nullptr, revoked};
  // Nothing of that kind ever comes.
  Listener logs{"GET", "/v1/agents/quiet/logs?follow=true", nullptr, revoked};
  Listener run{"POST", "/v1/runs", streamed, "\"cause\":\"exited\""};
  listen(events);
  listen(logs);
  // One that keeps its rights keeps its streams.
  shared.files.write("access.toml", may + "runs_alive = 5\n");
  CHECK(shared.daemon.post("/v1/reload").status == 200);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK_FALSE(ended(events));
  CHECK_FALSE(ended(logs));
  listen(run);
  shared.files.write("access.toml",
                     "socket_group = \"daemon\"\n[[tenant]]\nname = \"red\"\n"
                     "uids = [20001]\nverbs = [\"kill\"]\n");
  CHECK(shared.daemon.post("/v1/reload").status == 200);
  CHECK(eventually([&] { return ended(events); }, std::chrono::seconds(5)));
  CHECK(eventually([&] { return ended(logs); }, std::chrono::seconds(5)));
  CHECK(eventually([&] { return ended(run); }, std::chrono::seconds(15)));
}

TEST_CASE("a tenant's feed has its own verdicts, and ends with the right to them") {
  if (!may_test()) return;
  namespace sv = paddock::supervisor;
  const std::string may = R"(socket_group = "daemon"
[[tenant]]
name = "red"
uids = [20001]
verbs = ["verify"]
[[tenant]]
name = "blue"
gids = [20100]
verbs = ["verify"]
[[tenant]]
name = "watch"
uids = [20003]
verbs = ["verify"]
sees = "all"
)";
  Shared shared(may);
  shared.daemon.signal(SIGKILL);
  shared.daemon.wait_for_end();
  {
    auto writer = sv::LedgerWriter::open(shared.daemon.directory().path("state/ledger.db"),
                                         sv::LedgerSync::normal);
    REQUIRE(writer);
    std::vector<sv::Transition> transitions;
    for (const char* tenant : {"red", "blue", "", "red"}) {
      sv::ItemAnswer answer;
      answer.id = std::string("of ") + tenant;
      // The same request_id: it is each tenant's own.
      transitions.push_back(
          sv::verdict_transition(answer, "{}", "step-1", tenant, std::chrono::system_clock::now()));
    }
    REQUIRE(writer->apply(transitions));
  }
  shared.daemon.start_again();
  const auto tenants_in = [&](const Client& client, const std::string& query = "") {
    const HttpReply reply = ask(client, shared.daemon.trainer_socket(), "GET", "/v1/feed" + query);
    INFO(reply.body);
    REQUIRE(reply.status == 200);
    std::string tenants;
    std::istringstream lines(reply.body);
    for (std::string line; std::getline(lines, line);)
      tenants += "(" + json::parse(line).at("tenant").get<std::string>() + ")";
    return tenants;
  };
  CHECK(tenants_in(red) == "(red)(red)");
  CHECK(tenants_in(blue) == "(blue)");
  CHECK(tenants_in(watch) == "(red)(blue)()(red)");
  CHECK(tenants_in(red, "?after=1&limit=1") == "(red)");

  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    red.become();
    try {
      HttpConnection connection(shared.daemon.trainer_socket());
      connection.send_request("GET", "/v1/feed?follow=true");
      if (connection.receive_head().status != 200) ::_exit(2);
      json last = connection.receive_event();
      if (last.is_null() || ::write(ends[1], "x", 1) != 1) ::_exit(3);
      for (json next = last; !next.is_null(); next = connection.receive_event()) last = next;
      ::_exit(last.dump().find("a reload has taken the right to this stream") != std::string::npos
                  ? 0
                  : 4);
    } catch (const std::exception&) {
      ::_exit(1);
    }
  }
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 1);
  ::close(ends[0]);
  shared.files.write("access.toml",
                     "socket_group = \"daemon\"\n[[tenant]]\nname = \"red\"\n"
                     "uids = [20001]\nverbs = [\"read\"]\n");
  CHECK(shared.daemon.post("/v1/reload").status == 200);
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(ask(red, shared.daemon.trainer_socket(), "GET", "/v1/feed").status == 403);
}

TEST_CASE("the sockets are the group's, and follow it at a reload") {
  if (!may_test()) return;
  const Shared shared;
  const std::string directory = directory_of(shared.daemon.socket());
  CHECK(mode_and_group(directory) == "0750 1");
  CHECK(mode_and_group(shared.daemon.socket()) == "0660 1");
  CHECK(mode_and_group(shared.daemon.trainer_socket()) == "0660 1");
  shared.files.write("access.toml", "[[tenant]]\nname = \"red\"\nuids = [20001]\nverbs = []\n");
  CHECK(shared.daemon.post("/v1/reload").status == 200);
  CHECK(mode_and_group(directory).starts_with("0700"));
  CHECK(mode_and_group(shared.daemon.socket()).starts_with("0600"));
  CHECK(shared.get(red, "/health").status == 0);
  shared.files.write("access.toml", access_rules);
  CHECK(shared.daemon.post("/v1/reload").status == 200);
  CHECK(mode_and_group(directory) == "0750 1");
  CHECK(mode_and_group(shared.daemon.socket()) == "0660 1");
  CHECK(shared.get(red, "/health").status == 200);
}

TEST_CASE("a daemon does not start with a mistake in access.toml") {
  const DaemonDirectory files;
  const std::string file =
      files.write("access.toml", "[[tenant]]\nname = \"a\"\nuids = [5]\nverbs = [\"fly\"]\n");
  const std::string run = files.make_directory("run");
  const DaemonAttempt attempt =
      try_daemon({"--runtime-dir", run, "--state-dir", files.path("state"), "--access", file});
  CHECK(attempt.ended.exit_status == 1);
  CHECK(attempt.standard_error.find(file + ":4:10: unknown verb 'fly'") != std::string::npos);
  const DaemonAttempt missing =
      try_daemon({"--runtime-dir", run, "--state-dir", files.path("state"), "--access",
                  files.path("no.toml")});
  CHECK(missing.ended.exit_status == 1);
  CHECK(missing.standard_error.find("no.toml: cannot be opened") != std::string::npos);
}

TEST_CASE("a daemon of an ordinary user has tenants of other users, and still refuses runs") {
  if (!may_test()) return;
  constexpr uid_t daemon_uid = 20050;
  const auto become_user = [] {
    // The fixture's directory, where the daemon's own ones are.
    const std::string root = std::string(std::getenv("TMPDIR")) + "/..";
    for (const char* own : {"/state", "/run", "/tmp"}) {
      ::mkdir((root + own).c_str(), 0700);
      if (::chown((root + own).c_str(), daemon_uid, daemon_uid) != 0) ::_exit(121);
    }
    const gid_t group = socket_group;
    if (::setgroups(1, &group) != 0 || ::setresgid(daemon_uid, daemon_uid, daemon_uid) != 0 ||
        ::setresuid(daemon_uid, daemon_uid, daemon_uid) != 0)
      ::_exit(122);
  };
  const Shared shared(access_rules, "cgroup_base = \"none\"\n", become_user);
  CHECK(shared.get(red, "/v1/runs").status == 200);
  const HttpReply ran = shared.post(red, "/v1/runs", shell("id -u"));
  INFO(ran.body);
  CHECK(ran.json()["result"]["stdout"] == std::to_string(daemon_uid) + "\n");
  // Somebody's process in a user namespace of its own, which this daemon cannot look into.
  // As an agent under DEFAULT of a daemon of alice's own: in a user namespace, and not seen
  // through.
  const HttpReply agent = shared.get(Client{alice, {socket_group}, true}, "/health");
  CHECK(agent.status == 403);
  CHECK(agent.error_message() == "a process inside a run may not use this socket");
}
