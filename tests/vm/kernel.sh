# Sourced: the kernel that the virtual machine boots. Any kernel will do that has cgroup v2, tmpfs, a
# serial console and initramfs built in, as those of Debian and Ubuntu have: no module is loaded.
#
# It is never installed, because that would change what this machine boots: where /boot has none
# that can be read, fetch_vm_kernel takes it out of the package.

# The newest kernel that is there: the one that was fetched into directory $1, or one of /boot.
find_vm_kernel() {
  local found
  found=$(ls -1 "$1"/vmlinuz-* /boot/vmlinuz-*-cloud-amd64 /boot/vmlinuz-*-generic 2>/dev/null |
    while read -r kernel; do [ ! -r "$kernel" ] || echo "$kernel"; done | head -n 1)
  [ -n "$found" ] && echo "$found"
}

# Downloads a kernel package with apt and unpacks its kernel alone into directory $1.
fetch_vm_kernel() {
  local meta package work
  for meta in linux-image-cloud-amd64 linux-image-virtual; do
    package=$(apt-cache depends "$meta" 2>/dev/null |
      sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    [ -z "$package" ] || break
  done
  [ -n "$package" ] || { echo "no kernel package is known to apt" >&2; return 1; }
  work=$(mktemp -d)
  mkdir -p "$1"
  (cd "$work" && apt-get download -qq "$package" && dpkg-deb --fsys-tarfile ./*.deb |
    tar -x --wildcards './boot/vmlinuz-*') && cp "$work"/boot/vmlinuz-* "$1/"
  local status=$?
  rm -rf "$work"
  return "$status"
}
