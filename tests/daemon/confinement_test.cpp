// What confines a run of the daemon: seen from inside, from outside, and in its record.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "support/daemon_fixture.hpp"

using nlohmann::json;
using std::chrono::steady_clock;

namespace {

// The value of one line of /proc/PID/status.
std::string status_field(pid_t pid, const std::string& name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name + ":")) continue;
    const std::size_t begin = line.find_first_not_of(" \t", name.size() + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

std::uint64_t capability_set(pid_t pid, const std::string& name) {
  const std::string hex = status_field(pid, name);
  std::uint64_t set = ~std::uint64_t{0};
  std::from_chars(hex.data(), hex.data() + hex.size(), set, 16);
  return set;
}

const std::string without_cgroups = "cgroup_base = \"none\"\n";

double timed_run_s(const DaemonFixture& daemon, const json& request, json& result) {
  result = daemon.run(request)["result"];
  return result["duration_s"];
}

}  // namespace

TEST_CASE("the record of a run lists the limits and namespaces that were seen on it") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon({.config = without_cgroups});
  const json strict = daemon.run({{"profile", "STRICT"}, {"argv", {"true"}}})["confinement"];
  CHECK(strict["profile"] == "STRICT");
  CHECK(strict["rlimits"] == json({{"cpu_seconds", "120"},
                                   {"memory_bytes", "536870912"},
                                   {"fsize_bytes", "67108864"},
                                   {"nproc", "16"},
                                   {"nofile", "256"},
                                   {"core_size", "1"},
                                   {"nice", "0"},
                                   {"rtprio", "0"}}));
  CHECK(strict["namespaces"] == json({"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"}));
  CHECK(strict["no_new_privs"] == true);
  CHECK(strict["capabilities"] == "0000000000000000");
  CHECK(strict["pid"].get<int>() > 1);
  CHECK(strict["degraded"] ==
        json({"NO-MEMORY-CEILING(cgroup)", "NO-PIDS-CEILING(cgroup)", "NO-CPU-CEILING(cgroup)"}));

  const json standard = daemon.run({{"profile", "DEFAULT"}, {"argv", {"true"}}})["confinement"];
  CHECK(standard["namespaces"] == json({"user"}));
  CHECK(standard["rlimits"]["nproc"] == "64");
  const json off = daemon.run({{"profile", "OFF"}, {"argv", {"true"}}})["confinement"];
  CHECK(off["namespaces"].empty());
  CHECK(off["rlimits"]["cpu_seconds"] == "unlimited");
  CHECK(off["degraded"].empty());
}

TEST_CASE("an agent under STRICT sees neither the daemon's sockets nor the host's files") {
  if (!sandbox_works()) return;
  const DaemonFixture daemon;
  const std::string look = "ls -a '" + daemon.directory().path() + "' /var/tmp /etc/shadow " +
                           "/root /home 2>&1; id -un; ls /home";
  const json result = daemon.run(shell(look, "STRICT"))["result"];
  const std::string seen = result["stdout"];
  INFO(seen);
  CHECK(seen.find("paddock.sock") == std::string::npos);
  CHECK(seen.find("cannot access '" + daemon.directory().path() + "'") != std::string::npos);
  CHECK(seen.find("cannot access '/etc/shadow'") != std::string::npos);
  CHECK(seen.find("cannot access '/root'") != std::string::npos);
  CHECK(seen.ends_with("agent\nagent\n"));
  const std::string connect =
      "import socket\ns = socket.socket(socket.AF_UNIX)\n"
      "try:\n  s.connect('" +
      daemon.socket() + "')\nexcept OSError as e:\n  print(e.errno)";
  CHECK(daemon.run({{"profile", "STRICT"},
                    {"argv", {"python3", "-c", connect}}})["result"]["stdout"] == "2\n");
}

