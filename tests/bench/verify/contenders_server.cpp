#include <arpa/inet.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/verify/contender.hpp"
#include "bench/verify/cpu.hpp"
#include "kernel/base/fd.hpp"

namespace bench {
namespace {

using nlohmann::json;
using paddock::kernel::Fd;

// One that nobody has at the moment: the server binds it a little later.
int free_port() {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    give_up("no free port");
  return ntohs(address.sin_port);
}

// Alive as long as this object.
class Server {
 public:
  Server(std::vector<std::string> command, int port, std::string cgroup_name)
      : port_(port), cgroup_name_(std::move(cgroup_name)), pid_(start(std::move(command))) {}
  ~Server() {
    if (pid_ > 0) {
      ::kill(pid_, SIGTERM);
      ::waitpid(pid_, nullptr, 0);
    }
    if (!cgroup_name_.empty()) remove_cgroups();
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // False: it has ended, or does not listen in time.
  bool answers() {
    constexpr int attempts = 200;
    constexpr std::chrono::milliseconds pause{50};
    for (int i = 0; i < attempts; ++i) {
      if (Client(port_).connected()) return true;
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
        pid_ = -1;
        return false;
      }
      std::this_thread::sleep_for(pause);
    }
    return false;
  }
  int port() const { return port_; }
  pid_t pid() const { return pid_; }

 private:
  // Those of its name in each hierarchy, from below: it leaves them behind.
  void remove_cgroups() const {
    std::error_code ignored;
    for (const auto& hierarchy : std::filesystem::directory_iterator("/sys/fs/cgroup", ignored)) {
      std::vector<std::string> all = {hierarchy.path() / cgroup_name_};
      for (const auto& below : std::filesystem::recursive_directory_iterator(all[0], ignored))
        if (below.is_directory(ignored)) all.push_back(below.path());
      for (; !all.empty(); all.pop_back()) ::rmdir(all.back().c_str());
    }
  }

  int port_;
  std::string cgroup_name_;
  pid_t pid_;
};

using Requests = std::shared_ptr<std::vector<std::string>>;

class ServerWorker : public Worker {
 public:
  ServerWorker(std::shared_ptr<Server> server, std::string target, Requests requests,
               std::string right)
      : server_(std::move(server)),
        client_(server_->port()),
        target_(std::move(target)),
        requests_(std::move(requests)),
        right_(std::move(right)) {
    if (!client_.connected()) give_up("no connection to the server of " + target_);
  }
  bool judge(std::size_t problem) override {
    answer_ = client_.call("POST", target_, (*requests_)[problem]);
    return answer_.find(right_) != std::string::npos;
  }
  std::string why() const override { return answer_; }

 private:
  std::shared_ptr<Server> server_;
  Client client_;
  std::string target_;
  Requests requests_;
  std::string right_;
  std::string answer_;
};

Contender contender(const std::string& name, const std::shared_ptr<Server>& server,
                    const std::string& target, const Requests& requests, const std::string& right) {
  if (!server->answers()) return {name, {}, "installed, but its server does not start here"};
  Contender one{name,
                [server, target, requests, right](int) {
                  return std::make_unique<ServerWorker>(server, target, requests, right);
                },
                "", [server] { return tree_cpu_us(server->pid()); }};
  const auto worker = one.worker(0);
  if (!worker->judge(0)) return {name, {}, "installed, but does not run here: " + worker->why()};
  return one;
}

// What python3 needs of the host, a /tmp, and /proc.
constexpr const char* judge_mounts = R"(mount:
  - {type: bind, source: /bin, target: /bin, readonly: true}
  - {type: bind, source: /lib, target: /lib, readonly: true}
  - {type: bind, source: /lib64, target: /lib64, readonly: true}
  - {type: bind, source: /usr, target: /usr, readonly: true}
  - {type: bind, source: /etc/ld.so.cache, target: /etc/ld.so.cache, readonly: true}
  - {type: bind, source: /dev/null, target: /dev/null}
  - {type: bind, source: /dev/urandom, target: /dev/urandom}
  - {type: tmpfs, target: /w, data: "size=128m,nr_inodes=4k"}
  - {type: tmpfs, target: /tmp, data: "size=128m,nr_inodes=4k"}
proc: true
workDir: /w
hostName: go-judge
domainName: go-judge
uid: 1536
gid: 1536
)";

Contender go_judge(const ContenderOptions& options, const std::vector<Problem>& problems) {
  const std::string name = "go-judge python3 -c";
  const std::string program = options.competitors + "/bin/go-judge";
  if (::access(program.c_str(), X_OK) != 0) return {name, {}, "not installed"};
  const std::string mounts = options.directory + "/go-judge-mount.yaml";
  std::ofstream(mounts) << judge_mounts;
  const auto requests = std::make_shared<std::vector<std::string>>();
  for (const Problem& problem : problems) {
    const json command = {{"args", {"/usr/bin/python3", "-c", problem.program}},
                          {"env", {"PATH=/usr/bin:/bin"}},
                          {"files",
                           {{{"content", ""}},
                            {{"name", "stdout"}, {"max", 10240}},
                            {{"name", "stderr"}, {"max", 10240}}}},
                          {"cpuLimit", 10'000'000'000},
                          {"memoryLimit", 512 << 20},
                          {"procLimit", 16}};
    requests->push_back(json({{"cmd", {command}}}).dump());
  }
  const int port = free_port();
  const std::string cgroup = "paddock-bench-" + std::to_string(::getpid());
  // It keeps as many containers ready as it runs at a time: one for each processor.
  const std::string containers = std::to_string(std::thread::hardware_concurrency());
  auto server = std::make_shared<Server>(
      std::vector<std::string>{program, "-http-addr", "127.0.0.1:" + std::to_string(port),
                               "-mount-conf", mounts, "-seccomp-conf", "none", "-silent",
                               "-no-fallback", "-cgroup-prefix", cgroup, "-pre-fork", containers},
      port, cgroup);
  return contender(name, server, "/run", requests, R"("status":"Accepted")");
}

Contender sandbox_fusion(const ContenderOptions& options, const std::vector<Problem>& problems) {
  const std::string name = "SandboxFusion, isolation none";
  const std::string folder = options.competitors + "/fusion";
  if (::access((folder + "/serve.py").c_str(), R_OK) != 0) return {name, {}, "not installed"};
  const auto requests = std::make_shared<std::vector<std::string>>();
  for (const Problem& problem : problems)
    requests->push_back(json({{"language", "python"}, {"code", problem.program}}).dump());
  const int port = free_port();
  auto server =
      std::make_shared<Server>(std::vector<std::string>{folder + "/venv/bin/python",
                                                        folder + "/serve.py", std::to_string(port)},
                               port, "");
  return contender(name, server, "/run_code", requests, R"("status":"Success")");
}

}  // namespace

std::vector<Contender> server_contenders(const ContenderOptions& options,
                                         const std::vector<Problem>& problems) {
  return {go_judge(options, problems), sandbox_fusion(options, problems)};
}

}  // namespace bench
