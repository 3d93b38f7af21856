// Linked into the daemon of the fault tests: functions of the C library that fail, or at which the
// daemon dies, when the board says so. Those of shared libraries (libuv, SQLite) come here, too:
// what the program itself defines stands first.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "faults/fault_board.hpp"
#include "kernel/run/spawn_child.hpp"
#include "supervisor/ledger/ledger_writer.hpp"
#include "supervisor/ledger/retention.hpp"
#include "supervisor/recovery/recover.hpp"

namespace paddock::faults {
namespace {

template <class Function>
Function* original(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0) {
  static auto* const real = original<long(long, ...)>("syscall");
  return real(number, a, b, c, d);
}

Board* board = nullptr;
pid_t daemon_pid = 0;

__attribute__((constructor)) void map_board() {
  daemon_pid = ::getpid();
  const char* const path = std::getenv(board_variable);
  if (path == nullptr) return;
  const auto fd = static_cast<int>(
      system_call(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_RDWR | O_CLOEXEC));
  void* const memory = ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  system_call(SYS_close, fd);
  if (memory == MAP_FAILED) std::abort();
  board = static_cast<Board*>(memory);
}

[[noreturn]] void die() {
  system_call(SYS_kill, daemon_pid, SIGKILL);
  for (;;) ::pause();
}

// Of the thread that writes the ledger.
thread_local std::span<const supervisor::Transition> being_written;
// What it does besides: recovery, or pruning.
thread_local std::string_view at_work;

bool is_while_writing(std::string_view kind) {
  return kind.empty() || kind == at_work ||
         std::any_of(being_written.begin(), being_written.end(),
                     [&](const supervisor::Transition& one) { return one.event.kind == kind; });
}

void show_being_written() {
  if (board == nullptr) return;
  std::string kinds = at_work.empty() ? "" : std::string(at_work) + " ";
  for (const supervisor::Transition& one : being_written) kinds += one.event.kind + " ";
  board->writing.fill('\0');
  kinds.copy(board->writing.data(), board->writing.size() - 1);
}

// Counts the call. True if the effect is due at it.
bool is_due(Call call) {
  if (board == nullptr || board->effect.load() == Effect::none) return false;
  const Call wanted = board->call.load();
  if (wanted != call && wanted != Call::any) return false;
  if (!is_while_writing(board->while_writing.data())) return false;
  if (board->skip.fetch_sub(1) > 0 || board->times.fetch_sub(1) <= 0) return false;
  ++board->hits;
  return true;
}

// The call itself is `really`, of which -1 says that it failed.
template <class Really>
auto attempt(Call call, Really really) -> decltype(really()) {
  if (!is_due(call)) return really();
  switch (board->effect.load()) {
    case Effect::fail:
      errno = board->error.load();
      return static_cast<decltype(really())>(-1);
    case Effect::die_before:
      die();
    case Effect::die_after:
      really();
      die();
    case Effect::none:
      break;
  }
  return really();
}

// For those that return a pointer.
template <class Really>
auto attempt_pointer(Call call, Really really) -> decltype(really()) {
  const long failed = attempt(call, [] { return 0L; });
  return failed == -1 ? nullptr : really();
}

}  // namespace

// clone3 is a system call without a function: the linker sends the calls of what makes it here.
using StartChild = kernel::Result<pid_t>(const kernel::ChildSide&, int, int*);
StartChild real_start_child asm("__real__ZN7paddock6kernel11start_childERKNS0_9ChildSideEiPi");
StartChild wrapped_start_child asm("__wrap__ZN7paddock6kernel11start_childERKNS0_9ChildSideEiPi");
kernel::Result<pid_t> wrapped_start_child(const kernel::ChildSide& child, int cgroup_directory,
                                          int* pidfd) {
  if (attempt(Call::clone3, [] { return 0; }) != 0) return kernel::fail_needed_call("clone3");
  return real_start_child(child, cgroup_directory, pidfd);
}

// What is written, and that it is.
using Apply = kernel::Result<std::uint64_t>(supervisor::LedgerWriter*,
                                            std::span<const supervisor::Transition>);
Apply real_apply asm(
    "__real__ZN7paddock10supervisor12LedgerWriter5applyESt4spanIKNS0_10TransitionELm"
    "18446744073709551615EE");
Apply wrapped_apply asm(
    "__wrap__ZN7paddock10supervisor12LedgerWriter5applyESt4spanIKNS0_10TransitionELm"
    "18446744073709551615EE");
kernel::Result<std::uint64_t> wrapped_apply(supervisor::LedgerWriter* writer,
                                            std::span<const supervisor::Transition> transitions) {
  being_written = transitions;
  show_being_written();
  auto result = real_apply(writer, transitions);
  being_written = {};
  show_being_written();
  return result;
}

template <class Work>
auto while_at(std::string_view what, Work work) {
  at_work = what;
  show_being_written();
  auto result = work();
  at_work = {};
  show_being_written();
  return result;
}

using Prune = kernel::Result<std::size_t>(supervisor::LedgerWriter*,
                                          const supervisor::LedgerLimits&,
                                          std::chrono::system_clock::time_point);
Prune real_prune asm(
    "__real__ZN7paddock10supervisor12LedgerWriter5pruneERKNS0_12LedgerLimitsENSt6chrono10time_"
    "pointINS5_3_V212system_clockENS5_8durationIlSt5ratioILl1ELl1000000000EEEEEE");
Prune wrapped_prune asm(
    "__wrap__ZN7paddock10supervisor12LedgerWriter5pruneERKNS0_12LedgerLimitsENSt6chrono10time_"
    "pointINS5_3_V212system_clockENS5_8durationIlSt5ratioILl1ELl1000000000EEEEEE");
kernel::Result<std::size_t> wrapped_prune(supervisor::LedgerWriter* writer,
                                          const supervisor::LedgerLimits& limits,
                                          std::chrono::system_clock::time_point now) {
  return while_at(supervisor::pruned_kind, [&] { return real_prune(writer, limits, now); });
}

using Recover = kernel::Result<supervisor::RecoveryReport>(supervisor::LedgerWriter&,
                                                           const supervisor::RecoveryOptions&);
Recover real_recover asm(
    "__real__ZN7paddock10supervisor7recoverERNS0_12LedgerWriterERKNS0_15RecoveryOptionsE");
Recover wrapped_recover asm(
    "__wrap__ZN7paddock10supervisor7recoverERNS0_12LedgerWriterERKNS0_15RecoveryOptionsE");
kernel::Result<supervisor::RecoveryReport> wrapped_recover(
    supervisor::LedgerWriter& writer, const supervisor::RecoveryOptions& options) {
  return while_at(at_recovery, [&] { return real_recover(writer, options); });
}

}  // namespace paddock::faults

