#include "kernel/warm/zygote.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "kernel/base/hash.hpp"
#include "kernel/confine/bubblewrap.hpp"
#include "kernel/confine/launch_wire.hpp"
#include "kernel/policy/units.hpp"
#include "kernel/warm/warm_plan.hpp"

namespace paddock::kernel {

namespace {

// An interpreter that is not isolated looks for modules of its user's.
bool has_users_modules(const std::vector<std::string>& interpreter) {
  return std::none_of(interpreter.begin(), interpreter.end(),
                      [](const std::string& word) { return word == "-I" || word == "-s"; });
}

// Which interpreter it is, encodings, Python's own options and where its user's modules are. A
// fork's interpreter has long started.
bool is_read_at_start(const std::string& name, const ZygoteProgram& program) {
  return name == "PATH" || name == "LANG" || name.starts_with("LC_") ||
         name.starts_with("PYTHON") || (name == "HOME" && has_users_modules(program.interpreter));
}

bool is_default(const std::string& name, const std::string& value) {
  return (name == "LANG" && value == lang_default) || (name == "HOME" && value == sandbox_home);
}

}  // namespace

std::string zygote_key(const SandboxPolicy& policy, const ZygoteProgram& program) {
  std::string text = canonical_text(policy_of_zygote(policy));
  for (const std::string& word : program.interpreter) text += '\0' + word;
  return sha256_hex(text + '\0' + input_of_zygote(program));
}

std::string why_cold(const SandboxPolicy& policy, const std::vector<std::string>& argv,
                     const ZygoteProgram& program) {
  if (!policy.use_bubblewrap) return "the profile does not use bubblewrap";
  if (!policy.bind_rw.empty()) return "something is bound writable";
  if (!policy.workspace.empty()) return "the workspace is one that stays";
  if (var_tmp_is_tmpfs(policy)) return "something is bound below /var/tmp";
  for (const auto& [name, value] : policy.environment)
    if (is_read_at_start(name, program) && !is_default(name, value))
      return "its environment sets " + name + ", which an interpreter reads when it starts";
  const std::size_t words = program.interpreter.size();
  const bool fits =
      argv.size() >= words + 2 &&
      std::equal(program.interpreter.begin(), program.interpreter.end(), argv.begin()) &&
      argv[words] == "-c";
  if (!fits) {
    std::string wanted;
    for (const std::string& word : program.interpreter) wanted += word + " ";
    return "the command is not '" + wanted + "-c CODE'";
  }
  return {};
}

std::string why_not_fork(const ZygoteLine& zygote, const SandboxPolicy& policy) {
  if (!policy.memory_bytes ||
      *policy.memory_bytes / zygotes_in_memory_limit_min >= zygote.mapped_bytes)
    return {};
  return "its memory_bytes, " + format_bytes(*policy.memory_bytes) + ", are less than " +
         std::to_string(zygotes_in_memory_limit_min) + " times what its zygote has mapped, " +
         format_bytes(zygote.mapped_bytes);
}

Result<bool> zygote_says_ready(ZygoteLine& line) {
  ZygoteReady ready;
  ssize_t count = 0;
  while ((count = ::recv(line.socket.get(), &ready, sizeof ready, MSG_DONTWAIT)) < 0 &&
         errno == EINTR) {
  }
  if (count < 0 && errno == EAGAIN) return false;
  if (count < 0) return fail_errno("hear from a zygote");
  if (count != sizeof ready) return fail(ErrorCode::io, "the zygote is gone");
  ready.program[sizeof ready.program - 1] = '\0';
  line.program = ready.program;
  for (std::size_t i = 0; i < namespace_count; ++i) {
    ready.namespaces[i][sizeof ready.namespaces[i] - 1] = '\0';
    line.namespaces[namespace_names[i]] = ready.namespaces[i];
  }
  for (std::size_t i = 0; i < renewed_mount_count; ++i)
    line.devices[renewed_mounts[i]] = ready.devices[i];
  line.session_keyring = ready.session_keyring;
  line.mapped_bytes = ready.mapped_bytes;
  return true;
}

}  // namespace paddock::kernel
