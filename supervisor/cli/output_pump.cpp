#include "supervisor/cli/output_pump.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

namespace paddock::supervisor::cli {
namespace {

// What poll's POLLOUT promises to be writable without blocking. Making the descriptor non-blocking
// instead would change it for everybody who shares it, the user's shell too.
constexpr std::size_t write_bytes_max = PIPE_BUF;

// Above this much already written, the front of a queue is given back.
constexpr std::size_t compact_bytes = 1u << 20;

std::size_t index_of(kernel::Stream stream) {
  return stream == kernel::Stream::stdout_stream ? 0 : 1;
}

}  // namespace

void OutputPump::push(kernel::Stream stream, std::string_view bytes) {
  Queue& queue = streams_[index_of(stream)];
  if (queue.error != 0) return;
  if (queue.written >= compact_bytes) {
    queue.bytes.erase(0, queue.written);
    queue.written = 0;
  }
  queue.bytes += bytes;
}

std::size_t OutputPump::pending_bytes() const {
  return streams_[0].pending() + streams_[1].pending();
}

void OutputPump::add_watches(std::vector<pollfd>& polled) const {
  for (const Queue& queue : streams_)
    if (queue.pending() > 0) polled.push_back({queue.fd, POLLOUT, 0});
}

void OutputPump::on_ready(int fd) {
  for (Queue& queue : streams_)
    if (queue.fd == fd && queue.pending() > 0) write_some(queue);
}

void OutputPump::write_some(Queue& queue) {
  const std::size_t size = std::min(queue.pending(), write_bytes_max);
  const ssize_t count = ::write(queue.fd, queue.bytes.data() + queue.written, size);
  if (count >= 0) {
    queue.written += static_cast<std::size_t>(count);
    queue.total += static_cast<std::uint64_t>(count);
  } else if (errno != EINTR && errno != EAGAIN) {
    queue.error = errno;
  }
  if (queue.pending() == 0 || queue.error != 0) {
    queue.bytes.clear();
    queue.written = 0;
  }
}

void OutputPump::flush(int interrupt_fd) {
  while (pending_bytes() > 0) {
    std::vector<pollfd> polled = {{interrupt_fd, POLLIN, 0}};
    add_watches(polled);
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    if (polled[0].revents != 0) return;
    for (std::size_t i = 1; i < polled.size(); ++i)
      if (polled[i].revents != 0) on_ready(polled[i].fd);
  }
}

std::uint64_t OutputPump::written_bytes(kernel::Stream stream) const {
  return streams_[index_of(stream)].total;
}

}  // namespace paddock::supervisor::cli