using paddock::faults::attempt;
using paddock::faults::attempt_pointer;
using paddock::faults::Call;
using paddock::faults::original;

namespace {

// As which call it fails, if it does.
std::optional<Call> call_of(int command, long argument) {
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return Call::fcntl;
  if (command != F_SETLK) return std::nullopt;
  return reinterpret_cast<struct flock*>(argument)->l_type == F_UNLCK ? Call::unlock : Call::lock;
}

}  // namespace

extern "C" {

long syscall(long number, ...) noexcept {
  static auto* const real = original<long(long, ...)>("syscall");
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (long& argument : a) argument = va_arg(arguments, long);
  va_end(arguments);
  const auto really = [&] { return real(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
  switch (number) {
    case SYS_pidfd_open:
      return attempt(Call::pidfd_open, really);
    case SYS_execveat:
      return attempt(Call::execveat, really);
    case SYS_openat2:
      return attempt(Call::openat2, really);
    default:
      return really();
  }
}

int pipe2(int* ends, int flags) noexcept {
  static auto* const real = original<int(int*, int)>("pipe2");
  return attempt(Call::pipe2, [&] { return real(ends, flags); });
}

int socketpair(int domain, int type, int protocol, int* ends) noexcept {
  static auto* const real = original<int(int, int, int, int*)>("socketpair");
  return attempt(Call::socketpair, [&] { return real(domain, type, protocol, ends); });
}

int memfd_create(const char* name, unsigned flags) noexcept {
  static auto* const real = original<int(const char*, unsigned)>("memfd_create");
  return attempt(Call::memfd_create, [&] { return real(name, flags); });
}

int open(const char* path, int flags, ...) {
  static auto* const real = original<int(const char*, int, ...)>("open");
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return attempt(Call::open, [&] { return real(path, flags, mode); });
}

int open64(const char* path, int flags, ...) {
  static auto* const real = original<int(const char*, int, ...)>("open64");
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return attempt(Call::open, [&] { return real(path, flags, mode); });
}

int openat(int directory, const char* path, int flags, ...) {
  static auto* const real = original<int(int, const char*, int, ...)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = va_arg(arguments, unsigned);
  va_end(arguments);
  return attempt(Call::openat, [&] { return real(directory, path, flags, mode); });
}

DIR* opendir(const char* path) {
  static auto* const real = original<DIR*(const char*)>("opendir");
  return attempt_pointer(Call::opendir, [&] { return real(path); });
}

DIR* fdopendir(int fd) {
  static auto* const real = original<DIR*(int)>("fdopendir");
  return attempt_pointer(Call::opendir, [&] { return real(fd); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = original<int(const char*, mode_t)>("mkdir");
  return attempt(Call::mkdir, [&] { return real(path, mode); });
}

char* mkdtemp(char* pattern) noexcept {
  static auto* const real = original<char*(char*)>("mkdtemp");
  return attempt_pointer(Call::mkdtemp, [&] { return real(pattern); });
}

int rmdir(const char* path) noexcept {
  static auto* const real = original<int(const char*)>("rmdir");
  return attempt(Call::rmdir, [&] { return real(path); });
}

int fcntl64(int fd, int command, ...) {
  static auto* const real = original<int(int, int, ...)>("fcntl64");
  va_list arguments;
  va_start(arguments, command);
  const long argument = va_arg(arguments, long);
  va_end(arguments);
  const auto really = [&] { return real(fd, command, argument); };
  const auto call = call_of(command, argument);
  return call ? attempt(*call, really) : really();
}

// The same on 64 bits: libraries call one of them, the program itself the other.
int fcntl(int fd, int command, ...) __attribute__((alias("fcntl64")));

int dup2(int from, int to) noexcept {
  static auto* const real = original<int(int, int)>("dup2");
  return attempt(Call::dup2, [&] { return real(from, to); });
}

int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  static auto* const real = original<int(int, int, int, const void*, socklen_t)>("setsockopt");
  return attempt(Call::setsockopt, [&] { return real(fd, level, name, value, size); });
}

int accept4(int fd, sockaddr* address, socklen_t* size, int flags) {
  static auto* const real = original<int(int, sockaddr*, socklen_t*, int)>("accept4");
  return attempt(Call::accept4, [&] { return real(fd, address, size, flags); });
}

int epoll_ctl(int epoll, int operation, int fd, struct epoll_event* event) noexcept {
  static auto* const real = original<int(int, int, int, struct epoll_event*)>("epoll_ctl");
  // libuv tries each descriptor before it watches it, with no descriptor in the event. Only that
  // can fail without the end of the process: libuv aborts where the watching itself does.
  if (operation != EPOLL_CTL_ADD || event->data.fd != -1) return real(epoll, operation, fd, event);
  return attempt(Call::epoll_ctl, [&] { return real(epoll, operation, fd, event); });
}

int epoll_create1(int flags) noexcept {
  static auto* const real = original<int(int)>("epoll_create1");
  return attempt(Call::epoll_create1, [&] { return real(flags); });
}

int eventfd(unsigned count, int flags) noexcept {
  static auto* const real = original<int(unsigned, int)>("eventfd");
  return attempt(Call::eventfd, [&] { return real(count, flags); });
}

int socket(int domain, int type, int protocol) noexcept {
  static auto* const real = original<int(int, int, int)>("socket");
  return attempt(Call::socket, [&] { return real(domain, type, protocol); });
}

int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  static auto* const real = original<int(int, const sockaddr*, socklen_t)>("bind");
  return attempt(Call::bind, [&] { return real(fd, address, size); });
}

int listen(int fd, int backlog) noexcept {
  static auto* const real = original<int(int, int)>("listen");
  return attempt(Call::listen, [&] { return real(fd, backlog); });
}

int chmod(const char* path, mode_t mode) noexcept {
  static auto* const real = original<int(const char*, mode_t)>("chmod");
  return attempt(Call::chmod, [&] { return real(path, mode); });
}

int lchown(const char* path, uid_t uid, gid_t gid) noexcept {
  static auto* const real = original<int(const char*, uid_t, gid_t)>("lchown");
  return attempt(Call::lchown, [&] { return real(path, uid, gid); });
}

int chown(const char* path, uid_t uid, gid_t gid) noexcept {
  static auto* const real = original<int(const char*, uid_t, gid_t)>("chown");
  return attempt(Call::lchown, [&] { return real(path, uid, gid); });
}

// By another name here: <fcntl.h> has a struct flock.
int flock_file(int fd, int operation) noexcept asm("flock");
int flock_file(int fd, int operation) noexcept {
  static auto* const real = original<int(int, int)>("flock");
  return attempt(Call::flock, [&] { return real(fd, operation); });
}

pid_t fork() noexcept {
  static auto* const real = original<pid_t()>("fork");
  return attempt(Call::fork, [&] { return real(); });
}

ssize_t read(int fd, void* bytes, size_t size) {
  static auto* const real = original<ssize_t(int, void*, size_t)>("read");
  return attempt(Call::read, [&] { return real(fd, bytes, size); });
}

ssize_t write(int fd, const void* bytes, size_t size) {
  static auto* const real = original<ssize_t(int, const void*, size_t)>("write");
  return attempt(Call::write, [&] { return real(fd, bytes, size); });
}

ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static auto* const real = original<ssize_t(int, msghdr*, int)>("recvmsg");
  return attempt(Call::recvmsg, [&] { return real(fd, message, flags); });
}

ssize_t pwrite64(int fd, const void* bytes, size_t size, off64_t at) {
  static auto* const real = original<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return attempt(Call::pwrite, [&] { return real(fd, bytes, size, at); });
}

int fsync(int fd) {
  static auto* const real = original<int(int)>("fsync");
  return attempt(Call::fsync, [&] { return real(fd); });
}

int fdatasync(int fd) {
  static auto* const real = original<int(int)>("fdatasync");
  return attempt(Call::fsync, [&] { return real(fd); });
}

int ftruncate64(int fd, off64_t size) noexcept {
  static auto* const real = original<int(int, off64_t)>("ftruncate64");
  return attempt(Call::ftruncate, [&] { return real(fd, size); });
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static auto* const real = original<int(clockid_t, timespec*)>("clock_gettime");
  const int result = real(clock, time);
  if (result == 0 && clock == CLOCK_REALTIME && paddock::faults::board != nullptr)
    time->tv_sec += paddock::faults::board->clock_offset_s.load();
  return result;
}

time_t time(time_t* out) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != nullptr) *out = now.tv_sec;
  return now.tv_sec;
}

int gettimeofday(timeval* __restrict out, void* __restrict) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  out->tv_sec = now.tv_sec;
  out->tv_usec = now.tv_nsec / 1000;
  return 0;
}

}  // extern "C"
