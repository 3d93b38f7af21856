#include "kernel/confine/mounts.hpp"

#include <algorithm>

#include "support/catch.hpp"
#include "support/sample_host.hpp"

using namespace paddock::kernel;

namespace {

using Differences = std::vector<std::string>;

SandboxPolicy mounted_policy() {
  SandboxPolicy policy;
  policy.use_bubblewrap = true;
  policy.deny_network = true;
  policy.bind_ro = {"/usr"};
  policy.bind_rw = {"/srv/my work"};
  policy.tmp_bytes = 64u << 20;
  return policy;
}

// As the kernel shows a sandbox of this policy, taken from a run and shortened.
const char* const mountinfo =
    "620 500 0:60 /newroot / ro,nosuid,nodev,relatime - tmpfs tmpfs rw,uid=1000,gid=1000\n"
    "626 620 254:1 /usr /usr ro,nosuid,nodev,relatime master:1 - ext4 /dev/vda1 rw\n"
    "630 620 254:1 /etc/alternatives /etc/alternatives ro,nosuid - ext4 /dev/vda1 rw\n"
    "631 620 254:1 /etc/ld.so.cache /etc/ld.so.cache ro,nosuid - ext4 /dev/vda1 rw\n"
    "640 620 0:61 / /proc rw,nosuid,nodev,noexec - proc proc rw\n"
    "641 640 0:61 /sys /proc/sys ro,nosuid - proc proc rw\n"
    "642 640 0:5 /null /proc/keys ro,nosuid - devtmpfs udev rw,size=8k\n"
    "643 640 0:5 /null /proc/kallsyms ro,nosuid - devtmpfs udev rw,size=8k\n"
    "650 620 0:62 / /dev ro,nosuid - tmpfs tmpfs rw,mode=755\n"
    "651 650 0:5 /null /dev/null rw,nosuid - devtmpfs udev rw,size=8k\n"
    "652 650 0:63 / /dev/shm rw,nosuid - tmpfs tmpfs rw,size=65536k\n"
    "653 620 0:64 / /tmp rw,nosuid - tmpfs tmpfs rw,size=65536k,uid=1000\n"
    "654 620 0:65 / /home/agent rw,nosuid - tmpfs tmpfs rw,size=65536k\n"
    "655 620 0:66 / /workspace rw,nosuid - tmpfs tmpfs rw,size=262144k\n"
    "656 620 254:1 /srv/my\\040work /srv/my\\040work rw,nosuid - ext4 /dev/vda1 rw\n";

// The host has a disk below the directory that is bound.
const char* const host_mountinfo =
    "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw\n"
    "23 22 254:2 / /srv/my\\040work/cache rw,relatime - ext4 /dev/vdb rw\n";

std::string with(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), instead);
}

Differences differences(const std::string& text) {
  return mount_differences(planned_mounts(mounted_policy(), merged_host()), parse_mountinfo(text),
                           parse_mountinfo(host_mountinfo));
}

}  // namespace

TEST_CASE("a sandbox whose mounts are as planned has no differences") {
  CHECK(differences(mountinfo) == Differences{});
}

TEST_CASE("a mount that can be written and should not is named") {
  CHECK(differences(with(mountinfo, "/usr /usr ro,", "/usr /usr rw,")) ==
        Differences{"the mount is 'rw /usr', planned 'ro /usr'",
                    "'/usr' can be written, which is not planned"});
  CHECK(differences(with(mountinfo, "/newroot / ro", "/newroot / rw")).size() == 2);
  CHECK(differences(with(mountinfo, "/dev ro", "/dev rw")).size() == 2);
}

TEST_CASE("a mount that is not there is named") {
  CHECK(differences(with(mountinfo, " /proc/keys ", " /proc/elsewhere ")) ==
        Differences{"nothing is mounted at '/proc/keys'",
                    "'/proc/elsewhere' is mounted, which is not planned"});
}

TEST_CASE("a read-only mount that nobody planned is named") {
  // A bubblewrap that is not the real one could show what it likes.
  CHECK(differences(std::string(mountinfo) +
                    "660 620 0:61 / /usr/games ro,relatime - proc proc rw\n") ==
        Differences{"'/usr/games' is mounted, which is not planned"});
  CHECK(differences(std::string(mountinfo) +
                    "660 620 254:1 /etc /etc ro,relatime - ext4 /dev/vda1 rw\n") ==
        Differences{"'/etc' is mounted, which is not planned"});
}

TEST_CASE("a tmpfs without its size, or with more, is named") {
  CHECK(differences(with(mountinfo, "rw,size=65536k,uid=1000", "rw,uid=1000")) ==
        Differences{"the mount is 'rw /tmp', planned 'rw /tmp 64MiB'"});
  CHECK(differences(with(mountinfo, "size=65536k,uid=1000", "size=131072k,uid=1000")) ==
        Differences{"the mount is 'rw /tmp 128MiB', planned 'rw /tmp 64MiB'"});
}

TEST_CASE("a writable mount that nobody planned is named") {
  CHECK(differences(std::string(mountinfo) +
                    "660 620 254:1 / /oldroot rw,relatime - ext4 /dev/vda1 rw\n") ==
        Differences{"'/oldroot' is mounted, which is not planned",
                    "'/oldroot' can be written, which is not planned"});
  // Below a private tmpfs nothing of the host belongs, however it got there.
  CHECK(differences(std::string(mountinfo) +
                    "660 653 254:1 / /tmp/host rw,relatime - ext4 /dev/vda1 rw\n") ==
        Differences{"'/tmp/host' is mounted, which is not planned",
                    "'/tmp/host' can be written, which is not planned"});
}

TEST_CASE("a bound directory brings the mounts below it") {
  CHECK(differences(std::string(mountinfo) +
                    "660 656 254:2 / /srv/my\\040work/cache rw - ext4 /dev/vdb rw\n") ==
        Differences{});
}

TEST_CASE("a later mount covers an earlier one at the same place") {
  CHECK(differences(std::string(mountinfo) +
                    "670 626 254:1 /usr /usr rw,relatime - ext4 /dev/vda1 rw\n")
            .size() == 2);
}

TEST_CASE("a run without bubblewrap has the host's mounts, whatever they are") {
  CHECK(planned_mounts(SandboxPolicy{}, merged_host()).empty());
  CHECK(mount_differences({}, parse_mountinfo(mountinfo), {}).empty());
}

TEST_CASE(
    "a workspace that stays is planned as a writable bind, and a tmpfs in its place differs") {
  SandboxPolicy policy;
  policy.use_bubblewrap = true;
  policy.workspace = "/srv/a";
  const auto planned = planned_mounts(policy, merged_host());
  const auto at = std::find_if(planned.begin(), planned.end(),
                               [](const Mount& mount) { return mount.path == "/workspace"; });
  REQUIRE(at != planned.end());
  CHECK(*at == Mount{.path = "/workspace", .writable = true, .size_bytes = {}});
  auto seen = planned;
  seen[static_cast<std::size_t>(at - planned.begin())].writable = false;
  CHECK(mount_differences(planned, seen, {}).size() == 1);
}
