#pragma once
// ProbeGround: what probes try their luck on, outside of every run, for as long as they are tried.
// All of it is harmless: nothing of value is in the files, and nobody answers on the sockets.

#include <memory>
#include <optional>
#include <string>

#include "kernel/probe/probe.hpp"
#include "kernel/probe/unconfined.hpp"

namespace paddock::kernel {

// 16 hex digits that nobody else has.
std::string random_word();

class ProbeGround {
 public:
  // `program` is paddock-probe. Fails with io.
  static Result<std::unique_ptr<ProbeGround>> prepare(int program);
  ~ProbeGround();
  ProbeGround(const ProbeGround&) = delete;
  ProbeGround& operator=(const ProbeGround&) = delete;

  const ProbeTarget& target() const { return target_; }

  // For CVE-2026-87766: a directory that runs may write, in it a link to one outside of it, and
  // what must not appear there.
  std::string planted_directory() const { return target_.directory + "/planted"; }
  std::string planted_link() const { return planted_directory() + "/link"; }
  bool was_reached() const;  // something was made behind the link
  void clear_reached() const;
  // Makes the link anew: to the directory as the host sees it, or as bubblewrap's set-up does.
  void plant(const std::string& before_path) const;

 private:
  ProbeGround() = default;
  Result<void> make_files();
  Result<void> listen();
  Result<void> start_process(int program);

  ProbeTarget target_;
  Fd tcp_;
  Fd abstract_;
  std::optional<UnconfinedProcess> process_;
};

}  // namespace paddock::kernel
