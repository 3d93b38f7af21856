#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

Group environment_rows() {
  const auto once = Scenario::report;
  const auto unset = stopped({"ENOENT"});
  const auto closed = stopped({"EBADF"});
  const auto fresh = stopped({"reset"});
  const auto limited = stopped({"EPERM"});
  const auto row = [](std::string_view name, const Expectation& both) {
    return Row{name, both, both};
  };
  return {
      "environment",
      {
          row("env_secrets_absent", unset),
          row("env_ld_preload_from_host", unset),
          row("env_proxy_vars", unset),
          row("env_python_path", unset),
          row("env_runtime_dir", unset),
          row("env_path_fixed", unset),
          row("env_inherited_fd", closed),
          row("env_fd_table_exact", closed),
          row("env_umask", stopped({"EACCES"})),
          row("env_signal_ignored", fresh),
          row("env_signal_blocked", fresh),
          row("env_cwd", unset),
          {"env_hostname", open("DEFAULT has the host's name"), unset},
          row("env_session", fresh),
          {"env_terminal",
           stopped({"ENXIO"}),
           stopped({"ENXIO", "ENOENT", "EACCES"}),
           once,
           {"ENXIO", "ENOENT"}},
          row("env_rlimit_cpu", limited),
          row("env_rlimit_as", limited),
          row("env_rlimit_fsize", limited),
          row("env_rlimit_core", limited),
      },
  };
}

}  // namespace paddock::escapes
