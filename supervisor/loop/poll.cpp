#include "supervisor/loop/poll.hpp"

#include <poll.h>

#include <string>
#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// epoll always reports a hang-up, but libuv passes one on only as one of the events asked for. Its
// UV_DISCONNECT is no help: that is POLLRDHUP, which a mere half-close sets too and which, being
// level-triggered, would then spin. The priority event is otherwise unused here, so it carries
// hang-ups; the descriptor itself tells whether one happened.
constexpr int hang_up_carrier = UV_PRIORITIZED;

bool is_hung_up(int fd) {
  pollfd entry{.fd = fd, .events = 0, .revents = 0};
  return ::poll(&entry, 1, /*timeout=*/0) > 0 && (entry.revents & (POLLHUP | POLLERR)) != 0;
}

}  // namespace

Result<std::unique_ptr<Poll>> Poll::create(uv_loop_t* loop, int fd) {
  std::unique_ptr<Poll> poll(new Poll);
  if (const int rc = uv_poll_init(loop, poll->poll_.get(), fd); rc < 0)
    return fail(ErrorCode::io, "watch descriptor " + std::to_string(fd) + ": " + uv_strerror(rc));
  return poll;
}

Poll::Poll() : poll_(new_handle<uv_poll_t>(this)) {}

void Poll::start(Events events, OnEvent on_event) {
  on_event_ = std::move(on_event);
  int wanted = 0;
  if (events.readable) wanted |= UV_READABLE;
  if (events.writable) wanted |= UV_WRITABLE;
  if (events.hang_up) wanted |= hang_up_carrier;
  uv_poll_start(poll_.get(), wanted, on_poll);
}

void Poll::stop() {
  // Stopping costs a system call, also when there is nothing to stop.
  if (uv_is_active(reinterpret_cast<const uv_handle_t*>(poll_.get())) != 0)
    uv_poll_stop(poll_.get());
  on_event_ = nullptr;
}

void Poll::report(int status, int events) {
  Events seen{.readable = (events & UV_READABLE) != 0, .writable = (events & UV_WRITABLE) != 0};
  if (status < 0) {
    seen.hang_up = true;
  } else if ((events & hang_up_carrier) != 0) {
    uv_os_fd_t fd = -1;
    uv_fileno(reinterpret_cast<uv_handle_t*>(poll_.get()), &fd);
    // Without a hang-up it is out-of-band data, which nothing here ever reads: it would wake the
    // loop forever. A peer that sends it speaks no protocol of ours and is treated as gone.
    seen.hang_up = is_hung_up(fd) || (!seen.readable && !seen.writable);
  }
  const OnEvent on_event = on_event_;  // a copy: the call may stop or destroy this
  if (on_event) on_event(seen);
}

void Poll::on_poll(uv_poll_t* poll, int status, int events) {
  if (auto* owner = owner_of<Poll>(poll)) owner->report(status, events);
}

}  // namespace paddock::supervisor
