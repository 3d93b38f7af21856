#include <fcntl.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/verify/contender.hpp"
#include "kernel/base/fd.hpp"

namespace bench {
namespace {

using paddock::kernel::Fd;

// A process of its own, and so no lock that it shares with another worker's.
class PythonWorker : public Worker {
 public:
  explicit PythonWorker(std::vector<std::string> command) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) give_up("socketpair");
    socket_ = Fd(ends[0]);
    const Fd its_end(ends[1]);
    pid_ = start(std::move(command), its_end.get());
    if (read_line() != "ready") give_up("verify_worker.py does not start");
  }
  ~PythonWorker() override {
    socket_.close();
    ::waitpid(pid_, nullptr, 0);
  }
  PythonWorker(const PythonWorker&) = delete;
  PythonWorker& operator=(const PythonWorker&) = delete;

  bool judge(std::size_t problem) override {
    status_ = ask(std::to_string(problem));
    return status_ == "0";
  }
  std::string why() const override { return "exit status " + status_; }
  std::uint64_t cpu_us() override { return std::stoull(ask("cpu")); }

 private:
  std::string ask(const std::string& question) {
    const std::string line = question + "\n";
    if (::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(line.size()))
      give_up("verify_worker.py is gone");
    return read_line();
  }
  // It answers one line at a time.
  std::string read_line() {
    std::string line;
    while (!line.ends_with('\n')) {
      char buffer[64];
      const ssize_t count = ::recv(socket_.get(), buffer, sizeof buffer, 0);
      if (count <= 0) give_up("verify_worker.py hung up");
      line.append(buffer, static_cast<std::size_t>(count));
    }
    line.pop_back();
    return line;
  }

  Fd socket_;
  pid_t pid_ = -1;
  std::string status_;
};

std::string write_programs(const std::string& directory, const std::vector<Problem>& problems) {
  nlohmann::json programs = nlohmann::json::array();
  for (const Problem& problem : problems) programs.push_back(problem.program);
  std::string path = directory + "/programs.json";
  std::ofstream(path) << programs.dump();
  return path;
}

}  // namespace

std::vector<Contender> python_contenders(const ContenderOptions& options,
                                         const std::vector<Problem>& problems) {
  const std::string programs = write_programs(options.directory, problems);
  const auto contender = [&](const std::string& name, const std::vector<std::string>& mode) {
    std::vector<std::string> command = {"/usr/bin/python3", "-B", options.worker, programs};
    command.insert(command.end(), mode.begin(), mode.end());
    return Contender{name, [command](int) { return std::make_unique<PythonWorker>(command); }, ""};
  };
  return {contender("subprocess.run python3 -c", {"subprocess"}),
          contender("subprocess.run python3 -I -S -c", {"subprocess", "-I", "-S"}),
          contender("fork + exec() in python3", {"fork"})};
}

}  // namespace bench