TEST_CASE("an agent under DEFAULT may not use the daemon's socket, even as the daemon's own user") {
  // Goal: no way out through a request for OFF. Method: first without a run, where it must succeed.
  const DaemonFixture daemon;
  const std::string ask =
      "import socket\ns = socket.socket(socket.AF_UNIX)\n"
      "try:\n  s.connect('" +
      daemon.socket() +
      "')\n  s.sendall(b'GET /health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n')\n"
      "  print(s.recv(4096).split()[1].decode())\nexcept OSError as e:\n  print(e.strerror)";
  CHECK(daemon.get("/health").status == 200);
  const std::string answer =
      daemon.run({{"profile", "DEFAULT"}, {"argv", {"python3", "-c", ask}}})["result"]["stdout"];
  // Root's daemon gives the run another uid, which cannot even open the socket.
  CHECK(answer == (::geteuid() == 0 ? "Permission denied\n" : "403\n"));
}

TEST_CASE("without a named base the daemon finds one for its runs, or says why there is none") {
  const DaemonFixture daemon;
  const json host = daemon.get("/v1/host").json();
  const auto base = host["cgroup_base"].get<std::string>();
  CHECK(base.empty() <= !host["cgroup_problem"].get<std::string>().empty());
  const json run = daemon.run({{"profile", "OFF"}, {"argv", {"true"}}});
  const auto cgroup = run["confinement"]["cgroup"].get<std::string>();
  CHECK(cgroup.ends_with("/" + run["id"].get<std::string>()) == !base.empty());
}

TEST_CASE("a profile that requires a cgroup is refused without one, unless degraded is allowed") {
  const DaemonFixture daemon(
      {.config = without_cgroups,
       .profiles = {{"needy.toml",
                     "name = \"NEEDY\"\n[cgroup]\nuse = \"required\"\nmemory_max = \"64MiB\"\n"}}});
  json request = {{"profile", "NEEDY"}, {"argv", {"true"}}};
  const HttpReply refused = daemon.post("/v1/runs", request);
  CHECK(refused.status == 501);
  CHECK(refused.error_code() == "sandbox_not_available");
  CHECK(refused.error_message().find("NO-MEMORY-CEILING(cgroup)") != std::string::npos);
  CHECK(daemon.post("/v1/plan", request).status == 501);
  request["allow_degraded"] = true;
  const json run = daemon.run(request);
  CHECK(run["result"]["exit_code"] == 0);
  CHECK(run["confinement"]["degraded"] == json({"NO-MEMORY-CEILING(cgroup)"}));
}

TEST_CASE("the wall clock ends a run soon after its time and not before") {
  const DaemonFixture daemon;
  json request = shell("sleep 300");
  request["limits"] = {{"wall_seconds", 0.5}};
  json result;
  const double seconds = timed_run_s(daemon, request, result);
  CHECK(result["cause"] == "wall_clock");
  CHECK(result["timed_out"] == true);
  CHECK(result["killed"] == true);
  CHECK(seconds >= 0.5);
  CHECK(seconds < 1.5);

  request = shell("trap '' TERM; while :; do sleep 0.05; done");
  request["limits"] = {{"wall_seconds", 0.5}};
  const auto begin = steady_clock::now();
  const double deaf_seconds = timed_run_s(daemon, request, result);
  CHECK(result["cause"] == "wall_clock");
  CHECK(result["exit_code"] == -9);
  CHECK(deaf_seconds >= 1.5);
  CHECK(deaf_seconds < 3);
  CHECK(steady_clock::now() - begin < std::chrono::seconds(4));
}

TEST_CASE("many deadlines at once are each kept") {
  const DaemonFixture daemon;
  json request = shell("sleep 300");
  request["limits"] = {{"wall_seconds", "600ms"}};
  std::vector<std::unique_ptr<HttpConnection>> connections;
  for (int i = 0; i < 30; ++i) {
    connections.push_back(std::make_unique<HttpConnection>(daemon.socket()));
    connections.back()->send_request("POST", "/v1/runs", request.dump());
  }
  for (const auto& connection : connections) {
    const json result = connection->receive_reply().json()["result"];
    CHECK(result["cause"] == "wall_clock");
    CHECK(result["duration_s"].get<double>() >= 0.6);
    CHECK(result["duration_s"].get<double>() < 1.6);
  }
}

