#include "kernel/confine/bubblewrap.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/golden.hpp"
#include "support/plan_text.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;

namespace {

using Words = std::vector<std::string>;

SandboxPolicy strict_policy() {
  SandboxPolicy policy;
  policy.profile = "STRICT";
  policy.use_bubblewrap = true;
  policy.deny_network = true;
  policy.bind_ro = {"/usr"};
  return policy;
}

std::string text_of(const BubblewrapCall& call) {
  std::string text = option_lines(call.arguments);
  for (const auto& [fd, contents] : call.files) {
    text += "file " + std::to_string(fd) + ":\n" + contents;
    if (!contents.ends_with('\n')) text += "\n";
  }
  return text;
}

// Where `words` stand in `arguments`, one after the other; its size if they do not.
std::size_t position_of(const Words& arguments, const Words& words) {
  return static_cast<std::size_t>(
      std::search(arguments.begin(), arguments.end(), words.begin(), words.end()) -
      arguments.begin());
}

bool has(const Words& arguments, const Words& words) {
  return position_of(arguments, words) < arguments.size();
}

}  // namespace

TEST_CASE("STRICT on a merged-/usr host is exactly this bubblewrap call") {
  check_golden("strict.bubblewrap", text_of(bubblewrap_call(strict_policy(), merged_host())));
}

TEST_CASE("STRICT on a host with its own /bin and /lib is exactly this bubblewrap call") {
  check_golden("strict-unmerged.bubblewrap",
               text_of(bubblewrap_call(strict_policy(), unmerged_host())));
}

TEST_CASE("the sandbox of a zygote is exactly this bubblewrap call") {
  SandboxPolicy policy = strict_policy();
  policy.bind_ro = {"/usr", "/opt/models"};
  check_golden("zygote.bubblewrap",
               text_of(bubblewrap_call(policy, merged_host(), SandboxOf::zygote)));
}

TEST_CASE("a zygote has nothing writable, nothing covered in /proc, and open user namespaces") {
  const BubblewrapCall run = bubblewrap_call(strict_policy(), merged_host());
  const BubblewrapCall zygote = bubblewrap_call(strict_policy(), merged_host(), SandboxOf::zygote);
  for (const Words& words : {Words{"--tmpfs"}, Words{"--disable-userns"},
                             Words{"--assert-userns-disabled"}, Words{"--ro-bind", "/dev/null"}}) {
    INFO(words.front());
    CHECK(has(run.arguments, words));
    CHECK_FALSE(has(zygote.arguments, words));
  }
  for (const Words& words : {Words{"--cap-drop", "ALL"}, Words{"--unshare-net"},
                             Words{"--remount-ro", "/"}, Words{"--remount-ro", "/dev"}}) {
    INFO(words.front());
    CHECK(has(zygote.arguments, words));
  }
  for (const char* never : {"--bind", "--dev-bind", "--cap-add"})
    CHECK_FALSE(has(zygote.arguments, {never}));
}

TEST_CASE("a sandbox with network, binds and every host file is exactly this bubblewrap call") {
  SandboxPolicy policy = strict_policy();
  policy.deny_network = false;
  policy.bind_ro = {"/usr", "/opt/models"};
  policy.bind_rw = {"/srv/work", "/var/lib/agent"};
  policy.tmp_bytes = 1'000'000;
  policy.workspace_bytes = 2'000'000;
  check_golden("network-and-binds.bubblewrap", text_of(bubblewrap_call(policy, merged_host())));
}

TEST_CASE("no form of an option that downgrades in silence is ever used") {
  for (const HostFacts& host : {merged_host(), unmerged_host()}) {
    for (const bool network : {false, true}) {
      SandboxPolicy policy = strict_policy();
      policy.deny_network = !network;
      for (const std::string& word : bubblewrap_call(policy, host).arguments) {
        CHECK_FALSE(word.ends_with("-try"));
        CHECK_FALSE(word.ends_with("-all"));
      }
    }
  }
}

TEST_CASE("a network is a namespace less, certificates and the host's resolver") {
  SandboxPolicy policy = strict_policy();
  const BubblewrapCall without = bubblewrap_call(policy, merged_host());
  policy.deny_network = false;
  const BubblewrapCall with = bubblewrap_call(policy, merged_host());
  CHECK(has(without.arguments, {"--unshare-net"}));
  CHECK_FALSE(has(with.arguments, {"--unshare-net"}));
  CHECK(has(with.arguments, {"--ro-bind", "/etc/ssl/certs", "/etc/ssl/certs"}));
  CHECK_FALSE(has(without.arguments, {"/etc/ssl/certs"}));
  CHECK(has(with.arguments, {"/etc/resolv.conf"}));
  CHECK_FALSE(has(without.arguments, {"/etc/resolv.conf"}));
  const auto holds_resolver = [](const auto& file) {
    return file.second == "nameserver 192.0.2.1\n";
  };
  CHECK(std::count_if(with.files.begin(), with.files.end(), holds_resolver) == 1);
  CHECK(std::count_if(without.files.begin(), without.files.end(), holds_resolver) == 0);
}

