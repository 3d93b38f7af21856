#include "kernel/launch/user_namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/launch/control.hpp"

namespace paddock::launch {
namespace {

void write_proc_file(const char* path, const char* text, const char* step) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) die(step, errno);
  if (::write(fd, text, ::strlen(text)) < 0) die(step, errno);
  ::close(fd);
}

// "id id 1": this one id stays what it is.
void map_to_itself(const char* path, unsigned id, const char* step) {
  char text[64];
  ::snprintf(text, sizeof text, "%u %u 1", id, id);
  write_proc_file(path, text, step);
}

}  // namespace

void map_ids_to_themselves(uid_t uid, gid_t gid) {
  write_proc_file("/proc/self/setgroups", "deny", "deny setgroups");
  map_to_itself("/proc/self/uid_map", uid, "map the user id");
  map_to_itself("/proc/self/gid_map", gid, "map the group id");
}

void enter_own_user_namespace() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) die("create a user namespace", errno);
  map_ids_to_themselves(uid, gid);
}

void close_user_namespaces() {
  write_proc_file("/proc/sys/user/max_user_namespaces", "0", "close user namespaces");
}

}  // namespace paddock::launch