TEST_CASE("a survivor that holds the output open does not delay the result for long") {
  const DaemonFixture daemon;
  const auto begin = steady_clock::now();
  const json result = daemon.run(shell("setsid sleep 300 & echo done"))["result"];
  CHECK(result["stdout"] == "done\n");
  CHECK(result["cause"] == "exited");
  CHECK(steady_clock::now() - begin < std::chrono::seconds(3));
}

TEST_CASE("as root each concurrent run has a host uid of its own, and none is root") {
  if (!is_root()) return;
  const DaemonFixture daemon;
  std::vector<std::string> ids;
  for (int i = 0; i < 8; ++i) ids.push_back(daemon.start(shell("id -u; sleep 300", "OFF")));
  std::set<int> uids;
  for (const std::string& id : ids) {
    daemon.wait_until_started(id);
    const json confinement = daemon.get("/v1/runs/" + id).json()["confinement"];
    const int uid = confinement["host_uid"];
    const std::string real = std::to_string(uid);
    CHECK(status_field(confinement["pid"], "Uid") ==
          real + "\t" + real + "\t" + real + "\t" + real);
    CHECK(status_field(confinement["pid"], "Groups").empty());
    CHECK(capability_set(confinement["pid"], "CapBnd") == 0);
    uids.insert(uid);
  }
  CHECK(uids.size() == ids.size());
  CHECK(*uids.begin() >= 60578);
  CHECK(*uids.rbegin() <= 61183);
}

TEST_CASE("host uids come from the configured range, and a run waits while all are taken") {
  if (!is_root()) return;
  const DaemonFixture daemon({.config = "host_uids = \"61500-61501\"\n"});
  std::vector<std::string> ids;
  for (int i = 0; i < 6; ++i) ids.push_back(daemon.start(shell("sleep 0.2; id -u")));
  for (const std::string& id : ids) {
    const json run = daemon.finished(id);
    INFO(run.dump());
    CHECK(run["result"]["cause"] == "exited");
    const std::string uid = run["result"]["stdout"];
    CHECK((uid == "61500\n" || uid == "61501\n"));
  }
}

TEST_CASE("as root the daemon keeps only the capabilities that runs take") {
  if (!is_root()) return;
  const DaemonFixture daemon;
  // CHOWN DAC_OVERRIDE FOWNER KILL SETGID SETUID SETPCAP SYS_PTRACE
  const std::uint64_t needed =
      1u << 0 | 1u << 1 | 1u << 3 | 1u << 5 | 1u << 6 | 1u << 7 | 1u << 8 | 1u << 19;
  for (const char* set : {"CapEff", "CapPrm", "CapBnd"}) {
    INFO(set);
    CHECK((capability_set(daemon.pid(), set) & ~needed) == 0);
  }
  CHECK(capability_set(daemon.pid(), "CapInh") == 0);
  CHECK((capability_set(daemon.pid(), "CapEff") & (1u << 7)) != 0);
}

TEST_CASE("an ordinary user's runs are the user's, with no capability") {
  if (::geteuid() == 0) {
    SUCCEED("root's runs have tests of their own");
    return;
  }
  const DaemonFixture daemon;
  const json run = daemon.run(shell("id -u"));
  CHECK(run["result"]["stdout"] == std::to_string(::geteuid()) + "\n");
  CHECK(run["confinement"]["host_uid"] == ::geteuid());
}

TEST_CASE("a workspace goes with its run, whatever was left in it") {
  const DaemonFixture daemon;
  const json run = daemon.run(
      shell("mkdir -p a/b/c d; touch a/b/c/e; ln -s /usr d/link; chmod 0 a/b/c a/b a d .; pwd"));
  std::string workspace = run["result"]["stdout"];
  workspace.pop_back();
  CHECK(workspace.starts_with(daemon.directory().path("tmp/paddock-")));
  CHECK(::access(workspace.c_str(), F_OK) != 0);
}
