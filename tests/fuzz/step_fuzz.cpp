// Goal: whatever a run leaves in its channel, the daemon takes from it files that were wanted,
// whole ones, and no more bytes than the room has. Method: the input goes where a run could write,
// and what is read is compared with a second, simpler reading of the same bytes.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "fuzz/property.hpp"
#include "supervisor/runtimes/step.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using fuzz::must_hold;

namespace {

constexpr std::size_t before_bytes = 100;  // what stands before the room, of any size

const kernel::Fd& channel() {
  static const kernel::Fd fd = [] {
    kernel::Fd made(::memfd_create("step-fuzz", MFD_CLOEXEC));
    must_hold(::ftruncate(made.get(), before_bytes + artifact_bytes_max) == 0, "there is memory");
    return made;
  }();
  return fd;
}

// Where each file begins and ends in a room whose rest is zeros.
Files read_again(std::string_view room, const std::vector<std::string>& wanted) {
  Files files;
  std::uint64_t at = 0;
  const auto byte_at = [&](std::uint64_t place) {
    return place < room.size() ? room[place] : '\0';
  };
  for (const std::string& name : wanted) {
    std::uint64_t word = 0;
    if (artifact_bytes_max - at < sizeof word) break;
    for (std::size_t i = 0; i < sizeof word; ++i)
      word |= std::uint64_t{static_cast<unsigned char>(byte_at(at + i))} << (8 * i);
    at += sizeof word;
    if (word == 0) continue;
    if (word - 1 > artifact_bytes_max - at) break;
    std::string contents;
    for (std::uint64_t i = 0; i < word - 1; ++i) contents += byte_at(at + i);
    at += word - 1;
    files[name] = contents;
  }
  return files;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view room = fuzz::as_text(data, size);
  std::vector<std::string> wanted;
  for (int i = 0; i < 8; ++i) wanted.push_back(std::string(1, static_cast<char>('a' + i)));
  must_hold(::pwrite(channel().get(), data, size, before_bytes) == static_cast<ssize_t>(size),
            "the input is there");
  const Files files = collect_files(channel(), wanted);
  std::size_t bytes = 0;
  for (const auto& [name, contents] : files) bytes += contents.size();
  must_hold(bytes <= artifact_bytes_max, "no more comes out than there is room for");
  // Large claims of zeros are only counted: comparing them takes most of the time.
  if (bytes < (1u << 16)) must_hold(files == read_again(room, wanted), "both readings agree");
  must_hold(::fallocate(channel().get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, before_bytes,
                        static_cast<off_t>(size + 1)) == 0,
            "the room is empty again");
  return 0;
}
