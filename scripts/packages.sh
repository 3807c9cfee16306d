# shellcheck shell=bash
# What must be installed, by purpose and package manager. Sourced by
# quickstart.sh and test.sh.

build_apt=(gcc make cmake pkg-config libc6-dev libconfig-dev libjansson-dev
  libnuma-dev libmd-dev libmxml-dev)
build_dnf=(gcc make cmake pkgconf-pkg-config glibc-devel libconfig-devel
  jansson-devel numactl-devel libmd-devel mxml-devel)
test_apt=(g++ git binutils file libcmocka-dev clang-format clang-tidy python3
  python3-jsonschema libxml2-utils mandoc)
test_dnf=(gcc-c++ git binutils file libcmocka-devel clang-tools-extra python3
  python3-jsonschema libxml2 mandoc)
# For the plugin of MPI ranks and its tests.
mpi_apt=(libopenmpi-dev openmpi-bin)
mpi_dnf=(openmpi-devel openmpi)
full_apt=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross debootstrap prometheus
  chromium-headless-shell tidy shellcheck yamllint ansible-core abigail-tools
  valgrind)

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

can_be_root() {
  [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }
}

apt_missing() {
  local p
  for p in "$@"; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' ||
      printf '%s ' "$p"
  done
}

dnf_missing() {
  local p
  for p in "$@"; do
    rpm -q --quiet --whatprovides "$p" 2>/dev/null || printf '%s ' "$p"
  done
}

# install_packages apt-list dnf-list (names of arrays)
install_packages() {
  local -n apt_list=$1 dnf_list=$2
  local missing
  if command -v apt-get >/dev/null; then
    missing=$(apt_missing "${apt_list[@]}")
    [ -n "$missing" ] || return 0
    say "installing: $missing"
    if ! can_be_root; then
      say "cannot install without root; run: sudo apt-get install -y $missing"
      return 1
    fi
    as_root apt-get update -q >/dev/null
    # shellcheck disable=SC2086
    as_root env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -q --no-install-recommends $missing >/dev/null
  elif command -v dnf >/dev/null; then # untried
    missing=$(dnf_missing "${dnf_list[@]}")
    [ -n "$missing" ] || return 0
    say "installing: $missing"
    if ! can_be_root; then
      say "cannot install without root; run: sudo dnf install -y $missing"
      return 1
    fi
    # shellcheck disable=SC2086
    as_root dnf install -y $missing
  else
    say "neither apt-get nor dnf is here; install these by hand: ${apt_list[*]}"
    return 1
  fi
}
