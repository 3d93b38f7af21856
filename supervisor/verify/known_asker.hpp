#pragma once
// KnownAsker: asks a candidate over its channel what a KnownDialogue says, in the daemon's loop.

#include <functional>
#include <memory>

#include "kernel/base/fd.hpp"
#include "supervisor/loop/poll.hpp"
#include "supervisor/verify/known_dialogue.hpp"

namespace paddock::supervisor {

class KnownAsker {
 public:
  // `on_over`: once, from the loop, and may destroy this. The channel is nobody else's until then,
  // and a blocking one after.
  using OnOver = std::function<void()>;

  KnownAsker(std::shared_ptr<kernel::Fd> channel, KnownAnswersPtr known);

  // Fails with io if the channel cannot be watched: nothing was asked, and nobody is called.
  kernel::Result<void> start(uv_loop_t* loop, OnOver on_over);
  // Nobody is called any more.
  void stop();
  // The candidate has ended: what it has said is read, and then it is over, within this call.
  void finish();

  const KnownDialogue& dialogue() const { return dialogue_; }

 private:
  bool read();  // false: there was nothing
  void step();
  void ask();
  void over();

  std::shared_ptr<kernel::Fd> channel_;
  KnownDialogue dialogue_;
  std::unique_ptr<Poll> poll_;
  OnOver on_over_;
};

}  // namespace paddock::supervisor
