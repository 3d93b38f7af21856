#pragma once
// Zygote: a sandboxed interpreter that forks warm runs (rfcs/0013). It is a run itself, which its
// supervisor drives as any other; what is needed to ask it for forks is the ZygoteLine.

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernel/base/fd.hpp"
#include "kernel/policy/policy.hpp"
#include "kernel/run/run.hpp"

namespace paddock::kernel {

struct ZygoteProgram {
  std::vector<std::string> interpreter;  // the words before "-c": {"python3", "-I"}
  std::vector<std::string> modules;      // imported before the first fork
  // Programs that runs will bring, as their argv has them. Trusted: all but their last statement is
  // executed before the first fork, and what they define as prepare() is called. A run of one that
  // defines become(file, words) goes on as this interpreter with a file would: `words` is its argv
  // after the program, the words of `interpreter` again, the file, its arguments.
  std::vector<std::string> programs;

  bool operator==(const ZygoteProgram&) const = default;
};

// The supervisor's side of one zygote, to ask it for forks.
struct ZygoteLine {
  Fd socket;  // readable when the zygote has imported everything, or is gone: zygote_says_ready
  std::optional<uid_t> host_uid;  // it and its forks; the zygote's run holds the lease
  // Its forks get a network namespace of their own. Until one of them has not
  // left_network_alone() they share the zygote's, and nobody else does.
  bool network_is_used = false;
  std::vector<std::string> programs{};  // as its ZygoteProgram has them
  // As it says when it is ready; of its forks.
  std::string program{};                            // what /proc/PID/exe will show
  std::map<std::string, std::string> namespaces{};  // which no fork may have
  std::map<std::string, std::uint64_t> devices{};   // of mounts that no fork may have
  std::int32_t session_keyring = 0;                 // which no fork may have; 0: it cannot be told
  std::uint64_t mapped_bytes = 0;                   // and counted to each; 0: it cannot be told
};

struct StartedZygote {
  std::unique_ptr<Run> run;  // to be driven, and killed to end the zygote; it outlives its forks
  ZygoteLine line;
};

// Equal keys: one zygote serves both. What a zygote fixes of the sandbox, and its program.
std::string zygote_key(const SandboxPolicy& policy, const ZygoteProgram& program);

// Why such a run has to be cold, for people; empty: it can be a fork. Pure.
std::string why_cold(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                     const ZygoteProgram& program);

// The limit of a run's address space counts what its zygote has mapped. A program shall not notice.
constexpr std::uint64_t zygotes_in_memory_limit_min = 4;

// Why such a run cannot be a fork of this very zygote; empty: it can. Pure.
std::string why_not_fork(const ZygoteLine& zygote, const SandboxPolicy& policy);

// Reads the line's socket without waiting: true, and the line is complete, if the zygote is ready;
// false: not yet. Fails with io if the zygote is gone.
Result<bool> zygote_says_ready(ZygoteLine& line);

}  // namespace paddock::kernel
