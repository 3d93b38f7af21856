// A workspace that outlives its runs, as long-running agents have.

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "kernel/policy/scratch_directory.hpp"
#include "sandbox/sandbox_fixture.hpp"

using namespace paddock::kernel;
using namespace paddock::tests;

namespace {

// A directory that belongs to whom the run will be.
class KeptWorkspace {
 public:
  KeptWorkspace() {
    ScratchDirectory::set_mode(scratch_.path(), 0755);
    std::filesystem::create_directory(path());
    ScratchDirectory::set_mode(path(), 0700);
    if (!is_root()) return;
    lease_ = std::make_unique<HostUidLease>(HostUidLease::take(HostUidRange{}).value());
    give(path(), lease_->uid());
    REQUIRE(lease_->keep_for(path()));
  }
  static void give(const std::string& path, uid_t uid) {
    REQUIRE(::chown(path.c_str(), uid, uid) == 0);
  }
  std::string path() const { return scratch_.path() + "/workspace"; }
  std::string beside(const std::string& name) const { return scratch_.path() + "/" + name; }
  uid_t uid() const { return lease_ ? lease_->uid() : ::getuid(); }

  SandboxPolicy policy(const std::string& profile) const {
    SandboxPolicy policy = policy_of(profile);
    policy.workspace = path();
    return policy;
  }

 private:
  ScratchDirectory scratch_;
  std::unique_ptr<HostUidLease> lease_;
};

Argv shell(const std::string& script) {
  return {"/bin/sh", "-c", script};
}

}  // namespace

TEST_CASE(
    "what a run leaves in a workspace that stays is there for the next, and nothing else is") {
  for (const char* profile : {"DEFAULT", "STRICT"}) {
    INFO(profile);
    const KeptWorkspace workspace;
    const SandboxResult first =
        run(workspace.policy(profile), shell("echo kept > note; pwd; echo lost > /tmp/note-$$; "
                                             "echo $HOME"));
    CHECK(first.exit_code == 0);
    const bool confined = std::string(profile) == "STRICT";
    const std::string seen = confined ? "/workspace" : workspace.path();
    CHECK(first.stdout == seen + "\n" + (confined ? "/home/agent" : workspace.path()) + "\n");
    const SandboxResult second = run(workspace.policy(profile), shell("cat note; ls -a"));
    CHECK(second.stdout == "kept\n.\n..\nnote\n");
    REQUIRE(second.receipt);
    CHECK(second.receipt->host_uid == workspace.uid());
    CHECK(std::filesystem::exists(workspace.path() + "/note"));
    if (confined) CHECK(run(workspace.policy(profile), shell("ls /tmp")).stdout.empty());
  }
}

TEST_CASE("other runs do not get the uid that a workspace belongs to") {
  NEEDS(is_root(), needs_root);
  const KeptWorkspace workspace;
  for (int i = 0; i < 3; ++i) {
    const SandboxResult result = run(policy_of("DEFAULT"), {"true"});
    REQUIRE(result.receipt);
    CHECK(result.receipt->host_uid != workspace.uid());
  }
}

TEST_CASE("a workspace that is no directory of the run's own is refused, and nothing runs") {
  const Sandbox sandbox = Sandbox::open({}).value();
  const KeptWorkspace workspace;
  SandboxPolicy policy = workspace.policy("STRICT");
  std::filesystem::create_symlink(workspace.path(), workspace.beside("link"));
  policy.workspace = workspace.beside("link");
  CHECK(check_policy(policy).error().message.find("symbolic link") != std::string::npos);
  const auto linked = sandbox.start(policy, {"true"}, "", "linked", RunOptions{});
  REQUIRE_FALSE(linked);
  CHECK(linked.error().code == ErrorCode::sandbox_policy_error);

  ScratchDirectory scratch;
  policy.workspace = scratch.file("file", "text");
  CHECK(check_policy(policy).error().message.find("is not a directory") != std::string::npos);
  policy.workspace = "relative";
  CHECK(check_policy(policy).error().message.find("is not absolute") != std::string::npos);
}

TEST_CASE("as root, a workspace that belongs to nobody of the range is refused") {
  NEEDS(is_root(), needs_root);
  const Sandbox sandbox = Sandbox::open({}).value();
  const KeptWorkspace workspace;
  KeptWorkspace::give(workspace.path(), 0);
  const auto refused =
      sandbox.start(workspace.policy("STRICT"), {"true"}, "", "refused", RunOptions{});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::sandbox_policy_error);
  CHECK(refused.error().message.find("belongs to uid 0") != std::string::npos);
}

TEST_CASE(
    "a workspace that is exchanged while its run starts is seen, and its program never runs") {
  const Sandbox sandbox = Sandbox::open({}).value();
  // It has to be exchanged before bubblewrap looks at it, which takes that some milliseconds: on a
  // busy host this process may be the later one.
  for (int attempt = 0; attempt < 20; ++attempt) {
    const KeptWorkspace workspace;
    auto run = sandbox.start(workspace.policy("STRICT"), shell("touch here"), "", "exchanged",
                             RunOptions{});
    REQUIRE(run);
    std::filesystem::rename(workspace.path(), workspace.beside("old"));
    std::filesystem::create_directory(workspace.path());
    if (is_root()) KeptWorkspace::give(workspace.path(), workspace.uid());
    drive_all({run->get()});
    const SandboxResult result = (*run)->take_result();
    CHECK_FALSE(std::filesystem::exists(workspace.path() + "/here"));
    if (result.cause == Cause::exited) continue;
    CHECK(result.cause == Cause::cannot_isolate);
    CHECK(result.detail.find("'/workspace' is not the file that was there") != std::string::npos);
    return;
  }
  FAIL("it was never exchanged in time");
}
