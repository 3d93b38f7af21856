// Channels between two runs at once. NAME_hold keeps a state and says "ready"; NAME looks whether
// it can see it. For those that watch for an event it is NAME_touch that makes the event happen.

#include <linux/keyctl.h>
#include <mqueue.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "escapes/attempts/sockets.hpp"
#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

using A = const Arguments&;

// An inode that every run sees.
constexpr const char* shared_file = "/usr/bin/env";
constexpr const char* shared_directory = "/usr/bin";

// Held until the runner ends the run.
Outcome holds(bool condition) {
  if (!condition) return refused();
  std::puts("ready");
  std::fflush(stdout);
  wait_for_ever();
}

std::string name_of(A arguments) {
  return "paddock-escape-" + arguments.text("channel");
}

int open_shared() {
  return ::open(shared_file, O_RDONLY | O_CLOEXEC);
}

struct flock lock_of(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = 4711;
  lock.l_len = 1;
  return lock;
}

Outcome hold_record_lock(int command) {
  struct flock lock = lock_of(F_RDLCK);
  return holds(::fcntl(open_shared(), command, &lock) == 0);
}

Outcome see_record_lock(int command) {
  struct flock lock = lock_of(F_WRLCK);
  if (::fcntl(open_shared(), command, &lock) != 0) return refused();
  return lock.l_type != F_UNLCK ? succeeded("a bit through a lock on /usr") : refused_as("unseen");
}

Outcome see_flock(A) {
  const int fd = open_shared();
  if (fd < 0) return refused();
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return refused_as("unseen");
  return errno == EWOULDBLOCK ? succeeded("a bit through a lock on /usr") : refused();
}

// On a file whose owner, in an ordinary user's case, is the run's user.
std::string leased_file(A arguments) {
  return arguments.text("bound") + "/open-to-all";
}

Outcome hold_lease(A arguments) {
  const int fd = ::open(leased_file(arguments).c_str(), O_RDONLY | O_CLOEXEC);
  return holds(fd >= 0 && ::fcntl(fd, F_SETLEASE, F_WRLCK) == 0);
}

Outcome see_lease(A arguments) {
  const int fd = ::open(leased_file(arguments).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) return refused_as("unseen");
  return errno == EWOULDBLOCK ? succeeded() : refused();
}

Outcome make_event(A) {
  const int directory = ::open(shared_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  char bytes[4096];
  ::syscall(SYS_getdents64, directory, bytes, sizeof bytes);
  const int fd = open_shared();
  return succeeded_if(fd >= 0 && ::read(fd, bytes, 1) == 1);
}

constexpr int event_wait_ms = 2000;

Outcome wait_for_dnotify(A) {
  std::signal(SIGUSR1, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  const int fd = ::open(shared_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 || ::fcntl(fd, F_SETSIG, SIGUSR1) != 0) return refused();
  std::signal(SIGUSR1, SIG_DFL);
  if (::fcntl(fd, F_NOTIFY, DN_ACCESS | DN_MULTISHOT) != 0) return refused();
  std::puts("ready");
  std::fflush(stdout);
  const timespec limit{event_wait_ms / 1000, 0};
  return ::sigtimedwait(&set, nullptr, &limit) == SIGUSR1 ? succeeded() : refused_as("unseen");
}

Outcome wait_for_inotify(A) {
  const int fd = ::inotify_init1(IN_CLOEXEC);
  if (fd < 0 || ::inotify_add_watch(fd, shared_file, IN_OPEN | IN_ACCESS) < 0) return refused();
  std::puts("ready");
  std::fflush(stdout);
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, event_wait_ms) == 1 ? succeeded("a bit through an event on /usr")
                                                : refused_as("unseen");
}

Outcome hold_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (fd >= 0) ::fchmod(fd, 0666);
  return holds(fd >= 0);
}

Outcome take_file(const std::string& path) {
  Outcome outcome = opens(path, O_RDONLY);
  ::unlink(path.c_str());
  return outcome;
}

key_t key_of(A arguments) {
  return 0x70640000 + arguments.number("channel") % 0xffff;
}

Outcome take_shm(A arguments) {
  const int id = ::shmget(key_of(arguments), 1, 0);
  if (id < 0) return refused();
  ::shmctl(id, IPC_RMID, nullptr);
  return succeeded();
}

Outcome hold_shm(A arguments) {
  return holds(::shmget(key_of(arguments), 4096, IPC_CREAT | 0666) >= 0);
}

Outcome hold_semaphore(A arguments) {
  return holds(::semget(key_of(arguments), 1, IPC_CREAT | 0666) >= 0);
}

Outcome take_semaphore(A arguments) {
  const int id = ::semget(key_of(arguments), 1, 0);
  if (id < 0) return refused();
  ::semctl(id, 0, IPC_RMID);
  return succeeded();
}

Outcome hold_queue(A arguments) {
  return holds(::mq_open(("/" + name_of(arguments)).c_str(), O_CREAT | O_RDWR, 0666, nullptr) >= 0);
}

