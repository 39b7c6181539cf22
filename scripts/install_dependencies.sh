#!/usr/bin/env bash
# Installs the Debian packages that Weir needs; `--help` says how to call it.
# shellcheck disable=SC2034 # the lists of packages are read by name
set -euo pipefail

# The packages, by group. An entry is `name`, or `name>=version` where an older one will not do.
# Those in a *_backports list are not in Debian 12 itself (or too old there) and come from its
# backports suite, which is enabled only when one of them is missing.
build_packages=(
  ccache
  chromium # tests look at the console in it
  clang-19
  cmake
  g++ # the package test compiles a consumer with the system's compiler
  git
  libclang-rt-19-dev
  libcli11-dev
  libcurl4-openssl-dev
  libgrpc++-dev # opentelemetry-cpp-dev needs this and protobuf-compiler-grpc, but does not say so
  libgtest-dev
  libpq-dev
  libprotobuf-dev
  librocksdb-dev
  libssl-dev
  lld-19
  llvm-19 # names in sanitizer reports
  ninja-build
  postgresql # tests start servers of their own
  protobuf-compiler-grpc
  python3
  zlib1g-dev
  zsh # tests complete command lines in it
)
build_packages_backports=(
  libboost1.83-dev
  libopentelemetry-proto-dev
  opentelemetry-cpp-dev
)
check_packages=(
  clang-format-19
  clang-tidy-19
)
check_packages_backports=()
docs_packages=(
  doxygen
)
docs_packages_backports=()
bench_packages=(
  erlang-base
  libcaf-dev
  valgrind
  wrk
)
bench_packages_backports=(
  'golang-go>=2:1.23~'
  'golang-src>=2:1.23~' # apt would take an older one from Debian 12, which golang-go refuses
)

codename=bookworm
backports="$codename-backports"

usage() {
  cat <<HELP
Usage: scripts/install_dependencies.sh [--list] [GROUP...]
       scripts/install_dependencies.sh --print-backports-source

Installs what is missing from the groups; without missing packages it does nothing,
and needs neither a network nor root.

Groups:
  build   compiler, build tools, libraries and what tests run (the default)
  check   clang-format and clang-tidy
  docs    what makes the reference of the headers
  bench   the runtimes that benchmarks compare with, valgrind and wrk

Options:
  --list                      print the missing packages, install nothing
  --print-backports-source    print the apt source for $backports that would be written,
                              derived from the source that apt uses for $codename
HELP
}

say() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf 'install_dependencies: %s\n' "$*" >&2
  exit 1
}


installed_version() {
  # shellcheck disable=SC2016 # dpkg-query expands these
  dpkg-query --show --showformat='${db:Status-Status} ${Version}\n' "$1" 2>/dev/null |
    awk '$1 == "installed" { print $2; exit }'
}

is_installed() {
  local name=${1%%>=*} version
  version=$(installed_version "$name")
  [[ -n $version ]] || return 1
  [[ $1 != *'>='* ]] || dpkg --compare-versions "$version" ge "${1#*>=}"
}

# Prints the names of those arguments that are not installed.
missing() {
  local package
  for package in "$@"; do
    is_installed "$package" || printf '%s\n' "${package%%>=*}"
  done
}


# One line per package index that apt is configured to read: entry, release, codename, component,
# origin, address. Indexes already downloaded come first; only of those codename and origin are
# known.
apt_indexes() {
  local known
  for known in --release-info --no-release-info; do
    # shellcheck disable=SC2016 # apt-get expands these
    apt-get indextargets "$known" --format \
      '$(SOURCESENTRY) $(RELEASE) $(CODENAME) $(COMPONENT) $(ORIGIN) $(REPO_URI)' \
      'Created-By: Packages'
  done
}

backports_enabled() {
  apt_indexes | awk -v suite="$backports" '$2 == suite || $3 == suite { found = 1 }
                                           END { exit !found }'
}

# Prints `file:number` of the source from which apt reads Debian itself. Others use the same suite
# and component names, so an index whose origin is Debian, or whose address says so, comes first.
debian_source() {
  apt_indexes | awk -v suite="$codename" '
    ($2 == suite || $3 == suite) && $4 == "main" {
      rank = $5 == "Debian" ? 3 : $NF ~ /\/debian\/?$/ ? 2 : 1
      if (rank > best) { best = rank; entry = $1 }
    }
    END { print entry }'
}

