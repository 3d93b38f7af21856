// What a run wrote to files on disks: in its result, and while it lives.

#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

constexpr std::uint64_t eight_mib = 8u << 20;

SandboxPolicy policy_with(const std::string& profile, const std::string& directory) {
  SandboxPolicy policy = policy_of(profile);
  if (policy.use_bubblewrap) policy.bind_rw = {directory};
  return policy;
}

// In a child of its own that is waited for, as most of what writes is.
std::string write_eight_mib(const std::string& file) {
  return "dd if=/dev/zero of=" + file + " bs=1M count=8 conv=fsync 2>/dev/null; ";
}

}  // namespace

TEST_CASE("what all processes of a run wrote to files on disks is in its result") {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0777);
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string file = scratch.path() + "/" + profile;
    const SandboxResult result =
        run(policy_with(profile, scratch.path()), {"sh", "-c", write_eight_mib(file)});
    CHECK(result.exit_code == 0);
    CHECK(result.written_bytes >= eight_mib);
    CHECK(result.written_bytes < 2 * eight_mib);
  }
}

TEST_CASE("a run that writes to no disk has written nothing") {
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string memory = policy_of(profile).use_bubblewrap ? "/tmp/file" : "/dev/null";
    const SandboxResult result = run(policy_of(profile), {"sh", "-c", write_eight_mib(memory)});
    CHECK(result.written_bytes < 64 * 1024);
  }
}

TEST_CASE("what a run has used until now can be seen while it lives") {
  const ScratchDirectory scratch;
  ScratchDirectory::set_mode(scratch.path(), 0777);
  const Sandbox sandbox = Sandbox::open({}).value();
  for (const char* profile : profiles) {
    INFO(profile);
    const std::string file = scratch.path() + "/live-" + profile;
    auto live =
        sandbox
            .start(policy_with(profile, scratch.path()),
                   {"sh", "-c",
                    write_eight_mib(file) + "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; "
                                            "echo done; sleep 300"},
                   "", "r-live", RunOptions{})
            .value();
    RunUsage last;
    bool seen = false;
    drive_all({live.get()}, [&] {
      if (seen || !live->started()) return;
      const RunUsage usage = live->usage_now();
      CHECK(usage.cpu_us >= last.cpu_us);
      CHECK(usage.written_bytes.value_or(0) >= last.written_bytes.value_or(0));
      CHECK(usage.complete);
      last = usage;
      seen = usage.written_bytes.value_or(0) >= eight_mib && usage.cpu_us > 20'000;
      if (seen) live->stop();
    });
    CHECK(seen);
    CHECK(last.memory_bytes > 500'000);
    CHECK(last.memory_bytes < (64u << 20));
    const SandboxResult result = live->take_result();
    CHECK(result.cause == Cause::killed_by_request);
    CHECK(result.written_bytes >= *last.written_bytes);
  }
}
