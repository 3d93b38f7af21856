#include "kernel/confine/launch_spec.hpp"

#include <sys/resource.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "support/catch.hpp"

using namespace paddock::kernel;

namespace {

LaunchSpec full_spec() {
  LaunchSpec spec;
  spec.wrapper = {"/usr/bin/bwrap", "--args", "5", "--"};
  spec.argv = {"python3", "-c", "print('a b')\n", ""};
  spec.environment = {"HOME=/home/agent", "EMPTY=", std::string("BYTES=\x01\xff", 8)};
  spec.workdir = "/workspace";
  spec.rlimits = {{RLIMIT_CPU, 120}, {RLIMIT_AS, std::numeric_limits<std::uint64_t>::max()}};
  spec.new_session = false;
  spec.own_user_namespace = true;
  spec.host_uid = 60578;
  spec.channel = true;
  spec.user_namespaces_closed = true;
  spec.watch_sockets = true;
  spec.prepared_program = 2;
  spec.mounts = {{"proc", "/proc", ""},
                 {"cover", "/proc/keys", ""},
                 {"tmpfs", "/tmp", "mode=1777,size=67108864"}};
  return spec;
}

SpecHeader header_of(const std::string& bytes) {
  SpecHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

bool is_taken_with(const SpecHeader& header, std::string bytes) {
  std::memcpy(bytes.data(), &header, sizeof header);
  return decode_launch_spec(bytes).has_value();
}

}  // namespace

TEST_CASE("a launch spec survives encoding and decoding") {
  for (const LaunchSpec& spec : {LaunchSpec{}, full_spec()})
    CHECK(decode_launch_spec(encode(spec)) == spec);
}

TEST_CASE("a launch spec that is cut short or has something after it is refused") {
  const std::string bytes = encode(full_spec());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    INFO("the first " << size << " bytes of " << bytes.size());
    CHECK_FALSE(decode_launch_spec(bytes.substr(0, size)));
  }
  CHECK_FALSE(decode_launch_spec(bytes + '\0'));
}

TEST_CASE("random bytes are never a launch spec, and never a crash") {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<std::size_t> length(1, 400);
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(length(random), '\0');
    for (char& c : bytes) c = static_cast<char>(byte(random));
    CHECK_FALSE(decode_launch_spec(bytes));
  }
}

TEST_CASE("there is one encoding of a launch spec: what decodes is what encode gives") {
  // Goal: no two readings of the same bytes. Method: flip bytes of a real one; whatever is still
  // accepted must encode to exactly these bytes again.
  const std::string good = encode(full_spec());
  std::mt19937 random(2);
  std::uniform_int_distribution<int> byte(0, 255);
  std::uniform_int_distribution<std::size_t> position(0, good.size() - 1);
  int accepted = 0;
  for (int i = 0; i < 50'000; ++i) {
    std::string bytes = good;
    for (int changes = 1 + i % 3; changes > 0; --changes)
      bytes[position(random)] = static_cast<char>(byte(random));
    const auto spec = decode_launch_spec(bytes);
    if (!spec) continue;
    ++accepted;
    REQUIRE(encode(*spec) == bytes);
  }
  CHECK(accepted > 1000);  // changed letters and numbers are fine; else this tested nothing
}

TEST_CASE("a launch spec with more mounts than it has words for, or half a yes, is refused") {
  const std::string good = encode(full_spec());
  REQUIRE(is_taken_with(header_of(good), good));
  const auto size = static_cast<std::uint32_t>(good.size());
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  for (const std::uint32_t count : {0u, 2u, 4u, size, size + 1, most / 3 + 1, most}) {
    INFO(count << " mounts");
    SpecHeader header = header_of(good);
    header.mount_count = count;
    CHECK_FALSE(is_taken_with(header, good));
  }
  SpecHeader header = header_of(good);
  header.user_namespaces_closed = 2;
  CHECK_FALSE(is_taken_with(header, good));
  header = header_of(good);
  header.watch_sockets = 2;
  CHECK_FALSE(is_taken_with(header, good));
}