# Prints the source entry $1 (`file:number`) with its suite replaced by backports. Everything else,
# such as addresses, keys and options, is kept.
backports_source_from() {
  local file=${1%:*} number=${1##*:}
  if [[ $file == *.sources ]]; then
    # deb822: the number counts stanzas.
    grep -v '^#' "$file" | awk -v RS= -v number="$number" 'NR == number' |
      sed -E -e "s/^Suites:.*/Suites: $backports/I" -e 's/^Components:.*/Components: main/I' \
        -e 's/^Types:.*/Types: deb/I'
  else
    # One line per source: the number counts lines.
    sed -n "${number}p" "$file" |
      sed -E "s/^\s*deb\s+((\[[^]]*\]\s+)?\S+)\s.*/deb \1 $backports main/"
  fi
}

backports_source() {
  local entry
  entry=$(debian_source)
  [[ -n $entry ]] || fail "apt has no source for Debian $codename: add one to /etc/apt/sources.list"
  backports_source_from "$entry"
}

enable_backports() {
  local entry suffix=list file
  backports_enabled && return
  entry=$(debian_source)
  [[ ${entry%:*} != *.sources ]] || suffix=sources
  file=/etc/apt/sources.list.d/weir-backports.$suffix
  say "enabling $backports in $file"
  backports_source | "${as_root[@]}" tee "$file" >/dev/null
  update_index
}


as_root=()
apt_get() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get --quiet --option Dpkg::Use-Pty=0 \
    --option DPkg::Lock::Timeout=300 --option Acquire::Retries=3 "$@" </dev/null
}

update_index() {
  # A broken source that has nothing to do with Weir must not stop us: if it matters, the
  # installation fails and names the package.
  apt_get update >/dev/null || say "apt-get update reported errors; continuing"
}

require_apt() {
  local release
  # shellcheck source=/dev/null
  release=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-unknown}")
  if [[ $release != "$codename" ]]; then
    fail "missing: $*. They are installed only on Debian 12 ($codename), this is '$release':" \
      "install them by hand"
  fi
  if ((EUID != 0)); then
    command -v sudo >/dev/null || fail "missing: $*. Run as root, or install sudo"
    as_root=(sudo)
  fi
}

# Debian makes a cluster and starts it when the package is installed; nothing here uses it. Who has
# PostgreSQL already has decided that, so nothing is changed then.
without_main_cluster() {
  local settings=/etc/postgresql-common/createcluster.conf
  apt_get install --yes --no-install-recommends postgresql-common || return
  grep --quiet '^create_main_cluster' "$settings" ||
    printf 'create_main_cluster = false\n' | "${as_root[@]}" tee --append "$settings" >/dev/null
}

install_missing() {
  local -a stable from_backports
  mapfile -t stable < <(missing "${wanted[@]}")
  mapfile -t from_backports < <(missing "${wanted_backports[@]}")
  local -a all=("${stable[@]}" "${from_backports[@]}")
  ((${#all[@]} > 0)) || return 0
  if [[ $list_only == yes ]]; then
    printf '%s\n' "${all[@]}"
    return
  fi
  require_apt "${all[@]}"
  say "installing ${all[*]} (the first time takes some minutes)"
  update_index
  ((${#from_backports[@]} == 0)) || enable_backports
  local log
  log=$(mktemp)
  # The log is long, and of interest only when something went wrong.
  if ! {
    [[ " ${stable[*]} " != *' postgresql '* ]] || without_main_cluster &&
      apt_get install --yes --no-install-recommends \
        "${stable[@]}" "${from_backports[@]/%//$backports}"
  } >"$log" 2>&1; then
    cat "$log" >&2
    rm "$log"
    fail "apt-get could not install: ${all[*]} (its messages are above)"
  fi
  rm "$log"
}

list_only=no
wanted=()
wanted_backports=()
add_group() {
  local -n packages="$1_packages" packages_backports="$1_packages_backports"
  wanted+=("${packages[@]}")
  wanted_backports+=("${packages_backports[@]}")
}

groups=()
for argument in "$@"; do
  case $argument in
    -h | --help) usage && exit ;;
    --list) list_only=yes ;;
    --print-backports-source) backports_source && exit ;;
    build | check | docs | bench) groups+=("$argument") ;;
    *) usage >&2 && fail "unknown argument '$argument'" ;;
  esac
done
((${#groups[@]} > 0)) || groups=(build)

command -v dpkg-query >/dev/null || fail "this is not a Debian system: see docs/decisions/0001"
for group in "${groups[@]}"; do add_group "$group"; done
install_missing
