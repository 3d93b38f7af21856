#!/usr/bin/env bash
# build_image.sh OUTPUT_DIR PROGRAMS_DIR: the virtual machine's file system, as initramfs archives:
# OUTPUT_DIR/base.cpio has what runs need of this machine's /usr, OUTPUT_DIR/programs.cpio has the
# programs and profiles of the build tree PROGRAMS_DIR as /paddock. Needs no root and mounts
# nothing. An archive whose inputs have not changed stays as it is.
set -euo pipefail

output=$(mkdir -p "$1" && cd "$1" && pwd)
programs=$(cd "$2" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
stage=$(mktemp -d "$output/stage-XXXXXX")
trap 'rm -rf "$stage"' EXIT

python=$(basename "$(readlink -f /usr/bin/python3)")
# With sanitizers a program is up to 100 MB, and the machine keeps all of them in its memory: what its
# tests start, and what VM_PROGRAMS names besides ("neighbour_bench").
read -ra named <<<"${VM_PROGRAMS:-}"
programs_inside=(sandbox_tests paddockd paddock-launch paddock-warm.so paddock-probe paddock-step
  paddock-escapes paddock-attempt "${named[@]}")
packages=(bash dash coreutils util-linux grep sed findutils procps libc-bin bubblewrap
  python3-minimal "$python-minimal")

# up_to_date NAME KEY: the archive NAME was made from inputs that KEY stands for.
up_to_date() { [ -e "$output/$1.cpio" ] && [ "$(cat "$output/$1.key" 2>/dev/null)" = "$2" ]; }

# pack NAME KEY: the stage becomes the archive NAME, owned by root whoever builds it.
pack() {
  chmod -R u+rwX,go+rX,u-s,g-s "$stage"
  (cd "$stage" && find . | busybox cpio -o -H newc -R 0:0 2>/dev/null) >"$output/$1.cpio.new"
  mv "$output/$1.cpio.new" "$output/$1.cpio"
  echo "$2" >"$output/$1.key"
  rm -rf "$stage" && mkdir "$stage"
}

# The libraries of the staged programs, and theirs, and the loader. ldd fails for what has none.
add_libraries() {
  local library to
  { find "$stage" -type f \( -perm -100 -o -name '*.so*' \) -exec ldd {} + 2>/dev/null || true; } |
    sed -n 's/.*=> \(\/[^ ]*\) (0x.*/\1/p; s/^[[:space:]]*\(\/lib64\/[^ ]*\) (0x.*/\1/p' | sort -u |
    while read -r library; do
      to=$stage$(realpath "$(dirname "$library")")/$(basename "$library")
      [ -e "$to" ] || install -D -m 755 "$library" "$to"
    done
}

add_accounts() {
  mkdir -p "$stage/etc"
  printf '%s\n' root:x:0:0:root:/root:/bin/bash daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin \
    nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin \
    paddock-test:x:1000:1000::/home/paddock-test:/bin/sh >"$stage/etc/passwd"
  printf '%s\n' root:x:0: daemon:x:1: tty:x:5: nogroup:x:65534: paddock-test:x:1000: \
    >"$stage/etc/group"
  printf '%s\n' 'root:*:19000:0:99999:7:::' 'paddock-test:*:19000:0:99999:7:::' >"$stage/etc/shadow"
  printf '127.0.0.1 localhost\n' >"$stage/etc/hosts"
  printf 'passwd: files\ngroup: files\nhosts: files\n' >"$stage/etc/nsswitch.conf"
  cp -a /etc/ld.so.cache /etc/ld.so.conf /etc/ld.so.conf.d /etc/os-release "$stage/etc/"
}

build_base() {
  local directory file
  for directory in bin sbin lib lib64; do
    mkdir -p "$stage/usr/$directory"
    ln -s "usr/$directory" "$stage/$directory"
  done
  mkdir -p "$stage"/{dev,proc,sys,run,tmp,root,home/paddock-test,var/tmp,var/lib,mnt}
  # Packages name some files by the links /bin and /lib, others by /usr.
  dpkg -L "${packages[@]}" | sed 's,^/\(bin\|sbin\|lib\|lib64\)/,/usr/\1/,' |
    grep -E '^/usr/(s?bin|lib/locale)/' | sort -u | while read -r file; do
      [ -e "$file" ] && [ ! -d "$file" ] || continue
      mkdir -p "$stage$(dirname "$file")"
      cp -a "$file" "$stage$file"
    done
  cp -aL "$(command -v busybox)" "$stage/usr/bin/busybox"
  if [ -x /usr/bin/git ]; then cp -a /usr/bin/git "$stage/usr/bin/"; fi
  ln -sf dash "$stage/usr/bin/sh"
  ln -sf "$python" "$stage/usr/bin/python3"
  mkdir -p "$stage/usr/lib/$python"
  tar -C "/usr/lib/$python" -c --exclude=./test --exclude=./idlelib --exclude=./lib2to3 \
    --exclude=./pydoc_data --exclude='./config-*' --exclude=./ensurepip . |
    tar -C "$stage/usr/lib/$python" -x --no-same-owner
  if [ -e /usr/share/zoneinfo/Europe/Berlin ]; then
    install -D -m 644 /usr/share/zoneinfo/Europe/Berlin "$stage/usr/share/zoneinfo/Europe/Berlin"
  fi
  add_accounts
  add_libraries
  install -m 755 "$here/init.sh" "$stage/init"
}

# What tests/breakage has made of them, with the same links to what is beside it.
build_breakable() {
  local program
  cp -a "$programs/breakable" "$stage/paddock/"
  rm -f "$stage"/paddock/breakable/bin/{paddock,paddockd}
  for program in "$stage"/paddock/breakable/bin/*; do
    [ -L "$program" ] || strip --strip-debug "$program"
  done
}

build_programs() {
  mkdir -p "$stage/paddock/bin"
  local program
  for program in "${programs_inside[@]}"; do
    [ -x "$programs/bin/$program" ] || continue
    strip --strip-debug -o "$stage/paddock/bin/$program" "$programs/bin/$program"
  done
  cp -a "$programs/bin/test-programs" "$stage/paddock/bin/"
  install -m 755 "$here/sealed_verdicts.py" "$stage/paddock/bin/"
  [ ! -d "$programs/breakable" ] || build_breakable
  mkdir -p "$stage/paddock/share" && cp -a "$programs/share/paddock" "$stage/paddock/share/"
  add_libraries
}

key=$(cat "$here"/{build_image,init}.sh && dpkg-query -W "${packages[@]}" libc6 "lib$python-stdlib")
key=$(sha256sum <<<"$key")
if ! up_to_date base "$key"; then
  build_base
  pack base "$key"
fi

key=$(cat "$here"/{build_image.sh,sealed_verdicts.py} && echo "${programs_inside[@]}" &&
  { find "$programs"/{bin,share,breakable} -type f -printf '%p %s %T@\n' 2>/dev/null || true; } | sort)
key=$(sha256sum <<<"$key")
if ! up_to_date programs "$key"; then
  build_programs
  pack programs "$key"
fi
