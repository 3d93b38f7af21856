#include "supervisor/loop/event_loop.hpp"

#include <cassert>
#include <csignal>
#include <string>
#include <utility>

namespace paddock::supervisor {
namespace {

using kernel::ErrorCode;
using kernel::fail;
using kernel::Result;

// A close callback may close another handle, and a signal in flight delays its handle's close by a
// turn. Anything deeper than this is a handle that nobody closes.
constexpr int closing_turns_max = 16;

}  // namespace

Result<std::unique_ptr<EventLoop>> EventLoop::create() {
  std::unique_ptr<EventLoop> loop(new EventLoop);
  if (const int rc = uv_loop_init(&loop->loop_); rc < 0)
    return fail(ErrorCode::io, std::string("start the event loop: ") + uv_strerror(rc));
  loop->initialised_ = true;
  ::signal(SIGPIPE, SIG_IGN);
  return loop;
}

EventLoop::~EventLoop() {
  if (!initialised_) return;
  signal_handlers_.clear();
  for (int turn = 0; turn < closing_turns_max && uv_loop_alive(&loop_) != 0; ++turn)
    uv_run(&loop_, UV_RUN_NOWAIT);
  [[maybe_unused]] const int rc = uv_loop_close(&loop_);
  assert(rc == 0 && "a handle outlived its loop");
}

Result<void> EventLoop::handle_signal(int signal_number, std::function<void()> on_signal_call) {
  std::erase_if(signal_handlers_,
                [&](const auto& handler) { return handler->signal_number == signal_number; });
  auto handler = std::make_unique<SignalHandler>();
  handler->signal_number = signal_number;
  handler->on_signal = std::move(on_signal_call);
  handler->handle = new_handle<uv_signal_t>(handler.get());
  int rc = uv_signal_init(&loop_, handler->handle.get());
  if (rc == 0) rc = uv_signal_start(handler->handle.get(), on_signal, signal_number);
  if (rc < 0) {
    return fail(ErrorCode::io,
                "handle signal " + std::to_string(signal_number) + ": " + uv_strerror(rc));
  }
  signal_handlers_.push_back(std::move(handler));
  return {};
}

void EventLoop::run() {
  uv_run(&loop_, UV_RUN_DEFAULT);
}

void EventLoop::stop() {
  uv_stop(&loop_);
}

std::chrono::milliseconds EventLoop::now() const {
  return std::chrono::milliseconds(uv_now(&loop_));
}

void EventLoop::on_signal(uv_signal_t* handle, int) {
  const auto* handler = owner_of<SignalHandler>(handle);
  if (handler == nullptr) return;
  const auto call = handler->on_signal;  // a copy: the call may replace the handler
  if (call) call();
}

}  // namespace paddock::supervisor
