#include "small_disk.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

namespace paddock::tests {
namespace {

bool enter_own_mount_namespace() {
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

}  // namespace

bool SmallDisk::is_possible() {
  static const bool entered = ::geteuid() == 0 && enter_own_mount_namespace();
  return entered;
}

SmallDisk::SmallDisk(std::string directory) : directory_(std::move(directory)) {
  REQUIRE(is_possible());
  REQUIRE(::mount("tmpfs", directory_.c_str(), "tmpfs", 0, "size=16m,mode=0700") == 0);
}

SmallDisk::~SmallDisk() {
  ::umount2(directory_.c_str(), MNT_DETACH);
}

void SmallDisk::fill() const {
  const int fd = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  REQUIRE(fd >= 0);
  const std::array<char, 4096> page{};
  while (::write(fd, page.data(), page.size()) > 0) continue;
  const int reason = errno;
  ::close(fd);
  REQUIRE(reason == ENOSPC);
}

void SmallDisk::make_room() const {
  REQUIRE(::unlink(filler().c_str()) == 0);
}

namespace {

void set_file_size_limit(rlim_t bytes) {
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min<rlim_t>(bytes, limit.rlim_max);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

}  // namespace

FileSizeLimit::FileSizeLimit(unsigned long bytes) {
  ::signal(SIGXFSZ, SIG_IGN);
  set_file_size_limit(bytes);
}

FileSizeLimit::~FileSizeLimit() {
  set_file_size_limit(RLIM_INFINITY);
  ::signal(SIGXFSZ, SIG_DFL);
}

}  // namespace paddock::tests
