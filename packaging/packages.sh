# What paddock needs from Debian or Ubuntu, in one place: sourced by quickstart.sh and test.sh.

build_packages=(
  g++ cmake ninja-build pkg-config
  libuv1-dev libexpected-dev libtomlplusplus-dev libspdlog-dev libfmt-dev nlohmann-json3-dev
  libcli11-dev libboost-dev libseccomp-dev libsodium-dev nettle-dev libsystemd-dev
  libsqlitecpp-dev libsqlite3-dev prometheus-cpp-dev musl-dev musl-tools
)
run_packages=(bubblewrap python3 ca-certificates)
test_packages=(catch2 git make gcc zlib1g-dev nodejs default-jdk-headless golang-go)
# The benchmark of training, and its figures: 200 MB to download.
benchmark_packages=(python3-torch python3-matplotlib)
fuzz_packages=(clang libclang-rt-dev)  # the second has libFuzzer
# tests/vm. Any busybox will do: busybox-static would push out one that is already there.
vm_packages=(qemu-system-x86 binutils)
command -v busybox >/dev/null || vm_packages+=(busybox-static)

# CPython's own tests, which are real work for a sandbox. The package has the version in its name.
python_test_package() {
  echo "lib$(basename "$(readlink -f /usr/bin/python3)")-testsuite"
}

# Building everything takes half the time where a compiler gets several files at once. Who works
# on one file builds without (CONTRIBUTING.md).
whole_build=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16)

# As root as it is; otherwise through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs what is missing of the named packages. Asks nothing.
install_packages() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "installing: ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null
}
