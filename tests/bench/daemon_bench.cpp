// The daemon under load, in one run:
//   1. POST /v1/runs of `true` under OFF, beside posix_spawn of the same program;
//   2. 200 concurrent sleepers: the daemon's memory, and how long it takes to kill them all;
//   3. 100 concurrent runs with the same wall clock: how exactly it strikes (goal: p99 within 20
//   ms).
//
// Usage: daemon_bench PATH_OF_PADDOCKD

#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/bench.hpp"

namespace {

using namespace std::chrono_literals;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "daemon_bench: %s\n", why.c_str());
  std::exit(1);
}

pid_t start(std::vector<std::string> command) {
  std::vector<char*> argv;
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = -1;
  if (::posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0)
    give_up("cannot start " + command[0]);
  return pid;
}

// One keep-alive connection.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }

  std::string call(const std::string& method, const std::string& target,
                   const std::string& body = "") {
    const std::string request = method + " " + target + " HTTP/1.1\r\nHost: bench\r\n" +
                                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
                                body;
    if (::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(request.size()))
      give_up("the daemon does not take a request");
    std::string answer;
    std::size_t wanted = std::string::npos;
    while (answer.size() < wanted) {
      char buffer[65536];
      const ssize_t count = ::recv(fd_, buffer, sizeof buffer, 0);
      if (count <= 0) give_up("the daemon hung up");
      answer.append(buffer, static_cast<std::size_t>(count));
      const std::size_t head = answer.find("\r\n\r\n");
      if (head == std::string::npos) continue;
      const std::size_t length = answer.find("Content-Length: ");
      wanted = head + 4 + std::strtoul(answer.c_str() + length + 16, nullptr, 10);
    }
    return answer;
  }

 private:
  int fd_;
  bool connected_ = false;
};

double number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) give_up("no " + key + " in: " + text);
  return std::strtod(text.c_str() + at + key.size(), nullptr);
}

std::string id_of(const std::string& answer) {
  const std::size_t at = answer.find("\"id\":\"r-");
  if (at == std::string::npos) give_up("no run: " + answer);
  return answer.substr(at + 6, 18);
}

double rss_mib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

void bench_off(Client& client) {
  bench::Samples spawned;
  bench::Samples posted;
  for (int round = 0; round < 300; ++round) {
    spawned.time([] { ::waitpid(start({"/bin/true"}), nullptr, 0); });
    posted.time([&] {
      const std::string answer =
          client.call("POST", "/v1/runs", R"({"profile":"OFF","argv":["/bin/true"]})");
      if (answer.find("\"exit_code\":0") == std::string::npos) give_up(answer);
    });
  }
  bench::print_pair("posix_spawn true", spawned, "POST /v1/runs OFF true", posted);
}

void wait_for_alive(Client& client, double count) {
  for (int i = 0; i < 6000; ++i) {
    const std::string health = client.call("GET", "/health");
    if (number_after(health, "\"runs_alive\":") + number_after(health, "\"runs_queued\":") == 0 &&
        count == 0)
      return;
    if (count > 0 && number_after(health, "\"runs_alive\":") == count) return;
    std::this_thread::sleep_for(5ms);
  }
  give_up("the runs do not come to the expected number");
}

void bench_sleepers(Client& client, pid_t daemon) {
  constexpr int sleepers = 200;
  const double before = rss_mib(daemon);
  std::vector<std::string> ids;
  for (int i = 0; i < sleepers; ++i)
    ids.push_back(id_of(client.call(
        "POST", "/v1/runs", R"({"profile":"STRICT","argv":["sleep","600"],"detach":true})")));
  wait_for_alive(client, sleepers);
  std::this_thread::sleep_for(1s);
  std::printf("%d STRICT sleepers: daemon %.1f MiB, %.1f MiB before: %.1f KiB each\n", sleepers,
              rss_mib(daemon), before, (rss_mib(daemon) - before) * 1024 / sleepers);
  bench::Samples all;
  all.time([&] {
    for (const std::string& id : ids) client.call("DELETE", "/v1/runs/" + id);
    wait_for_alive(client, 0);
  });
  std::printf("all of them asked to end, killed, reaped and proved gone in %.0f ms\n",
              all.percentile(0.5));
}

void bench_wall_clock(Client& client) {
  constexpr int runs = 100;
  constexpr double wall_seconds = 3;
  std::vector<std::string> ids;
  for (int i = 0; i < runs; ++i)
    ids.push_back(id_of(client.call("POST", "/v1/runs",
                                    R"({"profile":"DEFAULT","argv":["sleep","600"],)"
                                    R"("limits":{"wall_seconds":3},"detach":true})")));
  bench::Samples late;
  for (const std::string& id : ids) {
    const std::string run = client.call("GET", "/v1/runs/" + id + "?wait_seconds=30");
    if (run.find("wall_clock") == std::string::npos) give_up(run);
    late.add((number_after(run, "\"duration_s\":") - wall_seconds) * 1000);
  }
  bench::print("late after wall_seconds", late);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) give_up("usage: daemon_bench PATH_OF_PADDOCKD");
  char directory[] = "/tmp/paddock-bench-XXXXXX";
  if (::mkdtemp(directory) == nullptr) give_up("mkdtemp");
  const std::string base = directory;
  std::ofstream(base + "/config.toml") << "[limits]\nruns_alive = 256\n";
  const pid_t daemon = start({argv[1], "--config", base + "/config.toml", "--runtime-dir",
                              base + "/run", "--state-dir", base + "/state"});
  const std::string socket = base + "/run/paddock.sock";
  for (int i = 0; i < 1000 && !Client(socket).connected(); ++i) std::this_thread::sleep_for(10ms);
  {
    Client client(socket);
    bench_off(client);
    bench_sleepers(client, daemon);
    bench_wall_clock(client);
  }
  ::kill(daemon, SIGTERM);
  ::waitpid(daemon, nullptr, 0);
  return std::system(("rm -rf " + base).c_str());
}
