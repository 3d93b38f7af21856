# Sourced: the kernel that the virtual machine boots. Debian's and Ubuntu's kernels have all that it
# takes built in (cgroup v2, tmpfs, initramfs, serial console): no module is loaded.
#
# It is never installed, which would change what this machine boots: where /boot has none that can
# be read, it is taken out of its package.

# find_vm_kernel DIRECTORY: the newest kernel that was fetched into DIRECTORY, else of /boot.
find_vm_kernel() {
  local pattern kernel
  for pattern in "$1/vmlinuz-*" "/boot/vmlinuz-*-cloud-amd64" "/boot/vmlinuz-*-generic"; do
    kernel=$(compgen -G "$pattern" | sort -V | tail -n 1) || continue
    if [ -r "$kernel" ]; then echo "$kernel"; return 0; fi
  done
  return 1
}

# fetch_vm_kernel DIRECTORY: downloads the distribution's kernel for virtual machines and unpacks the
# kernel alone. as_root is in packaging/packages.sh.
fetch_vm_kernel() (
  set -euo pipefail
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$1"
  directory=$(cd "$1" && pwd)
  kernel_package() {
    apt-cache depends linux-image-cloud-amd64 linux-image-virtual 2>/dev/null |
      sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1
  }
  download() {
    local package
    package=$(kernel_package)
    [ -n "$package" ] || { echo "apt knows no kernel for virtual machines" >&2; return 1; }
    (cd "$work" && apt-get download -qq -o APT::Sandbox::User=root "$package")
  }
  # The package lists may be missing, or name a version that is gone.
  download 2>/dev/null || { as_root apt-get update -qq; download; }
  dpkg-deb --fsys-tarfile "$work"/*.deb | tar -x -C "$work" --wildcards './boot/vmlinuz-*'
  cp "$work"/boot/vmlinuz-* "$directory/"
)
