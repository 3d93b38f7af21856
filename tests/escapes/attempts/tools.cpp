#include "escapes/attempts/tools.hpp"

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

namespace paddock::escapes {
namespace {

constexpr std::size_t content_bytes_max = 4 * mebibyte;

}  // namespace

Outcome opens(const std::string& path, int flags) {
  return succeeded_if(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0600) >= 0);
}

Outcome writes_below(const std::string& directory) {
  return opens(directory, O_TMPFILE | O_WRONLY);
}

std::string content_of(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return {};
  std::string content;
  char buffer[16384];
  ssize_t count = 0;
  while (content.size() < content_bytes_max && (count = ::read(fd, buffer, sizeof buffer)) > 0)
    content.append(buffer, static_cast<std::size_t>(count));
  const int error = errno;
  ::close(fd);
  errno = count < 0 ? error : 0;
  return content;
}

Outcome reads(const std::string& path) {
  errno = 0;
  const std::string content = content_of(path);
  if (!content.empty()) return succeeded();
  return refused(errno == 0 ? ENODATA : errno);
}

Outcome finds(const std::string& path, const std::string& text) {
  errno = 0;
  const std::string content = content_of(path);
  if (content.find(text) != std::string::npos) return succeeded();
  return refused(errno == 0 ? ENODATA : errno);
}

bool writes(const std::string& path, const std::string& text) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
  return fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Outcome fills(const std::string& directory, std::size_t mib) {
  constexpr std::size_t file_mib = 16;
  for (std::size_t done = 0; done < mib; done += file_mib) {
    const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0 || ::fallocate(fd, 0, 0, file_mib * mebibyte) != 0) return refused();
  }
  return succeeded(std::to_string(mib) + " MiB");
}

Outcome finds_in_processes(const std::string& file, const std::string& text) {
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return refused();
  int last_error = ENOENT;
  while (const dirent* entry = ::readdir(proc)) {
    const pid_t pid = std::atoi(entry->d_name);
    if (pid <= 0 || pid == ::getpid()) continue;
    errno = 0;
    const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
    if (content_of(path).find(text) != std::string::npos) return succeeded(path);
    if (errno == EACCES || errno == EPERM) last_error = errno;
  }
  return refused(last_error);
}

std::string parent_file(const std::string& file) {
  return "/proc/" + std::to_string(::getppid()) + "/" + file;
}

pid_t forks(const std::function<void()>& body) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  body();
  wait_for_ever();
}

void wait_for_ever() {
  for (;;) ::pause();
}

bool takes_memory(std::size_t mib) {
  const std::size_t size = mib * mebibyte;
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  for (std::size_t at = 0; at < size; at += 4096) static_cast<volatile char*>(memory)[at] = 1;
  return true;
}

bool is_alive(pid_t pid) {
  const std::string stat = content_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

bool soon(const std::function<bool()>& condition) {
  for (int i = 0; i < 150; ++i) {
    if (condition()) return true;
    ::usleep(2000);
  }
  return false;
}

}  // namespace paddock::escapes
