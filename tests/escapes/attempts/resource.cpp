// Attempts on what all share: processes, memory, descriptors, CPU time. Each is bounded by itself,
// so that it does no harm unconfined; "succeeded" means that it got all it asked for.

#include <mqueue.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <system_error>
#include <thread>
#include <vector>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

constexpr int processes = 80;           // above the process limit of every shipped profile
constexpr std::size_t total_mib = 384;  // above the memory that the runner gives to such a run

void kill_and_reap(const std::vector<pid_t>& children) {
  for (const pid_t child : children) ::kill(child, SIGKILL);
  while (::wait(nullptr) > 0) {
  }
}

Outcome bomb(const std::function<void()>& body) {
  std::vector<pid_t> children;
  int error = 0;
  while (static_cast<int>(children.size()) < processes) {
    const pid_t child = forks([&] {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      body();
    });
    error = errno;
    if (child < 0) break;
    children.push_back(child);
  }
  const auto made = static_cast<int>(children.size());
  kill_and_reap(children);
  return made == processes ? succeeded(std::to_string(made) + " processes")
                           : refused(error, "after " + std::to_string(made));
}

Outcome thread_bomb(const Arguments&) {
  std::atomic<bool> over = false;
  std::vector<std::thread> threads;
  int error = 0;
  try {
    while (static_cast<int>(threads.size()) < processes)
      threads.emplace_back([&] { over.wait(false); });
  } catch (const std::system_error& failure) {
    error = failure.code().value();
  }
  const auto made = static_cast<int>(threads.size());
  over = true;
  over.notify_all();
  for (std::thread& thread : threads) thread.join();
  return made == processes ? succeeded() : refused(error, "after " + std::to_string(made));
}

// Each child takes its part, and all of it is held at once. `total` is above the run's limit.
Outcome hog_in_children(std::size_t total) {
  constexpr std::size_t count = 4;
  int ready[2];
  if (::pipe(ready) != 0) return refused();
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < count; ++i)
    children.push_back(forks([&] {
      const char result = takes_memory(total / count) ? '+' : '-';
      [[maybe_unused]] const ssize_t told = ::write(ready[1], &result, 1);
    }));
  ::close(ready[1]);
  std::size_t held = 0;
  char result = 0;
  for (std::size_t i = 0; i < count && ::read(ready[0], &result, 1) == 1; ++i)
    held += result == '+';
  kill_and_reap(children);
  return held == count ? succeeded(std::to_string(total) + " MiB") : refused(ENOMEM);
}

// The greedy child may die, the rest goes on as if nothing had been.
Outcome let_only_the_child_die(const Arguments&) {
  const pid_t child = forks([] {
    takes_memory(total_mib);
    ::_exit(0);
  });
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return refused();
  return succeeded("the run went on");
}

Outcome map_beyond_the_limit() {
  // 3 GiB that are never touched: RLIMIT_AS counts them.
  void* memory = ::mmap(nullptr, 3072 * mebibyte, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return succeeded_if(memory != MAP_FAILED);
}

Outcome hog_by_memfd(const Arguments&) {
  for (std::size_t done = 0; done < total_mib; done += 32) {
    const int fd = ::memfd_create("paddock-escape", MFD_CLOEXEC);
    if (fd < 0 || ::fallocate(fd, 0, 0, 32 * mebibyte) != 0) return refused();
  }
  return succeeded();
}

Outcome hog_by_pipes(const Arguments&) {
  constexpr int pipes = 96;
  const std::vector<char> page(mebibyte, 'x');
  for (int i = 0; i < pipes; ++i) {
    int ends[2];
    if (::pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0) return refused();
    if (::fcntl(ends[1], F_SETPIPE_SZ, mebibyte) < 0) return refused();
    if (::write(ends[1], page.data(), page.size()) < 0) return refused();
  }
  return succeeded("96 MiB");
}

Outcome hog_by_shared_memory(const Arguments&) {
  const int id = ::shmget(IPC_PRIVATE, total_mib * mebibyte, IPC_CREAT | 0600);
  if (id < 0) return refused();
  void* memory = ::shmat(id, nullptr, 0);
  ::shmctl(id, IPC_RMID, nullptr);
  if (memory == reinterpret_cast<void*>(-1)) return refused();
  std::memset(memory, 1, total_mib * mebibyte);
  return succeeded();
}

Outcome hog_by_message_queues(const Arguments&) {
  int error = 0;
  int made = 0;
  const auto name = [](int i) {
    return "/paddock-escape-" + std::to_string(::getpid()) + "-" + std::to_string(i);
  };
  mq_attr attributes{};
  attributes.mq_maxmsg = 10;
  attributes.mq_msgsize = 8192;
  for (; made < 4; ++made)
    if (::mq_open(name(made).c_str(), O_CREAT | O_RDWR, 0600, &attributes) < 0) {
      error = errno;
      break;
    }
  for (int i = 0; i < made; ++i) ::mq_unlink(name(i).c_str());
  return made == 4 ? succeeded() : refused(error);
}

Outcome lock_memory(const Arguments&) {
  constexpr std::size_t size = 16 * mebibyte;  // twice the usual RLIMIT_MEMLOCK
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return succeeded_if(memory != MAP_FAILED && ::mlock(memory, size) == 0);
}

Outcome burn_cpu(bool ignore_signal) {
  if (ignore_signal) std::signal(SIGXCPU, SIG_IGN);
  // RLIMIT_CPU counts whole seconds; the runner gives such a run one. The kernel looks at it when
  // the clock ticks, and an emulated clock that starves loses ticks.
  while (std::clock() < CLOCKS_PER_SEC * 2) {
  }
  return succeeded("2 s of CPU time");
}

Outcome exhaust_descriptors(const Arguments&) {
  constexpr int count = 1500;
  for (int i = 0; i < count; ++i)
    if (::eventfd(0, EFD_CLOEXEC) < 0) return refused(errno, "after " + std::to_string(i));
  return succeeded(std::to_string(count) + " descriptors");
}

Outcome exhaust_inotify(const Arguments&) {
  for (int i = 0; i < 100; ++i)
    if (::inotify_init1(IN_CLOEXEC) < 0) return refused();
  return succeeded("100 instances, of 128 for the user");
}

// Descriptors in flight on sockets are in no process's table.
Outcome exhaust_by_descriptors_in_flight(const Arguments&) {
  constexpr int per_message = 250;
  constexpr int messages = 8;
  const int fd = ::eventfd(0, EFD_CLOEXEC);
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * per_message)] = {};
  char byte = 'x';
  iovec data{&byte, 1};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int) * per_message);
  for (int i = 0; i < per_message; ++i)
    std::memcpy(CMSG_DATA(header) + sizeof(int) * static_cast<std::size_t>(i), &fd, sizeof fd);
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0) return refused();
  for (int i = 0; i < messages; ++i)
    if (::sendmsg(pair[0], &message, MSG_DONTWAIT) != 1) return refused();
  return succeeded("2000 descriptors");
}

