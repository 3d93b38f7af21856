#pragma once
// A real paddockd as a benchmark uses it: started, called over one connection, measured from
// outside.

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace bench {

struct GivenUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Ends the benchmark through exit_code_of(), so that what it has started goes first.
[[noreturn]] inline void give_up(const std::string& why) {
  throw GivenUp(why);
}

template <class Work>
int exit_code_of(Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s: %s\n", program_invocation_short_name, failure.what());
    return 1;
  }
}

// What it prints is not the benchmark's answer; what it complains of is shown.
inline pid_t start(std::vector<std::string> command, int standard_input = STDIN_FILENO) {
  std::vector<char*> argv;
  argv.reserve(command.size() + 1);
  for (std::string& word : command) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (standard_input != STDIN_FILENO)
    ::posix_spawn_file_actions_adddup2(&actions, standard_input, STDIN_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) give_up("cannot start " + command[0]);
  return pid;
}

// One keep-alive connection.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  // Of another server, on the loopback.
  explicit Client(int port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { ::close(fd_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }

  std::string call(const std::string& method, const std::string& target,
                   const std::string& body = "") {
    const std::string request =
        method + " " + target + " HTTP/1.1\r\nHost: bench\r\n" +
        "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
        "\r\n\r\n" + body;
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
      if (wanted == std::string::npos) wanted = head + 4 + body_bytes(answer.substr(0, head));
    }
    return answer;
  }
  // Whoever waits for an answer in another thread gets none.
  void hang_up() { ::shutdown(fd_, SHUT_RDWR); }

 private:
  static std::size_t body_bytes(const std::string& head) {
    const char* length = ::strcasestr(head.c_str(), "\r\nContent-Length: ");
    if (length == nullptr) give_up("an answer without a length: " + head);
    return std::strtoul(length + 18, nullptr, 10);
  }

  int fd_;
  bool connected_ = false;
};

inline double number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) give_up("no " + key + " in: " + text);
  return std::strtod(text.c_str() + at + key.size(), nullptr);
}

// Until it has ended; its exit status.
inline int run(const std::vector<std::string>& command) {
  int status = 0;
  ::waitpid(start(command), &status, 0);
  return status;
}

// In /var/tmp, because runs may not see what is in /tmp. Removed with all that is in it.
class BenchDirectory {
 public:
  BenchDirectory() {
    char path[] = "/var/tmp/paddock-bench-XXXXXX";
    if (::mkdtemp(path) == nullptr) give_up("mkdtemp");
    path_ = path;
    // Agents of a daemon that is root pass through it to their workspaces.
    std::filesystem::permissions(path_, std::filesystem::perms(0711));
  }
  ~BenchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  BenchDirectory(const BenchDirectory&) = delete;
  BenchDirectory& operator=(const BenchDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// One daemon after the other in the same directory, with the config.toml that lies there. What is
// still alive at the end is killed.
class RealDaemon {
 public:
  RealDaemon(const std::string& base, const std::string& program)
      : command_{program,       "--config",    base + "/config.toml", "--runtime-dir",
                 base + "/run", "--state-dir", base + "/state"},
        socket_(base + "/run/paddock.sock") {}
  ~RealDaemon() { kill(); }
  RealDaemon(const RealDaemon&) = delete;
  RealDaemon& operator=(const RealDaemon&) = delete;

  // Returns when it has answered.
  void start() {
    pid_ = bench::start(command_);
    for (int i = 0; i < attempts; ++i) {
      if (Client client(socket_); client.connected()) {
        client.call("GET", "/healthz");
        return;
      }
      if (::waitpid(pid_, nullptr, WNOHANG) != 0) give_up("the daemon ends at its start");
      std::this_thread::sleep_for(pause);
    }
    give_up("the daemon does not answer");
  }
  void stop() { end_with(SIGTERM); }
  void kill() { end_with(SIGKILL); }
  pid_t pid() const { return pid_; }
  const std::string& socket() const { return socket_; }

 private:
  static constexpr std::chrono::milliseconds pause{1};
  static constexpr int attempts = 60'000;

  void end_with(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  std::vector<std::string> command_;
  std::string socket_;
  pid_t pid_ = -1;
};

}  // namespace bench
