#pragma once
// Hosts for tests of pure functions, written by hand: nothing of the machine under test is in them.

#include "kernel/confine/host.hpp"

// Debian 12 as it comes: /usr merged, bubblewrap installed, an ordinary user.
inline paddock::kernel::HostFacts merged_host() {
  paddock::kernel::HostFacts host;
  host.bubblewrap = "/usr/bin/bwrap";
  host.bubblewrap_version = "0.8.0";
  host.usr_links = {
      {"/bin", "usr/bin"}, {"/sbin", "usr/sbin"}, {"/lib", "usr/lib"}, {"/lib64", "usr/lib64"}};
  host.etc_binds = {"/etc/alternatives", "/etc/ld.so.cache"};
  host.proc_masks = {"/proc/keys", "/proc/kallsyms"};
  host.localtime = "TZif";
  host.resolv_conf = "nameserver 192.0.2.1\n";
  host.certificates = "/etc/ssl/certs";
  host.uid = 1001;
  host.gid = 1001;
  host.kernel_release = "6.1.0";
  host.landlock_abi = 2;
  host.seccomp = true;
  host.user_namespaces = true;
  return host;
}

// An older layout: /bin and /lib are directories of their own.
inline paddock::kernel::HostFacts unmerged_host() {
  paddock::kernel::HostFacts host = merged_host();
  host.usr_links = {};
  host.system_directories = {"/bin", "/sbin", "/lib", "/lib64"};
  return host;
}
