#include "escapes/runner/stage.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "escapes/attempts/sockets.hpp"
#include "kernel/base/executable.hpp"

namespace paddock::escapes {
namespace {

namespace fs = std::filesystem;
using kernel::Fd;
using kernel::Result;

constexpr const char* secret = "PADDOCK_ESCAPES_SECRET=correct-horse";
constexpr std::size_t attempt_bytes_max = 64u << 20;
constexpr key_t shared_memory_key = 0x7064636b;
constexpr uid_t other_uid = 65534;

// The files of one side: path below it, mode, contents. Those in other-job belong to another run.
struct CanaryFile {
  const char* path;
  mode_t mode;
};
constexpr CanaryFile canary_files[] = {
    {"public", 0644}, {"private", 0600}, {"other-job/file", 0600}};
constexpr const char* canary_text = "canary\n";

void write_file(const std::string& path, mode_t mode, const char* text) {
  std::ofstream(path) << text;
  ::chmod(path.c_str(), mode);
}

// Beside the running program, then in ../libexec/paddock: as paddock-launch is found.
Result<std::string> find_attempt() {
  const std::string here = kernel::executable_directory();
  for (const std::string& path :
       {here + "/paddock-attempt", here + "/../libexec/paddock/paddock-attempt"})
    if (::access(path.c_str(), R_OK) == 0) return path;
  return kernel::fail(
      kernel::ErrorCode::internal,
      "paddock-attempt is neither beside paddock-escapes nor in ../libexec/paddock");
}

std::string first_block_device() {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/dev", ignored))
    if (entry.is_block_file(ignored)) return entry.path();
  return "/dev/no-block-device";
}

std::string cgroup2_directory() {
  std::ifstream mounts("/proc/self/mounts");
  for (std::string device, path, type, rest; mounts >> device >> path >> type;) {
    std::getline(mounts, rest);
    if (type == "cgroup2") return path;
  }
  return "/sys/fs/cgroup";
}

std::string port_of(int fd) {
  sockaddr_in6 address{};
  socklen_t size = sizeof address;
  if (fd < 0 || ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "1";
  return std::to_string(ntohs(address.sin6_port));  // where sockaddr_in has it too
}

int listen_inet6() {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (fd >= 0 && ::bind(fd, generic, sizeof address) == 0) ::listen(fd, 8);
  return fd;
}

int receive_udp() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return -1;
  return fd;
}

void raise_to_hard_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(resource, &limit);
}

}  // namespace

Result<std::unique_ptr<Stage>> Stage::set_up(const std::string& parent) {
  std::unique_ptr<Stage> stage(new Stage);
  std::string path = parent + "/paddock-escapes-XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return kernel::fail_errno("make '" + path + "'");
  stage->path_ = path;
  stage->name_ = path.substr(path.rfind('/') + 1);
  ::chmod(path.c_str(), 0755);
  TRY_VOID(stage->make_files());
  TRY_VOID(stage->make_programs());
  TRY_VOID(stage->make_listeners());
  stage->make_inherited_state();
  for (const Side side : {Side::canary, Side::bait}) stage->start_victim(side);
  return stage;
}

