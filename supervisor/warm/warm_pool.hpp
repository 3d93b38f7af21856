#pragma once
// WarmPool owns the daemon's zygotes: it starts and drives them, has them fork runs, and ends them.
// What is to be done, and when, PoolMachine says. Zygotes are in no list and no ledger, and take no
// slots.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>

#include "kernel/run/sandbox.hpp"
#include "supervisor/loop/poll.hpp"
#include "supervisor/loop/timer.hpp"
#include "supervisor/runs/live_run.hpp"
#include "supervisor/runs/warm_source.hpp"
#include "supervisor/warm/pool_machine.hpp"

namespace paddock::supervisor {

struct WarmNow {
  // Runtime -> state -> how many; of each runtime that has had any.
  std::map<std::string, std::map<std::string, std::size_t>> zygotes;
  std::size_t ready = 0;
  std::size_t busy = 0;
  std::size_t starting = 0;
  std::string last_failure;  // what the last one was lost for that was of no use; empty: none was

  bool operator==(const WarmNow&) const = default;
};

class WarmPool final : public WarmSource {
 public:
  struct Parts {
    uv_loop_t* loop;
    const kernel::Sandbox& sandbox;
    std::string tag;  // of their names
    // Each may be empty. `end`: name_of(ZygoteEnd).
    std::function<void(const std::string& runtime, bool warm)> on_start{};
    std::function<void(const std::string& runtime, std::string_view end)> on_end{};
    std::function<void(const std::string& runtime, const std::string& why)> on_failure{};
  };

  // The parts outlive this.
  WarmPool(Parts parts, PoolLimits limits);
  ~WarmPool() override;  // as abandon()
  WarmPool(const WarmPool&) = delete;
  WarmPool& operator=(const WarmPool&) = delete;

  Fork start(const std::shared_ptr<const WarmWish>& wish, const kernel::SandboxPolicy& policy,
             const std::string& policy_hash, const std::string& tenant,
             const std::vector<std::string>& argv, const RunId& id,
             kernel::RunOptions options) override;
  void gate_opened(const RunId& id) override;
  void lost(const RunId& id, Lost how, Suspect suspect, const std::string& why) override;
  bool has_lost_zygote(const RunId& id) override;
  void ended(const RunId& id, bool used_network) override;
  bool is_launcher(pid_t pid) const override;

  // Ends all that there are now, each as soon as it has no run: for a reload and for a drain.
  void renew();
  // No more are started, and all are ended: for the end of the daemon.
  void close();
  // The same at once, with their runs, without waiting for the loop: what comes after this object.
  void abandon();

  WarmNow now() const;

 private:
  struct Spec {  // what zygotes of one kind are made from
    kernel::SandboxPolicy policy;
    std::shared_ptr<const WarmWish> wish;
    std::string last_failure{};  // why the last one never got ready; empty: it did
  };
  struct Zygote {
    std::string runtime;
    ZygoteKind kind;
    std::unique_ptr<LiveRun> live;
    kernel::ZygoteLine line;
    std::unique_ptr<Poll> poll;  // until it is ready
  };
  // The same wish, policy and tenant give the same kind, and to say which takes a hash of programs.
  using KindKey = std::tuple<std::shared_ptr<const WarmWish>, std::string, std::string>;

  ZygoteKind kind_of(const std::shared_ptr<const WarmWish>& wish,
                     const kernel::SandboxPolicy& policy, const std::string& policy_hash,
                     const std::string& tenant);
  Fork cold(const std::string& runtime, std::string why) const;
  void schedule();
  void act();
  void start_zygote(const ZygoteKind& kind);
  void end_zygote(const ZygoteName& name, ZygoteEnd why);
  void line_ready(const ZygoteName& name);
  void changed(const ZygoteName& name);
  void weigh();
  void fault(const std::string& runtime, const std::string& why);
  void never_ready(const ZygoteKind& kind, const std::string& why);

  Parts parts_;
  PoolMachine machine_;
  std::map<ZygoteKind, Spec> specs_;
  std::map<KindKey, ZygoteKind> kinds_;
  std::map<ZygoteName, Zygote> zygotes_;
  std::map<RunId, std::string> runtimes_;  // of runs that are forks, until their gates are open
  std::set<std::string> seen_;             // runtimes that have had a zygote
  std::string last_failure_;
  bool is_closed_ = false;
  Timer timer_;
  Timer weigh_timer_;
};

}  // namespace paddock::supervisor
