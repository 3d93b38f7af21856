#include "escapes/runner/rows.hpp"

namespace paddock::escapes {

Group channel_rows() {
  // For two runs that want to talk: neither gets at anything of the host by it.
  constexpr std::string_view locks =
      "advisory locks work on any inode that two runs see, such as /usr's";
  constexpr std::string_view events = "file events work on any inode that two runs see";
  const auto held = Scenario::seen_by_second;
  const auto ipc = open(reason::host_ipc);
  const auto no_file = stopped({"ENOENT", "EACCES", "EROFS", "EPERM"});
  const auto no_object = stopped({"ENOENT", "ENOSYS", "EPERM", "EACCES"});
  const auto no_key = stopped({"EPERM", "ENOSYS", "ENOKEY", "EACCES"});
  return {
      "channels between two runs",
      {
          {"fs_flock_cross_job", open(locks), open(locks), held},
          {"fs_posix_lock_channel", open(locks), open(locks), held},
          {"fs_ofd_lock_channel", open(locks), open(locks), held},
          {"fs_lease_channel",
           {stopped({"EACCES", "EPERM"}), open(reason::host_files)},
           stopped({"EACCES", "EPERM"}),
           held,
           {"EAGAIN"}},
          {"fs_dnotify_channel", open(events), stopped({"EPERM"}), Scenario::seen_by_first},
          {"fs_inotify_channel", open(events), open(events), Scenario::seen_by_first},
          {"side_shared_tmp", ipc, no_file, held},
          {"side_shared_var_tmp", ipc, no_file, held},
          {"side_shared_shm", ipc, no_file, held},
          {"side_abstract_socket", open(reason::host_network), stopped({"ECONNREFUSED", "EPERM"}),
           held},
          {"side_loopback_port", open(reason::host_network),
           stopped({"ECONNREFUSED", "EAFNOSUPPORT", "ENETUNREACH"}), held},
          {"side_sysv_shm", ipc, no_object, held},
          {"side_sysv_semaphore", ipc, no_object, held},
          {"side_posix_mq", ipc, no_object, held},
          {"side_user_keyring", no_key, no_key, held},
          {"res_nproc_cross_job", stopped({"unhindered"}), stopped({"unhindered"}), held},
          {"side_process_visible", open(reason::host_processes),
           stopped({"ENOENT", "EACCES", "EPERM"}), held},
      },
  };
}

}  // namespace paddock::escapes
