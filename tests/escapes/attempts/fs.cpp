// Attempts on files: the host's, other runs', and those that bubblewrap and paddock put in place.

#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "escapes/attempts/tools.hpp"

namespace paddock::escapes {
namespace {

std::string canary(const Arguments& arguments) {
  return arguments.text("canary");
}

// A file in the directory that the sandbox binds read-only. Anybody may write it but for the bind.
std::string bound_file(const Arguments& arguments) {
  return arguments.text("bound") + "/open-to-all";
}

std::string home() {
  const char* directory = std::getenv("HOME");
  return directory == nullptr ? "." : directory;
}

std::string own_file() {
  std::string path = "paddock-escape-" + std::to_string(::getpid());
  ::close(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  return path;
}

Outcome overwrite_canary(const Arguments& arguments) {
  return succeeded_if(writes(canary(arguments) + "/public", "overwritten"));
}

Outcome create_beside_canary(const Arguments& arguments) {
  const std::string path = canary(arguments) + "/planted";
  return succeeded_if(::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600) >= 0);
}

Outcome delete_canary(const Arguments& arguments) {
  return succeeded_if(::unlink((canary(arguments) + "/public").c_str()) == 0);
}

Outcome follow_symlink_out(const Arguments& arguments) {
  if (::symlink((canary(arguments) + "/public").c_str(), "paddock-escape-link") != 0)
    return refused();
  Outcome outcome = opens("paddock-escape-link", O_RDONLY);
  ::unlink("paddock-escape-link");
  return outcome;
}

// A hard link to a read-only file would be a second, writable name of the same inode.
Outcome hardlink_bound_file(const Arguments& arguments) {
  const bool linked = ::link(bound_file(arguments).c_str(), "paddock-escape-hardlink") == 0;
  const int error = errno;
  ::unlink("paddock-escape-hardlink");
  return linked ? succeeded() : refused(error);
}

// The classic way out of a chroot: make a new one below and walk up from outside of it.
Outcome chroot_and_walk_up(const Arguments& arguments) {
  ::mkdir("paddock-escape-root", 0700);
  const int result = ::chroot("paddock-escape-root");
  const int error = errno;
  ::rmdir("paddock-escape-root");
  if (result != 0) return refused(error);
  for (int i = 0; i < 32; ++i)
    if (::chdir("..") != 0) return refused();
  return opens(canary(arguments).substr(1) + "/public", O_RDONLY);
}

// CVE-2024-21626: a working directory or descriptor outside of the root.
Outcome walk_up_from(int directory, const Arguments& arguments) {
  std::string path;
  for (int i = 0; i < 32; ++i) path += "../";
  path += canary(arguments).substr(1) + "/public";
  return succeeded_if(::openat(directory, path.c_str(), O_RDONLY | O_CLOEXEC) >= 0);
}

Outcome make_device(mode_t kind, dev_t device) {
  const char* path = "paddock-escape-device";
  const bool made = ::mknod(path, kind | 0600, device) == 0;
  const int error = errno;
  ::unlink(path);
  return made ? succeeded() : refused(error);
}

Outcome keep_mode_bit(mode_t bit) {
  const std::string path = own_file();
  const int result = ::chmod(path.c_str(), bit | 0755);
  const int error = errno;
  struct stat info {};
  ::stat(path.c_str(), &info);
  ::unlink(path.c_str());
  if (result != 0) return refused(error);
  return (info.st_mode & bit) != 0 ? succeeded() : refused_as("ignored");
}

Outcome make_immutable() {
  const std::string path = own_file();
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  int flags = FS_IMMUTABLE_FL;
  const int result = ::ioctl(fd, FS_IOC_SETFLAGS, &flags);
  const int error = errno;
  flags = 0;
  ::ioctl(fd, FS_IOC_SETFLAGS, &flags);
  ::unlink(path.c_str());
  return result == 0 ? succeeded() : refused(error);
}

Outcome set_attribute(const char* name, const void* value, std::size_t size) {
  const std::string path = own_file();
  const int result = ::setxattr(path.c_str(), name, value, size, 0);
  const int error = errno;
  ::unlink(path.c_str());
  return result == 0 ? succeeded() : refused(error);
}

Outcome set_file_capability() {
  // VFS_CAP_REVISION_2 with the effective bit, and CAP_SYS_ADMIN permitted.
  const std::uint32_t value[5] = {0x02000001, 1u << 21, 0, 0, 0};
  return set_attribute("security.capability", value, sizeof value);
}

// struct file_handle with room for its bytes.
class Handle {
 public:
  Handle() { get()->handle_bytes = MAX_HANDLE_SZ; }
  file_handle* get() { return reinterpret_cast<file_handle*>(bytes_); }
  int name(const char* path) {
    int mount = 0;
    return ::name_to_handle_at(AT_FDCWD, path, get(), &mount, 0);
  }