Outcome dump_core(const Arguments&) {
  const pid_t child = forks([] { ::abort(); });
  int status = 0;
  ::waitpid(child, &status, 0);
  return WCOREDUMP(status) ? succeeded() : refused_as("ENODATA", "no core file");
}

Outcome set_scheduler(int policy, int priority) {
  sched_param parameter{};
  parameter.sched_priority = priority;
  return succeeded_if(::sched_setscheduler(0, policy, &parameter) == 0);
}

Outcome raise_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  ::getrlimit(resource, &limit);
  const rlimit higher{limit.rlim_max + 1, limit.rlim_max + 1};
  if (limit.rlim_max == RLIM_INFINITY) return succeeded("there is no limit");
  return succeeded_if(::setrlimit(resource, &higher) == 0);
}

Outcome flood_stdout(const Arguments&) {
  const std::string piece(mebibyte, 'x');
  for (int i = 0; i < 12; ++i) {
    std::size_t written = 0;
    while (written < piece.size()) {
      const ssize_t count = ::write(1, piece.data() + written, piece.size() - written);
      if (count < 0) return refused();
      written += static_cast<std::size_t>(count);
    }
  }
  std::puts("");  // the report begins a line
  return succeeded("12 MiB");
}

}  // namespace

Attempts resource_attempts() {
  using A = const Arguments&;
  return {
      {"res_fork_bomb", [](A) { return bomb([] {}); }},
      {"res_zombie_bomb", [](A) { return bomb([] { ::_exit(0); }); }},
      {"res_session_bomb", [](A) { return bomb([] { ::setsid(); }); }},
      {"res_thread_bomb", thread_bomb},
      {"res_mem_hog", [](A) { return map_beyond_the_limit(); }},
      {"res_mem_in_children", [](A) { return hog_in_children(total_mib); }},
      {"res_oom_child_only", let_only_the_child_die},
      {"res_mem_via_memfd", hog_by_memfd},
      {"res_mem_via_pipe_bufs", hog_by_pipes},
      {"res_sysv_shm", hog_by_shared_memory},
      {"res_posix_mq", hog_by_message_queues},
      {"res_mlock", lock_memory},
      {"res_cpu_spin", [](A) { return burn_cpu(false); }},
      {"res_cpu_sigxcpu_ignored", [](A) { return burn_cpu(true); }},
      {"res_fd_exhaust", exhaust_descriptors},
      {"res_inotify_exhaust", exhaust_inotify},
      {"res_inflight_fds", exhaust_by_descriptors_in_flight},
      {"res_core_dump", dump_core},
      {"res_stdout_flood", flood_stdout},
      {"res_rt_prio", [](A) { return set_scheduler(SCHED_FIFO, 1); }},
      {"res_round_robin", [](A) { return set_scheduler(SCHED_RR, 1); }},
      {"res_nice_negative",
       [](A) { return succeeded_if(::setpriority(PRIO_PROCESS, 0, -5) == 0); }},
      {"res_ioprio_realtime",
       [](A) {
         // IOPRIO_WHO_PROCESS and IOPRIO_CLASS_RT: some kernels' linux/ioprio.h is no C++.
         constexpr int of_process = 1;
         constexpr int real_time = 1 << 13;
         return succeeded_if(::syscall(SYS_ioprio_set, of_process, 0, real_time) == 0);
       }},
      {"res_raise_nofile", [](A) { return raise_limit(RLIMIT_NOFILE); }},
      {"res_raise_core", [](A) { return raise_limit(RLIMIT_CORE); }},
      {"res_raise_nproc", [](A) { return raise_limit(RLIMIT_NPROC); }},
      {"res_raise_as", [](A) { return raise_limit(RLIMIT_AS); }},
      {"res_raise_cpu", [](A) { return raise_limit(RLIMIT_CPU); }},
      {"res_raise_fsize", [](A) { return raise_limit(RLIMIT_FSIZE); }},
      {"res_oom_score", [](A) { return succeeded_if(writes("/proc/self/oom_score_adj", "-900")); }},
  };
}

}  // namespace paddock::escapes