Outcome take_queue(A arguments) {
  const std::string name = "/" + name_of(arguments);
  const mqd_t queue = ::mq_open(name.c_str(), O_RDONLY);
  const int error = errno;
  ::mq_unlink(name.c_str());
  return queue >= 0 ? succeeded() : refused(error);
}

Outcome hold_key(A arguments) {
  return holds(::syscall(SYS_add_key, "user", name_of(arguments).c_str(), "x", 1,
                         KEY_SPEC_USER_KEYRING) >= 0);
}

Outcome take_key(A arguments) {
  const long key = ::syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user",
                             name_of(arguments).c_str(), 0);
  if (key < 0) return refused();
  ::syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING, 0, 0);
  return succeeded();
}

Outcome hold_process_name(A) {
  return holds(true);
}

// What an ordinary user's own limit counts: all processes of the user. Unconfined it has to be set.
constexpr rlim_t process_limit = 64;

bool become_a_limited_user() {
  constexpr uid_t user = 65'533;
  if (::getuid() == 0 && ::setresuid(user, user, user) != 0) return false;
  rlimit limit{};
  ::getrlimit(RLIMIT_NPROC, &limit);
  if (limit.rlim_cur <= process_limit) return true;
  limit.rlim_cur = process_limit;
  return ::setrlimit(RLIMIT_NPROC, &limit) == 0;
}

// Forks all that the limit lets it. The children end with their parent.
Outcome hold_every_process(A) {
  if (!become_a_limited_user()) return refused();
  rlim_t made = 0;
  while (made <= process_limit && forks([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }) > 0)
    ++made;
  return holds(made > 0);
}

// The other run can still fork: it was not starved.
Outcome find_no_process_left(A) {
  if (!become_a_limited_user()) return refused();
  const pid_t child = forks([] { ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); });
  return child < 0 ? succeeded("a run kept another from forking") : refused_as("unhindered");
}

}  // namespace

Attempts channel_attempts() {
  return {
      {"fs_flock_cross_job", see_flock},
      {"fs_flock_cross_job_hold", [](A) { return holds(::flock(open_shared(), LOCK_SH) == 0); }},
      {"fs_posix_lock_channel", [](A) { return see_record_lock(F_GETLK); }},
      {"fs_posix_lock_channel_hold", [](A) { return hold_record_lock(F_SETLK); }},
      {"fs_ofd_lock_channel", [](A) { return see_record_lock(F_OFD_GETLK); }},
      {"fs_ofd_lock_channel_hold", [](A) { return hold_record_lock(F_OFD_SETLK); }},
      {"fs_lease_channel", see_lease},
      {"fs_lease_channel_hold", hold_lease},
      {"fs_dnotify_channel", wait_for_dnotify},
      {"fs_dnotify_channel_touch", make_event},
      {"fs_inotify_channel", wait_for_inotify},
      {"fs_inotify_channel_touch", make_event},
      {"side_shared_tmp", [](A a) { return take_file("/tmp/" + name_of(a)); }},
      {"side_shared_tmp_hold", [](A a) { return hold_file("/tmp/" + name_of(a)); }},
      {"side_shared_var_tmp", [](A a) { return take_file("/var/tmp/" + name_of(a)); }},
      {"side_shared_var_tmp_hold", [](A a) { return hold_file("/var/tmp/" + name_of(a)); }},
      {"side_shared_shm", [](A a) { return take_file("/dev/shm/" + name_of(a)); }},
      {"side_shared_shm_hold", [](A a) { return hold_file("/dev/shm/" + name_of(a)); }},
      {"side_abstract_socket",
       [](A a) {
         return succeeded_if(connect_unix(Naming::abstract, name_of(a), SOCK_STREAM) >= 0);
       }},
      {"side_abstract_socket_hold",
       [](A a) { return holds(listen_unix(Naming::abstract, name_of(a)) >= 0); }},
      {"side_loopback_port",
       [](A a) {
         return succeeded_if(connect_inet(SOCK_STREAM, "127.0.0.1", a.number("channelport")) >= 0);
       }},
      {"side_loopback_port_hold",
       [](A a) { return holds(listen_inet(a.number("channelport")) >= 0); }},
      {"side_sysv_shm", take_shm},
      {"side_sysv_shm_hold", hold_shm},
      {"side_sysv_semaphore", take_semaphore},
      {"side_sysv_semaphore_hold", hold_semaphore},
      {"side_posix_mq", take_queue},
      {"side_posix_mq_hold", hold_queue},
      {"side_user_keyring", take_key},
      {"side_user_keyring_hold", hold_key},
      {"side_process_visible",
       [](A) { return finds_in_processes("cmdline", "side_process_visible_hold"); }},
      {"side_process_visible_hold", hold_process_name},
      {"res_nproc_cross_job", find_no_process_left},
      {"res_nproc_cross_job_hold", hold_every_process},
  };
}

}  // namespace paddock::escapes
