#pragma once
// UvHandle owns one libuv handle.
//
// The rules of libuv that the rest of the daemon leans on:
//
//  1. A handle that was initialised must be closed with uv_close, also when the start failed.
//  2. uv_close returns at once; the close callback runs on a later turn of the loop.
//  3. libuv may touch the struct until its close callback has run, so the struct lives on the heap
//     and is freed there, never earlier.
//  4. Closing a handle ends its requests: their callbacks still come, with UV_ECANCELED, and the
//     request must live until then.
//  5. No callback of a handle runs after its close callback. A callback of a request may run
//     between uv_close and it: `data` is nullptr by then, which means "no owner: return".
//  6. A handle may be closed in its own callback. Nothing of the owner is touched afterwards.
//  7. Nothing here is thread-safe: handles belong to the thread that runs their loop.

#include <uv.h>

#include <cassert>
#include <memory>

namespace paddock::supervisor {

struct UvCloser {
  template <class H>
  void operator()(H* handle) const {
    auto* base = reinterpret_cast<uv_handle_t*>(handle);
    base->data = nullptr;
    if (base->type == UV_UNKNOWN_HANDLE) {  // allocated, never initialised
      delete handle;
      return;
    }
    uv_close(base, [](uv_handle_t* closed) { delete reinterpret_cast<H*>(closed); });
  }
};

template <class H>
using UvHandle = std::unique_ptr<H, UvCloser>;

// A zeroed handle, not initialised yet, whose callbacks will find `owner` in data.
template <class H>
UvHandle<H> new_handle(void* owner) {
  UvHandle<H> handle(new H{});
  handle->data = owner;
  return handle;
}

// The owner of a handle, or nullptr once the handle is closing.
template <class Owner, class H>
Owner* owner_of(const H* handle) {
  return static_cast<Owner*>(handle->data);
}

// A stream socket of either kind, by what all handles share.
enum class SocketKind { unix_socket, tcp };
using UvSocket = UvHandle<uv_any_handle>;

inline uv_stream_t* as_stream(const UvSocket& socket) {
  return &socket->stream;
}

// Initialising these two only fills the struct, so it cannot fail.

inline UvHandle<uv_timer_t> new_timer(uv_loop_t* loop, void* owner) {
  auto timer = new_handle<uv_timer_t>(owner);
  [[maybe_unused]] const int rc = uv_timer_init(loop, timer.get());
  assert(rc == 0);
  return timer;
}

inline UvSocket new_socket(uv_loop_t* loop, SocketKind kind, void* owner) {
  UvSocket socket(new uv_any_handle{});
  [[maybe_unused]] const int rc = kind == SocketKind::tcp
                                      ? uv_tcp_init(loop, &socket->tcp)
                                      : uv_pipe_init(loop, &socket->pipe, /*ipc=*/0);
  assert(rc == 0);
  socket->handle.data = owner;
  return socket;
}

}  // namespace paddock::supervisor
