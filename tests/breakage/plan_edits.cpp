#include "breakage/plan_edits.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "kernel/confine/rlimits.hpp"

namespace paddock::breakage {
namespace {

using kernel::Plan;
using Words = std::vector<std::string>;

// Every place where `words` stand one after the other gets `others` instead.
void replace(Words& in, const Words& words, const Words& others) {
  for (auto at = in.begin();
       (at = std::search(at, in.end(), words.begin(), words.end())) != in.end();) {
    at = in.erase(at, at + static_cast<std::ptrdiff_t>(words.size()));
    at = in.insert(at, others.begin(), others.end()) + static_cast<std::ptrdiff_t>(others.size());
  }
}

void take_out(Words& in, const Words& words) {
  replace(in, words, {});
}

// Each OPTION with `count` words after it.
void take_out_each(Words& in, const std::string& option, std::ptrdiff_t count) {
  for (auto at = in.begin(); (at = std::find(at, in.end(), option)) != in.end();)
    at = in.erase(at, at + 1 + count);
}

void show_every_proc_file(Plan& plan) {
  Words& words = plan.bubblewrap;
  for (const Words& mask = {"--ro-bind", "/dev/null"};;) {
    const auto at = std::search(words.begin(), words.end(), mask.begin(), mask.end());
    if (at == words.end()) return;
    words.erase(at, at + 3);
  }
}

void allow_every_call(Plan& plan) {
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  plan.launch.filter.assign(reinterpret_cast<const char*>(&allow), sizeof allow);
}

void pass_on_environment(Plan& plan) {
  for (char** variable = ::environ; *variable != nullptr; ++variable)
    plan.launch.environment.emplace_back(*variable);
}

// As if the path led elsewhere by the time that bubblewrap resolves it.
void move_last_bind(Plan& plan) {
  Words& words = plan.bubblewrap;
  const std::string path = plan.binds.back();
  replace(words, {"--ro-bind", path, path}, {"--ro-bind", "/usr", path});
}

struct Edit {
  std::string control;
  std::function<void(Plan&)> apply;
};

Edit without_words(std::string control, Words words) {
  return {std::move(control), [words](Plan& plan) { take_out(plan.bubblewrap, words); }};
}

// A file system that a zygote's fork does not mount anew.
Edit without_fresh(std::string control, std::string target) {
  return {std::move(control), [target](Plan& plan) {
            std::erase_if(plan.launch.mounts, [&](const kernel::FreshMount& mount) {
              return mount.target == target || mount.type == target;
            });
          }};
}

std::vector<Edit> all_edits() {
  std::vector<Edit> edits = {
      without_words("namespace_pid", {"--unshare-pid"}),
      without_words("namespace_ipc", {"--unshare-ipc"}),
      without_words("namespace_uts", {"--unshare-uts"}),
      without_words("namespace_net", {"--unshare-net"}),
      without_words("namespace_cgroup", {"--unshare-cgroup"}),
      without_words("namespace_user", {"--unshare-user"}),
      without_words("disable_userns", {"--disable-userns", "--assert-userns-disabled"}),
      without_words("capabilities", {"--cap-drop", "ALL"}),
      without_words("bounding_set", {"--cap-drop", "ALL"}),
      without_words("read_only_root", {"--remount-ro", "/"}),
      without_words("read_only_dev", {"--remount-ro", "/dev"}),
      {"own_user_namespace", [](Plan& plan) { plan.launch.own_user_namespace = false; }},
      {"read_only_usr",
       [](Plan& plan) {
         replace(plan.bubblewrap, {"--ro-bind", "/usr", "/usr"}, {"--bind", "/usr", "/usr"});
       }},
      {"proc_masks", show_every_proc_file},
      {"sized_tmpfs", [](Plan& plan) { take_out_each(plan.bubblewrap, "--size", 1); }},
      {"bound_path", move_last_bind},
      {"new_session", [](Plan& plan) { plan.launch.new_session = false; }},
      {"landlock_rules",
       [](Plan& plan) {
         plan.launch.landlock.allowed.push_back({"/", plan.launch.landlock.handled_file});
       }},
      {"landlock_scope", [](Plan& plan) { plan.launch.landlock.scoped = 0; }},
      {"seccomp", [](Plan& plan) { plan.launch.filter.clear(); }},
      {"seccomp_empty", allow_every_call},
      {"host_uid", [](Plan& plan) { plan.launch.host_uid.reset(); }},
      {"environment", pass_on_environment},
      without_fresh("fresh_pts", "/dev/pts"),
      without_fresh("fresh_shm", "/dev/shm"),
      without_fresh("fresh_tmp", "/tmp"),
      without_fresh("fresh_home", "/home/agent"),
      without_fresh("fresh_workspace", "/workspace"),
      without_fresh("fresh_covers", "cover"),
      {"fresh_sizes",
       [](Plan& plan) {
         for (kernel::FreshMount& mount : plan.launch.mounts)
           if (mount.type == "tmpfs")
             mount.options = mount.options.substr(0, mount.options.find(','));
       }},
      {"watch_sockets", [](Plan& plan) { plan.launch.watch_sockets = false; }},
      {"fork_namespace_net",
       [](Plan& plan) { std::erase(plan.new_namespaces, std::string("net")); }},
      {"wall_clock", [](Plan& plan) { *plan.wall_clock += std::chrono::seconds(2); }},
  };
  for (const kernel::RlimitRow& row : kernel::rlimit_rows)
    edits.push_back({std::string("rlimit_") + row.name, [resource = row.resource](Plan& plan) {
                       std::erase_if(plan.launch.rlimits, [&](const kernel::Rlimit& limit) {
                         return limit.resource == resource;
                       });
                     }});
  return edits;
}

}  // namespace

kernel::Plan without(const std::string& control, kernel::Plan plan) {
  for (const Edit& edit : all_edits())
    if (edit.control == control) edit.apply(plan);
  return plan;
}

}  // namespace paddock::breakage