 private:
  alignas(file_handle) char bytes_[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
};

// "Shocker": a handle, which can be made by hand, opens any file of the same file system.
Outcome open_by_handle(const Arguments&) {
  Handle handle;
  if (handle.name(".") != 0) return refused();
  const int directory = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return succeeded_if(::open_by_handle_at(directory, handle.get(), O_RDONLY | O_CLOEXEC) >= 0);
}

// The same with a handle that names nothing: without name_to_handle_at(2), which may be closed.
Outcome open_invented_handle(const Arguments&) {
  Handle handle;
  const int directory = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return reached(::open_by_handle_at(directory, handle.get(), O_RDONLY | O_CLOEXEC));
}

Outcome mount_in_user_namespace(const char* type, const char* options) {
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return refused();
  return succeeded_if(::mount(type, "/tmp", type, 0, options) == 0);
}

Outcome exceed_file_size() {
  // 1 TiB that takes no space: RLIMIT_FSIZE counts the length.
  const int fd = ::open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  return succeeded_if(fd >= 0 && ::ftruncate(fd, off_t{1} << 40) == 0);
}

Outcome exceed_file_size_ignoring_the_signal(const Arguments&) {
  std::signal(SIGXFSZ, SIG_IGN);
  return exceed_file_size();
}

Outcome make_many_files(const Arguments& arguments) {
  const std::string directory = arguments.text("tmpfs") + "/paddock-escape-inodes";
  if (::mkdir(directory.c_str(), 0700) != 0) return refused();
  constexpr int count = 20'000;
  int made = 0;
  int error = 0;
  const auto name = [&](int i) { return directory + "/" + std::to_string(i); };
  for (; made < count; ++made) {
    const int fd = ::open(name(made).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    error = errno;
    if (fd < 0) break;
    ::close(fd);
  }
  for (int i = 0; i < made; ++i) ::unlink(name(i).c_str());
  ::rmdir(directory.c_str());
  return made == count ? succeeded("20000 empty files") : refused(error);
}

// A descriptor that was opened for reading is opened anew for writing.
Outcome reopen_for_writing(const Arguments& arguments) {
  const int fd = ::open(bound_file(arguments).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return refused();
  return opens("/proc/self/fd/" + std::to_string(fd), O_WRONLY);
}

Outcome rename_bound_file(const Arguments& arguments) {
  const std::string path = bound_file(arguments);
  if (::rename(path.c_str(), (path + "-moved").c_str()) != 0) return refused();
  ::rename((path + "-moved").c_str(), path.c_str());
  return succeeded();
}

Outcome make_and_remove_cgroup(const Arguments& arguments) {
  const std::string path = arguments.text("cgroup") + "/paddock-escape";
  if (::mkdir(path.c_str(), 0700) != 0) return refused();
  ::rmdir(path.c_str());
  return succeeded();
}

}  // namespace

Attempts fs_attempts() {
  using A = const Arguments&;
  return {
      {"fs_read_shadow", [](A) { return opens("/etc/shadow", O_RDONLY); }},
      {"fs_read_supervisor_db", [](A a) { return opens(canary(a) + "/private", O_RDONLY); }},
      {"fs_read_other_job_dir", [](A a) { return opens(canary(a) + "/other-job/file", O_RDONLY); }},
      {"fs_read_host_file", [](A a) { return opens(canary(a) + "/public", O_RDONLY); }},
      {"fs_read_machine_id", [](A) { return opens("/etc/machine-id", O_RDONLY); }},
      {"fs_list_root_home", [](A) { return opens("/root", O_RDONLY | O_DIRECTORY); }},
      {"fs_list_var_log", [](A) { return opens("/var/log", O_RDONLY | O_DIRECTORY); }},
      {"fs_write_host_file", overwrite_canary},
      {"fs_create_host_file", create_beside_canary},
      {"fs_delete_host_file", delete_canary},
      {"fs_write_usr_bin", [](A) { return writes_below("/usr/bin"); }},
      {"fs_write_etc", [](A) { return writes_below("/etc"); }},
      {"fs_write_root_tmpfs", [](A) { return writes_below("/"); }},
      {"fs_write_var", [](A) { return writes_below("/var"); }},
      {"fs_write_run", [](A) { return writes_below("/run"); }},
      {"fs_fill_root_tmpfs", [](A) { return fills("/", 96); }},
      {"fs_fill_dev_tmpfs", [](A) { return fills("/dev", 96); }},
      {"fs_fill_shm", [](A) { return fills("/dev/shm", 96); }},
      {"fs_fill_tmp", [](A) { return fills("/tmp", 96); }},
      {"fs_fill_home", [](A) { return fills(home(), 96); }},
      {"fs_fill_workspace", [](A) { return fills(".", 288); }},
      {"fs_inode_exhaust_tmp", make_many_files},
      {"fs_symlink_out_of_workspace", follow_symlink_out},
      {"fs_hardlink_to_ro", hardlink_bound_file},
      {"fs_dotdot_chroot_escape", chroot_and_walk_up},
      {"fs_proc_self_root",
       [](A a) { return opens("/proc/self/root" + canary(a) + "/public", O_RDONLY); }},
      {"fs_proc_1_root",
       [](A a) { return opens("/proc/1/root" + canary(a) + "/public", O_RDONLY); }},
      {"fs_cwd_unreachable", [](A a) { return walk_up_from(AT_FDCWD, a); }},
      {"fs_mknod_dev", [](A) { return make_device(S_IFCHR, makedev(1, 1)); }},
      {"fs_mknod_block", [](A) { return make_device(S_IFBLK, makedev(7, 0)); }},
      {"fs_setuid_bit_kept", [](A) { return keep_mode_bit(S_ISUID); }},
      {"fs_setgid_bit_kept", [](A) { return keep_mode_bit(S_ISGID); }},
      {"fs_immutable_file", [](A) { return make_immutable(); }},
      {"fs_file_capability", [](A) { return set_file_capability(); }},
      {"fs_trusted_attribute", [](A) { return set_attribute("trusted.paddock", "x", 1); }},
      {"fs_open_by_handle", open_by_handle},
      {"fs_open_by_invented_handle", open_invented_handle},
      {"fs_name_to_handle", [](A) { return reached(Handle().name("/usr")); }},
      {"fs_remount_rw",
       [](A) {
         return succeeded_if(::mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0);
       }},
      {"fs_umount_mask", [](A) { return succeeded_if(::umount2("/proc", MNT_DETACH) == 0); }},
      {"fs_bind_over_mask",
       [](A) { return succeeded_if(::mount("/tmp", "/proc", nullptr, MS_BIND, nullptr) == 0); }},
      {"fs_move_mount",
       [](A) { return succeeded_if(::mount("/proc", "/tmp", nullptr, MS_MOVE, nullptr) == 0); }},
      {"fs_overlay_in_userns",
       [](A) { return mount_in_user_namespace("overlay", "lowerdir=/usr:/etc"); }},
      {"fs_tmpfs_in_userns", [](A) { return mount_in_user_namespace("tmpfs", "size=4k"); }},
      {"fs_fuse_dev_absent", [](A) { return opens("/dev/fuse", O_RDWR); }},
      {"fs_dev_kmsg", [](A) { return opens("/dev/kmsg", O_WRONLY); }},
      {"fs_dev_mem", [](A) { return opens("/dev/mem", O_RDONLY); }},
      {"fs_dev_port", [](A) { return opens("/dev/port", O_RDONLY); }},
      {"fs_dev_kvm", [](A) { return opens("/dev/kvm", O_RDWR); }},
      {"fs_dev_vsock", [](A) { return opens("/dev/vsock", O_RDWR); }},
      {"fs_dev_net_tun", [](A) { return opens("/dev/net/tun", O_RDWR); }},
      {"fs_dev_block", [](A a) { return opens(a.text("disk"), O_RDONLY); }},
      {"fs_sparse_huge_file", [](A) { return exceed_file_size(); }},
      {"fs_fsize_sigxfsz", exceed_file_size_ignoring_the_signal},
      {"fs_write_ro_bind", [](A a) { return opens(bound_file(a), O_WRONLY); }},
      {"fs_truncate_ro_bind",
       [](A a) { return succeeded_if(::truncate(bound_file(a).c_str(), 0) == 0); }},
      {"fs_chmod_ro_bind",
       [](A a) { return succeeded_if(::chmod(bound_file(a).c_str(), 0666) == 0); }},
      {"fs_rename_ro_bind", rename_bound_file},
      {"fs_mtime_ro_bind",
       [](A a) {
         return succeeded_if(::utimensat(AT_FDCWD, bound_file(a).c_str(), nullptr, 0) == 0);
       }},
      {"fs_reopen_ro_fd", reopen_for_writing},
      {"fs_cgroup_make", make_and_remove_cgroup},
      {"fs_inherited_dirfd", [](A a) { return walk_up_from(a.number("dirfd"), a); }},
  };
}

}  // namespace paddock::escapes