TEST_CASE("writable binds are the last mounts, after every read-only one") {
  SandboxPolicy policy = strict_policy();
  policy.bind_ro = {"/usr", "/opt/models"};
  policy.bind_rw = {"/srv/work"};
  const Words arguments = bubblewrap_call(policy, merged_host()).arguments;
  const std::size_t writable = position_of(arguments, {"--bind", "/srv/work", "/srv/work"});
  REQUIRE(writable < arguments.size());
  const Words rest(arguments.begin() + static_cast<std::ptrdiff_t>(writable) + 3, arguments.end());
  CHECK(rest == Words{"--remount-ro", "/"});
}

TEST_CASE("/var/tmp is a link to /tmp unless a bind is in its way") {
  const auto arguments_with = [](const std::string& path) {
    SandboxPolicy policy = strict_policy();
    policy.bind_ro.push_back(path);
    const Words arguments = bubblewrap_call(policy, merged_host()).arguments;
    CHECK(has(arguments, {"--ro-bind", path, path}));
    return arguments;
  };
  const Words link = {"--symlink", "/tmp", "/var/tmp"};
  const Words own = {"--tmpfs", "/var/tmp"};
  CHECK(has(bubblewrap_call(strict_policy(), merged_host()).arguments, link));
  for (const char* elsewhere : {"/variant", "/var/lib/models", "/var/tmpfiles"}) {
    CHECK(has(arguments_with(elsewhere), link));
    CHECK_FALSE(has(arguments_with(elsewhere), own));
  }
  for (const char* above : {"/var", "/var/tmp"}) {
    CHECK_FALSE(has(arguments_with(above), link));
    CHECK_FALSE(has(arguments_with(above), own));
  }
  // Then it is a sized tmpfs of its own, made before the bind that lies in it.
  const Words below = arguments_with("/var/tmp/project");
  CHECK_FALSE(has(below, link));
  CHECK(position_of(below, own) < position_of(below, {"--ro-bind", "/var/tmp/project"}));
}

TEST_CASE("a host without a time zone file gives the sandbox none") {
  HostFacts host = merged_host();
  host.localtime.clear();
  const BubblewrapCall with = bubblewrap_call(strict_policy(), merged_host());
  const BubblewrapCall without = bubblewrap_call(strict_policy(), host);
  CHECK(has(with.arguments, {"/etc/localtime"}));
  CHECK_FALSE(has(without.arguments, {"/etc/localtime"}));
  CHECK(without.files.size() + 1 == with.files.size());
}

TEST_CASE("each synthetic file has a descriptor of its own, from the first free one on") {
  const BubblewrapCall call = bubblewrap_call(strict_policy(), merged_host());
  int expected = fd_first_file;
  for (const auto& [fd, contents] : call.files) {
    CHECK(fd == expected++);
    CHECK(has(call.arguments, {"--file", std::to_string(fd)}));
  }
}

TEST_CASE("wrap_with_bubblewrap puts a complete command line before argv") {
  const auto wrapped =
      wrap_with_bubblewrap({"python3", "--version"}, strict_policy(), merged_host());
  REQUIRE(wrapped);
  check_golden("strict.wrapped", option_lines(*wrapped));
}

TEST_CASE("wrap_with_bubblewrap starts in the policy's working directory") {
  SandboxPolicy policy = strict_policy();
  policy.workdir = "/tmp";
  const auto wrapped = wrap_with_bubblewrap({"true"}, policy, merged_host());
  REQUIRE(wrapped);
  CHECK(has(*wrapped, {"--chdir", "/tmp", "--", "true"}));
}

TEST_CASE("wrap_with_bubblewrap leaves argv alone for a policy without bubblewrap") {
  SandboxPolicy policy;
  HostFacts host = merged_host();
  host.bubblewrap.clear();
  CHECK(wrap_with_bubblewrap({"true"}, policy, host) == Words{"true"});
}

TEST_CASE("wrap_with_bubblewrap on a host without bubblewrap is an error, never a bare argv") {
  HostFacts host = merged_host();
  host.bubblewrap.clear();
  host.bubblewrap_problem = "bubblewrap is not installed";
  const auto refused = wrap_with_bubblewrap({"true"}, strict_policy(), host);
  REQUIRE_FALSE(refused);
  CHECK(refused.error() == Error{ErrorCode::sandbox_not_available, "bubblewrap is not installed"});
}

TEST_CASE(
    "a workspace that stays is bound where the private one would be, and nothing else changes") {
  SandboxPolicy policy = strict_policy();
  const Words fresh = bubblewrap_call(policy, merged_host()).arguments;
  policy.workspace = "/var/lib/paddock/agents/a/workspace";
  const Words kept = bubblewrap_call(policy, merged_host()).arguments;
  CHECK(has(kept, {"--bind", "/var/lib/paddock/agents/a/workspace", "/workspace"}));
  CHECK_FALSE(has(kept, {"--tmpfs", "/workspace"}));
  Words expected = fresh;
  const auto at = static_cast<std::ptrdiff_t>(
      position_of(expected, {"--perms", "0700", "--size", std::to_string(policy.workspace_bytes),
                             "--tmpfs", "/workspace"}));
  expected.erase(expected.begin() + at, expected.begin() + at + 6);
  const Words bind = {"--bind", policy.workspace, "/workspace"};
  expected.insert(expected.begin() + at, bind.begin(), bind.end());
  CHECK(kept == expected);
}
