#include <grp.h>
#include <sys/syscall.h>

#include <atomic>
#include <fstream>
#include <mutex>

#include "bench/real_daemon.hpp"
#include "bench/verify/contender.hpp"
#include "bench/verify/parts.hpp"

namespace bench {
namespace {

constexpr uid_t flooder = 20001;
constexpr uid_t neighbour = 20002;
constexpr gid_t socket_group = 1;  // has to have a name: Debian's gid 1
constexpr std::size_t flood_items = 2000;

constexpr const char* rules = R"(socket_group = "daemon"
[[tenant]]
name = "flooder"
uids = [20001]
verbs = ["verify", "read"]
[[tenant]]
name = "neighbour"
uids = [20002]
verbs = ["verify", "read"]
)";

// This thread alone: glibc's functions would change the user of all.
void become(uid_t uid) {
  if (::syscall(SYS_setgroups, 1, &socket_group) != 0 ||
      ::syscall(SYS_setresgid, uid, uid, uid) != 0 || ::syscall(SYS_setresuid, uid, uid, uid) != 0)
    give_up("cannot become user " + std::to_string(uid));
}

// The daemon goes by who it is that connects.
std::unique_ptr<Client> connect_as(uid_t uid, const std::string& socket) {
  std::unique_ptr<Client> client;
  std::exception_ptr failure;
  std::thread([&] {
    try {
      become(uid);
      client = std::make_unique<Client>(socket);
      if (!client->connected()) give_up("user " + std::to_string(uid) + " cannot connect");
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
  return client;
}

// A tenant that always has thousands of items waiting, until this object's end.
class Flooding {
 public:
  Flooding(const std::string& socket, const std::string& request)
      : client_(connect_as(flooder, socket)), thread_([this, &request] { work(request); }) {}
  ~Flooding() {
    stopping_ = true;
    client_->hang_up();
    thread_.join();
  }
  Flooding(const Flooding&) = delete;
  Flooding& operator=(const Flooding&) = delete;

  // Throws if the daemon has sent it away.
  void check() {
    const std::lock_guard lock(mutex_);
    if (!failure_.empty()) give_up("the flood: " + failure_);
  }

 private:
  void work(const std::string& request) {
    try {
      while (!stopping_) {
        const std::string answer = client_->call("POST", "/v1/verify", request);
        if (!answer.starts_with("HTTP/1.1 200")) give_up(answer.substr(0, 500));
      }
    } catch (const std::exception& failure) {
      const std::lock_guard lock(mutex_);
      if (!stopping_) failure_ = failure.what();
    }
  }

  std::unique_ptr<Client> client_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::string failure_;
  std::thread thread_;
};

void wait_until_idle(const std::string& socket) {
  constexpr int attempts = 2000;
  constexpr std::chrono::milliseconds pause{10};
  Client client(socket);
  for (int i = 0; i < attempts; ++i) {
    if (number_after(client.call("GET", "/health"), "\"runs_alive\":") == 0) return;
    std::this_thread::sleep_for(pause);
  }
  give_up("the flood does not end");
}

}  // namespace

Flood measure_flood(const std::string& paddockd, const std::vector<Problem>& problems, int rounds) {
  Flood flood;
  if (::geteuid() != 0) {
    flood.unsupported = "needs root, to be two tenants";
    return flood;
  }
  const BenchDirectory directory;
  const std::string access = directory.path() + "/access.toml";
  std::ofstream(access) << rules;
  std::ofstream(directory.path() + "/config.toml") << "access = \"" << access << "\"\n";
  RealDaemon daemon(directory.path(), paddockd);
  daemon.start();
  const std::string& socket = daemon.socket();
  const Runtime runtime = best_runtime(socket, problems);
  const std::string flood_request = verify_request(problems, 0, flood_items, runtime);
  const auto client = connect_as(neighbour, socket);
  const auto pass = [&](Samples& samples, Flooding* flooding) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const std::string request = verify_request(problems, i, 1, runtime);
      std::string answer;
      samples.time([&] { answer = client->call("POST", "/v1/verify", request); });
      flood.wrong += not_passed(answer, 1);
      if (flooding != nullptr) flooding->check();
    }
  };
  for (int round = 0; round < rounds; ++round) {
    std::fprintf(stderr, "flood: round %d of %d\n", round + 1, rounds);
    pass(flood.quiet, nullptr);
    {
      Flooding flooding(socket, flood_request);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      pass(flood.flooded, &flooding);
    }
    wait_until_idle(socket);
  }
  return flood;
}

}  // namespace bench
