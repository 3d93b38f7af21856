// make_user_namespace unshare|clone3: tries to get one, in which it would have every capability.

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>

#include "programs/answer.hpp"

int main(int argc, char** argv) {
  const std::string how = argc == 2 ? argv[1] : "";
  if (how == "unshare") return answer(::unshare(CLONE_NEWUSER) == 0);
  if (how != "clone3") return 2;
  clone_args arguments{};
  arguments.flags = CLONE_NEWUSER;
  arguments.exit_signal = SIGCHLD;
  const long pid = ::syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid == 0) ::_exit(0);
  return answer(pid > 0);
}
