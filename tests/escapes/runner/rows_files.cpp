#include "escapes/runner/rows.hpp"

namespace paddock::escapes {
namespace {

// Another user's file as root; the caller's own otherwise.
ByUser own_files() {
  return {stopped({"EACCES", "EPERM"}), open(reason::host_files)};
}

}  // namespace

Group file_rows() {
  constexpr std::string_view bounded_in_size =
      "a tmpfs is bounded in size, not in files; memory_max counts them where there is a cgroup";
  constexpr std::string_view useless =
      "no_new_privs makes such a file useless to the run itself, which may still make one";
  const auto hidden = stopped({"ENOENT"});
  const auto no = stopped({"EACCES", "EPERM"});
  const auto no_privilege = stopped({"EPERM"});
  const auto read_only = stopped({"EROFS", "EACCES", "EPERM"});
  const auto shown = open(reason::host_files);
  const auto unsized = open(reason::no_size);
  const auto full = stopped({"ENOSPC", "memory_limit"});
  const auto too_long = stopped({"file_size_limit", "SIGXFSZ", "EFBIG"});
  const auto once = Scenario::report;
  return {
      "files",
      {
          {"fs_read_shadow", shown, hidden},
          {"fs_read_supervisor_db", own_files(), hidden},
          {"fs_read_other_job_dir", own_files(), hidden},
          {"fs_read_host_file", shown, hidden},
          {"fs_read_machine_id", shown, hidden, once, {"ENOENT"}},
          {"fs_list_root_home", shown, hidden},
          {"fs_list_var_log", shown, hidden, once, {"ENOENT"}},
          {"fs_write_host_file", own_files(), hidden},
          {"fs_create_host_file", own_files(), hidden},
          {"fs_delete_host_file", own_files(), hidden},
          {"fs_write_usr_bin", no, read_only, once, {"EROFS"}},
          {"fs_write_etc", no, read_only},
          {"fs_write_root_tmpfs", no, read_only, once, {"EROFS"}},
          {"fs_write_var", no, read_only},
          {"fs_write_run", no, read_only},
          {"fs_fill_root_tmpfs", no, read_only, once, {"EROFS"}},
          {"fs_fill_dev_tmpfs", no, read_only, once, {"EOPNOTSUPP", "ENOSPC"}},
          {"fs_fill_shm", unsized, full, once, {"ENOSPC"}},
          {"fs_fill_tmp", unsized, full, once, {"ENOSPC"}},
          {"fs_fill_home", unsized, full, once, {"ENOSPC"}},
          {"fs_fill_workspace", unsized, full, once, {"ENOSPC"}},
          {"fs_inode_exhaust_tmp", unsized, open(bounded_in_size)},
          {"fs_symlink_out_of_workspace", shown, stopped({"ENOENT", "EACCES"})},
          {"fs_hardlink_to_ro", shown, stopped({"EXDEV", "EACCES", "EPERM"}), once, {"EXDEV"}},
          {"fs_dotdot_chroot_escape", no_privilege, no_privilege},
          {"fs_proc_self_root", shown, hidden},
          {"fs_proc_1_root", no, no, once, {"EACCES"}},
          {"fs_cwd_unreachable", shown, hidden},
          {"fs_inherited_dirfd", stopped({"EBADF"}), stopped({"EBADF"})},
          {"fs_mknod_dev", no, no},
          {"fs_mknod_block", no, no},
          {"fs_setuid_bit_kept", open(useless), no_privilege},
          {"fs_setgid_bit_kept", open(useless), no_privilege},
          {"fs_immutable_file",
           no_privilege,
           stopped({"EPERM", "ENOTTY", "EOPNOTSUPP"}),
           once,
           {"ENOTTY", "EOPNOTSUPP"}},
          {"fs_file_capability", no_privilege, no_privilege, once, {"EOPNOTSUPP"}},
          {"fs_trusted_attribute", no_privilege, stopped({"EPERM", "EOPNOTSUPP"})},
          {"fs_open_by_handle", no_privilege, stopped({"SIGSYS", "EPERM"}), once, {"EOPNOTSUPP"}},
          {"fs_open_by_invented_handle", no_privilege, stopped({"SIGSYS"})},
          {"fs_name_to_handle", no_privilege, no_privilege},
          {"fs_remount_rw", no_privilege, no_privilege},
          {"fs_umount_mask", no_privilege, no_privilege},
          {"fs_bind_over_mask", no_privilege, no_privilege},
          {"fs_move_mount", no_privilege, no_privilege},
          {"fs_overlay_in_userns", no_privilege, stopped({"EPERM", "ENOSPC"}), once, {"ENODEV"}},
          {"fs_tmpfs_in_userns", no_privilege, stopped({"EPERM", "ENOSPC"})},
          {"fs_fuse_dev_absent", shown, hidden, once, {"ENOENT", "ENODEV"}},
          {"fs_dev_kmsg", no, hidden, once, {"ENOENT"}},
          {"fs_dev_mem", no, hidden, once, {"ENOENT", "EPERM"}},
          {"fs_dev_port", no, hidden, once, {"ENOENT", "EPERM"}},
          {"fs_dev_kvm", shown, hidden, once, {"ENOENT", "ENODEV"}},
          {"fs_dev_vsock", shown, hidden, once, {"ENOENT", "ENODEV"}},
          {"fs_dev_net_tun", shown, hidden, once, {"ENOENT", "ENODEV"}},
          {"fs_dev_block", no, hidden, once, {"ENOENT", "ENXIO"}},
          {"fs_sparse_huge_file", too_long, too_long, once, {"EFBIG"}},
          {"fs_fsize_sigxfsz", stopped({"EFBIG"}), stopped({"EFBIG"}), once, {"EFBIG"}},
          {"fs_write_ro_bind", shown, read_only},
          {"fs_truncate_ro_bind", shown, read_only},
          {"fs_chmod_ro_bind", own_files(), read_only},
          {"fs_rename_ro_bind", own_files(), stopped({"EROFS", "EACCES", "EXDEV"})},
          {"fs_mtime_ro_bind", shown, read_only},
          {"fs_reopen_ro_fd", shown, read_only},
          {"fs_cgroup_make", no, hidden, once, {"ENOENT", "EROFS"}},
      },
  };
}

}  // namespace paddock::escapes
