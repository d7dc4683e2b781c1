#!/usr/bin/env bash
# Watches the sample clip and shows what was said and shown, with times. Expects
# bin/cutroom and a pinned toolchain (`make demo` sees to both).
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec bin/cutroom watch testdata/media/demo.mp4 --mode timeline
