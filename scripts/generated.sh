#!/usr/bin/env bash
# Fails when a generated file is not current: generates, and compares the tree before
# and after. The renewed files are left in place, ready to be committed.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."

tree() {
	git ls-files -z --cached --others --exclude-standard |
		while IFS= read -r -d '' f; do [[ -f $f ]] && sha256sum -- "$f"; done
}

before=$(tree)
go generate ./...
after=$(tree)
if [[ $before != "$after" ]]; then
	echo "generated files were not current; these changed (commit them):" >&2
	diff <(printf '%s\n' "$before") <(printf '%s\n' "$after") | sed -n 's/^[<>] [0-9a-f]*  /  /p' | sort -u >&2
	exit 1
fi
