#pragma once
// OutputDigests: the hashes of what is kept of a run's streams, made while they come: at the end of
// a run with 10 MiB on each, the loop would stand still for them.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernel/base/hash.hpp"
#include "kernel/run/run.hpp"

namespace paddock::supervisor {

class OutputDigests {
 public:
  OutputDigests() = default;  // of a run that has written nothing
  explicit OutputDigests(std::uint64_t kept_bytes_max)
      : stdout_{.room_bytes = kept_bytes_max}, stderr_{.room_bytes = kept_bytes_max} {}

  void append(kernel::Stream stream, std::string_view bytes) {
    Digest& digest = stream == kernel::Stream::stdout_stream ? stdout_ : stderr_;
    const auto kept =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), digest.room_bytes));
    digest.room_bytes -= kept;
    digest.hash.append(bytes.substr(0, kept));
  }

  std::string of_stdout() const { return stdout_.hash.hex(); }
  std::string of_stderr() const { return stderr_.hash.hex(); }

 private:
  struct Digest {
    std::uint64_t room_bytes = 0;
    kernel::Sha256 hash{};
  };
  Digest stdout_;
  Digest stderr_;
};

}  // namespace paddock::supervisor