Stage::~Stage() {
  for (const auto& [side, pid] : victims_) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
  if (shared_memory_ >= 0) ::shmctl(shared_memory_, IPC_RMID, nullptr);
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string Stage::directory(Side side) const {
  return path_ + (side == Side::canary ? "/canary" : "/bait");
}

void Stage::plant(Side side) const {
  std::error_code ignored;
  const std::string root = directory(side);
  fs::remove_all(root, ignored);
  fs::create_directories(root + "/other-job", ignored);
  ::chmod(root.c_str(), 0755);
  for (const CanaryFile& file : canary_files)
    write_file(root + "/" + file.path, file.mode, canary_text);
  if (::geteuid() == 0 && ::chown((root + "/other-job").c_str(), other_uid, other_uid) != 0) return;
  ::chmod((root + "/other-job").c_str(), 0700);
}

Result<void> Stage::make_files() {
  for (const Side side : {Side::canary, Side::bait}) plant(side);
  fs::create_directories(work());
  fs::create_directories(path_ + "/sockets");
  ::chmod((path_ + "/sockets").c_str(), 0755);
  // Workspaces of runs: here, what is left of them is seen.
  fs::create_directories(workspaces());
  ::chmod(workspaces().c_str(), 0755);
  ::setenv("TMPDIR", workspaces().c_str(), 1);
  return {};
}

Result<void> Stage::make_programs() {
  fs::create_directories(programs());
  const std::string source = TRY(find_attempt());
  const std::string bytes = TRY(kernel::read_file(source, attempt_bytes_max));
  for (const char* name : {"paddock-attempt", "setuid-attempt", "filecap-attempt"}) {
    const std::string path = programs() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    ::chmod(path.c_str(), 0755);
  }
  write_file(programs() + "/open-to-all", 0666, canary_text);
  ::chmod(programs().c_str(), 0755);
  if (::geteuid() != 0) return {};
  ::chmod((programs() + "/setuid-attempt").c_str(), 04755);
  // VFS_CAP_REVISION_2 with the effective bit; CAP_NET_BIND_SERVICE permitted.
  const std::uint32_t capability[5] = {0x02000001, 1u << 10, 0, 0, 0};
  ::setxattr((programs() + "/filecap-attempt").c_str(), "security.capability", capability,
             sizeof capability, 0);
  return {};
}

Result<void> Stage::make_listeners() {
  const std::string socket = path_ + "/sockets/supervisor.sock";
  const auto keep = [&](int fd) {
    kept_.emplace_back(fd);
    return fd;
  };
  keep(listen_unix(Naming::abstract, name_));
  keep(listen_unix(Naming::pathname, socket));
  ::chmod(socket.c_str(), 0777);
  facts_["port"] = port_of(keep(listen_inet(0)));
  facts_["port6"] = port_of(keep(listen_inet6()));
  facts_["udp"] = port_of(keep(receive_udp()));
  facts_["socket"] = socket;
  facts_["abstract"] = name_;
  ::setenv("SSH_AUTH_SOCK", socket.c_str(), 1);
  // A port that nobody listens to, for two runs.
  Fd probe(listen_inet(0));
  facts_["channelport"] = port_of(probe.get());
  return {};
}

// What a careless supervisor would hand down to its children.
void Stage::make_inherited_state() {
  ::setenv("PADDOCK_ESCAPES_SECRET", "correct-horse", 1);
  ::setenv("LD_LIBRARY_PATH", "/nonexistent", 1);
  ::setenv("HTTPS_PROXY", "http://127.0.0.1:1", 1);
  ::setenv("PYTHONPATH", "/nonexistent", 1);
  ::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
  const char* path = std::getenv("PATH");
  facts_["path"] = std::string(path == nullptr ? "/bin" : path) + ":/nonexistent";
  ::setenv("PATH", facts_["path"].c_str(), 1);

  const auto inherited = [&](const char* fact, int fd) {
    facts_[fact] = std::to_string(fd);
    kept_.emplace_back(fd);
  };
  inherited("fd", ::open((directory(Side::canary) + "/private").c_str(), O_RDONLY));
  inherited("dirfd", ::open(path_.c_str(), O_RDONLY | O_DIRECTORY));
  int pair[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0) return;
  inherited("socketfd", pair[0]);
  kept_.emplace_back(pair[1]);

  struct stat info {};
  const int locked = ::open((path_ + "/locked").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  ::flock(locked, LOCK_EX);
  ::fstat(locked, &info);
  kept_.emplace_back(locked);
  facts_["lock"] = std::to_string(info.st_ino);

  shared_memory_ = ::shmget(shared_memory_key, 4096, IPC_CREAT | 0600);
  facts_["shmkey"] = std::to_string(shared_memory_key);
  facts_["bound"] = programs();
  facts_["disk"] = first_block_device();
  facts_["cgroup"] = cgroup2_directory();
  facts_["cwd"] = work();
  facts_["session"] = std::to_string(::getsid(0));
  utsname names{};
  ::uname(&names);
  facts_["hostname"] = names.nodename;

  ::umask(0);
  ::signal(SIGUSR1, SIG_IGN);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
  raise_to_hard_limit(RLIMIT_CORE);
  raise_to_hard_limit(RLIMIT_NOFILE);
  ::syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, "paddock-escapes");
  ::syscall(SYS_add_key, "user", "paddock-escapes-secret", "correct-horse", 13,
            KEY_SPEC_SESSION_KEYRING);
}

// A process of the supervisor's user, with a secret in its environment and an open private file.
void Stage::start_victim(Side side) {
  int ready[2];
  if (::pipe2(ready, O_CLOEXEC) != 0) return;
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    ::setsid();
    ::dup2(ready[1], 1);
    ::dup2(::open((directory(side) + "/private").c_str(), O_RDONLY), 3);
    const std::string program = attempt();
    const std::string canary = "canary=" + directory(side);
    ::execl(program.c_str(), program.c_str(), "life_sleep_for_ever", canary.c_str(), nullptr);
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  [[maybe_unused]] const ssize_t count = ::read(ready[0], &byte, 1);
  ::close(ready[0]);
  victims_[side] = pid;
}

bool Stage::is_helper(pid_t pid) const {
  return std::any_of(victims_.begin(), victims_.end(),
                     [&](const auto& victim) { return victim.second == pid; });
}

std::vector<std::string> Stage::arguments(Side side, const std::string& tmpfs,
                                          const std::string& channel) const {
  std::vector<std::string> words = {"canary=" + directory(side), "tmpfs=" + tmpfs,
                                    "channel=" + channel,
                                    "victim=" + std::to_string(victims_.at(side))};
  for (const auto& [name, value] : facts_) words.push_back(name + "=" + value);
  return words;
}

std::string Stage::restore(Side side) {
  std::string changed;
  const auto note = [&](const std::string& what) {
    if (!changed.empty()) changed += ", ";
    changed += what;
  };
  const std::string root = directory(side);
  for (const CanaryFile& file : canary_files) {
    const auto text = kernel::read_file(root + "/" + file.path, 4096);
    struct stat info {};
    ::stat((root + "/" + file.path).c_str(), &info);
    if (!text || *text != canary_text || (info.st_mode & 07777) != file.mode)
      note(std::string("canary file ") + file.path);
  }
  if (::access((root + "/planted").c_str(), F_OK) == 0) note("a planted file");
  if (!changed.empty()) plant(side);
  const std::string bound = programs() + "/open-to-all";
  const auto text = kernel::read_file(bound, 4096);
  if (!text || *text != canary_text) {
    write_file(bound, 0666, canary_text);
    note("the read-only bind");
  }
  if (::waitpid(victims_[side], nullptr, WNOHANG) != 0) {
    start_victim(side);
    note("the victim process was killed");
  }
  return changed;
}

void Stage::remove_shared(const std::string& channel) {
  const std::string name = "paddock-escape-" + channel;
  for (const char* directory : {"/tmp/", "/var/tmp/", "/dev/shm/"})
    ::unlink((directory + name).c_str());
  ::mq_unlink(("/" + name).c_str());
  const key_t key = 0x70640000 + std::atoi(channel.c_str()) % 0xffff;
  const int memory = ::shmget(key, 1, 0);
  if (memory >= 0) ::shmctl(memory, IPC_RMID, nullptr);
  const int semaphore = ::semget(key, 1, 0);
  if (semaphore >= 0) ::semctl(semaphore, 0, IPC_RMID);
  const long key_id =
      ::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name.c_str(), 0);
  if (key_id >= 0) ::syscall(SYS_keyctl, KEYCTL_UNLINK, key_id, KEY_SPEC_USER_KEYRING, 0, 0);
}

}  // namespace paddock::escapes
