#pragma once
// runtimes/*.toml -> Runtimes. As with profiles, all mistakes of all files come back at once, each
// with its place.

#include <string>
#include <string_view>
#include <vector>

#include "kernel/policy/load.hpp"
#include "supervisor/runtimes/runtime.hpp"

namespace paddock::supervisor {

constexpr std::size_t aliases_max = 16;
constexpr std::size_t warm_modules_max = 256;
constexpr std::uint64_t warm_zygotes_max = 256;
constexpr std::uint64_t warm_runs_max = 1'000'000;
// Less is not enough for an interpreter.
constexpr std::uint64_t warm_memory_bytes_min = 16u << 20;

// Of a [warm] that names none: what programs of a few dozen lines import.
const std::vector<std::string>& default_warm_modules();

// One file's text. `file` is used in diagnostics and kept. Mistakes are appended to `diagnostics`,
// ordered by line; nothing if there is one.
std::optional<Runtime> parse_runtime(std::string_view text, const std::string& file,
                                     std::vector<kernel::Diagnostic>& diagnostics);

// Reads *.toml of each directory in order; later directories override earlier ones by name, but the
// same name twice within one directory is a mistake, and so is a name or an alias that two runtimes
// have in the end, or a profile that `profiles` does not have (nullptr: they are not known). Who
// may have written a directory and its files is as for profiles. Of use only without a mistake.
Runtimes load_runtimes(const std::vector<std::string>& directories,
                       const std::map<std::string, kernel::Profile>* profiles,
                       std::vector<kernel::Diagnostic>& diagnostics);

}  // namespace paddock::supervisor
