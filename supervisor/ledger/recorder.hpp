#pragma once
// Recorder: where transitions go. The ledger is one; a test may bring its own.

#include <functional>

#include "kernel/base/error.hpp"
#include "supervisor/ledger/transition.hpp"

namespace paddock::supervisor {

// What to do with a transition that cannot be written now.
enum class IfUnwritten {
  refuse,  // say so at once: nothing has happened yet that would be lost
  keep,    // it has happened: try again until it is written
};

// Called from the loop, once, with the event's seq. Fails with not_recorded.
using OnCommitted = std::function<void(kernel::Result<std::uint64_t>)>;

class Recorder {
 public:
  virtual ~Recorder() = default;

  // Answers come in the order of the calls, and never from within one; a refusal does not wait for
  // what is kept. `on_committed` may be empty.
  virtual void commit(Transition transition, IfUnwritten if_unwritten,
                      OnCommitted on_committed) = 0;

  // False while something that had to be kept is not written: nothing new may start.
  virtual bool is_writing() const = 0;
};

}  // namespace paddock::supervisor
