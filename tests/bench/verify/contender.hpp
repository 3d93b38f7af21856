#pragma once
// One way to judge a program. It judges through workers, each of which has one at a time.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/real_daemon.hpp"
#include "bench/verify/workload.hpp"

namespace bench {

class Worker {
 public:
  Worker() = default;
  virtual ~Worker() = default;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // False: the program was not found right, and why() says what came instead.
  virtual bool judge(std::size_t problem) = 0;
  virtual std::string why() const = 0;
  // How many of its answers say that it was not warm, though it was asked to be.
  virtual std::size_t ran_cold() const { return 0; }
  // What this worker alone, with all that it has started, has used so far.
  virtual std::uint64_t cpu_us() { return 0; }
};

struct Contender {
  std::string name;
  std::function<std::unique_ptr<Worker>(int slot)> worker;  // slots count from 0
  std::string missing;  // why it cannot be measured here; then there is no worker
  std::function<std::uint64_t()> cpu_us{};  // what all its workers share has used so far
};

struct ContenderOptions {
  std::string directory;     // for files, and for sockets
  std::string worker;        // verify_worker.py
  std::string competitors;   // where competitors.sh has put them
  int concurrency_max = 64;  // how many workers there will be at a time
};

// contenders_paddock.cpp
Contender paddock_contender(const RealDaemon& daemon, const std::vector<Problem>& problems,
                            Runtime runtime);
// Warm if the daemon takes the request and its answer says that it ran warm; else why not.
std::string why_not_warm(const std::string& socket, const std::vector<Problem>& problems);
// How the daemon is asked to run cold: a daemon without warm runtimes knows no such option.
Runtime cold_runtime(const std::string& socket, const std::vector<Problem>& problems);
// Warm where the daemon has it.
Runtime best_runtime(const std::string& socket, const std::vector<Problem>& problems);

// contenders_python.cpp: unprotected, by a Python process for each worker.
std::vector<Contender> python_contenders(const ContenderOptions& options,
                                         const std::vector<Problem>& problems);
// contenders_command.cpp: a command in front of the same program.
std::vector<Contender> command_contenders(const ContenderOptions& options,
                                          const std::vector<Problem>& problems);
// contenders_server.cpp: other servers, started for as long as the contenders live.
std::vector<Contender> server_contenders(const ContenderOptions& options,
                                         const std::vector<Problem>& problems);

}  // namespace bench
