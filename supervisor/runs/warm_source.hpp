#pragma once
// WarmSource: where runs come from that are forks of an interpreter which is already there
// (rfcs/0013). The run table asks it and tells it; how zygotes are kept is not known here.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel/run/run.hpp"
#include "kernel/warm/zygote.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {

// Of the zygotes of one runtime.
struct ZygoteLimits {
  std::size_t zygotes = 0;                        // of one kind at most; 0: one for each slot
  std::chrono::milliseconds idle{5 * 60 * 1000};  // without a run
  std::uint64_t memory_bytes = 256u << 20;
  std::size_t runs = 500;  // forks

  bool operator==(const ZygoteLimits&) const = default;
};

// What a run that asks to be warm wants to be a fork of.
struct WarmWish {
  std::string runtime;  // a name that an operator gave, or one of ours: for metrics and messages
  kernel::ZygoteProgram program;
  ZygoteLimits limits{};
  std::string cold_because{};  // not empty: it cannot be had, and why
  // What a fork is asked for with, where that is not what the run would be cold. Empty: it is.
  std::vector<std::string> argv{};

  bool operator==(const WarmWish&) const = default;
};

class WarmSource {
 public:
  // `run` is null if it has to be cold; then `cold_because` says why, for people.
  struct Fork {
    std::unique_ptr<kernel::Run> run;
    std::string cold_because{};
  };
  // How a fork was over before its gate was open.
  enum class Lost {
    by_itself,  // it starts again, cold
    stopped,    // somebody did not want it any more
  };
  // Whether its zygote can have to do with that.
  enum class Suspect {
    zygote,  // it was in the middle of forking it, or the receipt did not match
    fork,    // it was born, and could not be set up under its own limits, say
  };

  virtual ~WarmSource() = default;

  // For a run that has left the queue. From now on it is told of this run, cold or not. Runs of two
  // tenants are never forks of one zygote.
  virtual Fork start(const std::shared_ptr<const WarmWish>& wish,
                     const kernel::SandboxPolicy& policy, const std::string& policy_hash,
                     const std::string& tenant, const std::vector<std::string>& argv,
                     const RunId& id, kernel::RunOptions options) = 0;
  virtual void gate_opened(const RunId& id) = 0;  // of a fork
  virtual void lost(const RunId& id, Lost how, Suspect suspect, const std::string& why) = 0;
  // True if the zygote of a fork is gone, for no reason of the fork's: it cannot reach its zygote.
  virtual bool has_lost_zygote(const RunId& id) = 0;
  // The last of it, unless the table goes before the run. Of a fork: whether it can have changed
  // its zygote's network namespace.
  virtual void ended(const RunId& id, bool used_network) = 0;

  virtual bool is_launcher(pid_t pid) const = 0;  // of a zygote
};

}  // namespace paddock::supervisor
