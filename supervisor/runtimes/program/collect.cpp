#include "supervisor/runtimes/program/collect.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/runtimes/program/files.hpp"

namespace paddock::step {
namespace {

constexpr uint64_t page_bytes = 4096;
constexpr uint64_t window_bytes = 1u << 20;  // mapped at a time: RLIMIT_AS counts it

// A part of the channel in memory. Written there and not with write(2), which RLIMIT_FSIZE bounds
// by the place in the file.
class Window {
 public:
  Window(int channel, uint64_t offset, uint64_t bytes) {
    const uint64_t start = offset / page_bytes * page_bytes;
    skipped_ = offset - start;
    length_ = skipped_ + bytes;
    void* at = ::mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_SHARED, channel,
                      static_cast<off_t>(start));
    if (at != MAP_FAILED) start_ = static_cast<char*>(at);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() {
    if (start_ != nullptr) ::munmap(start_, length_);
  }

  char* data() const { return start_ == nullptr ? nullptr : start_ + skipped_; }

 private:
  char* start_ = nullptr;
  uint64_t skipped_ = 0;
  uint64_t length_ = 0;
};

bool read_exactly(int fd, char* to, uint64_t bytes) {
  while (bytes > 0) {
    const ssize_t count = ::read(fd, to, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to += count;
    bytes -= static_cast<uint64_t>(count);
  }
  return true;
}

bool copy(int fd, int channel, uint64_t offset, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t part = bytes < window_bytes ? bytes : window_bytes;
    const Window window(channel, offset, part);
    if (window.data() == nullptr || !read_exactly(fd, window.data(), part)) return false;
    offset += part;
    bytes -= part;
  }
  return true;
}

bool store(uint64_t word, int channel, uint64_t offset) {
  const Window window(channel, offset, sizeof word);
  if (window.data() == nullptr) return false;
  ::memcpy(window.data(), &word, sizeof word);
  return true;
}

// How many bytes were put at `offset`, where `room` is left.
uint64_t put(const char* name, int channel, uint64_t offset, uint64_t room) {
  // A file before it that changed meanwhile may have left bytes here.
  if (!store(0, channel, offset)) return 0;
  const int fd = open_file(name);
  if (fd < 0) return 0;
  struct stat status;
  uint64_t size = 0;
  bool whole = ::fstat(fd, &status) == 0 && status.st_size >= 0;
  if (whole) size = static_cast<uint64_t>(status.st_size);
  whole = whole && size <= room - sizeof size && copy(fd, channel, offset + sizeof size, size);
  ::close(fd);
  return whole && store(size + 1, channel, offset) ? size : 0;
}

}  // namespace

void collect(int channel, const supervisor::StepHeader& header, char* const* names) {
  uint64_t offset = header.out_offset;
  uint64_t room = header.out_bytes;
  for (uint64_t i = 0; i < header.wanted_count && room >= sizeof(uint64_t); ++i) {
    const uint64_t used = sizeof(uint64_t) + put(names[i], channel, offset, room);
    offset += used;
    room -= used;
  }
}

}  // namespace paddock::step
