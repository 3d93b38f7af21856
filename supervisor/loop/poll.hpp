#pragma once
// Poll watches a descriptor that somebody else owns and reads or writes: a pidfd, a pipe, a socket.

#include <functional>
#include <memory>

#include "kernel/base/error.hpp"
#include "supervisor/loop/uv_handle.hpp"

namespace paddock::supervisor {

class Poll {
 public:
  // What to watch for, and what was seen.
  struct Events {
    bool readable = false;  // data, end of file, or an error to be read
    bool writable = false;
    // The other side is gone altogether: nobody will read what we write. A peer that only shut down
    // its writing side is not gone. Reported for a broken descriptor whatever was asked for.
    bool hang_up = false;

    bool operator==(const Events&) const = default;
  };
  using OnEvent = std::function<void(Events)>;

  // `fd` must stay open until this Poll is stopped or destroyed. It becomes non-blocking. One loop
  // can watch a descriptor only once: give a second watcher a duplicate. Fails with io if `fd`
  // cannot be polled (a regular file, a closed descriptor).
  static kernel::Result<std::unique_ptr<Poll>> create(uv_loop_t* loop, int fd);
  Poll(const Poll&) = delete;
  Poll& operator=(const Poll&) = delete;

  // Level-triggered: `on_event` is called on every turn of the loop while a condition holds. It may
  // stop or destroy the Poll. Starting again replaces what is watched.
  void start(Events events, OnEvent on_event);
  void stop();

 private:
  Poll();
  void report(int status, int events);
  static void on_poll(uv_poll_t* poll, int status, int events);

  UvHandle<uv_poll_t> poll_;
  OnEvent on_event_;
};

}  // namespace paddock::supervisor
