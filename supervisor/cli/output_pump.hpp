#pragma once
// OutputPump: a run's output on its way to this process's stdout and stderr. Writing never blocks,
// so that a reader who is slow cannot keep a run from its deadline or from Ctrl-C.

#include <poll.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/run/run.hpp"

namespace paddock::supervisor::cli {

class OutputPump {
 public:
  OutputPump(int stdout_fd, int stderr_fd) : streams_{{{stdout_fd}, {stderr_fd}}} {}

  // Queues; the caller bounds how much (a run's output_bytes, or by not reading on).
  void push(kernel::Stream stream, std::string_view bytes);
  std::size_t pending_bytes() const;

  // The descriptors that something waits to be written to.
  void add_watches(std::vector<pollfd>& polled) const;
  void on_ready(int fd);

  // Writes what is left; gives up when `interrupt_fd` becomes readable.
  void flush(int interrupt_fd);

  // Why stdout takes no more: EPIPE if its reader went away; 0 while it does. What comes for a
  // stream that takes no more is dropped.
  int stdout_error() const { return streams_[0].error; }
  std::uint64_t written_bytes(kernel::Stream stream) const;

 private:
  struct Queue {
    int fd;
    std::string bytes{};
    std::size_t written = 0;  // of `bytes`
    std::uint64_t total = 0;
    int error = 0;

    std::size_t pending() const { return bytes.size() - written; }
  };
  static void write_some(Queue& queue);

  std::array<Queue, 2> streams_;
};

}  // namespace paddock::supervisor::cli
