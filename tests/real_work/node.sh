#!/usr/bin/env bash
# Goal: Node with workers, child processes and WebAssembly works under the profile made for it.
. "$(dirname "$0")/common.sh"

cat >"$work/program.js" <<'JS'
const { Worker, isMainThread, parentPort } = require("worker_threads");
const { execFileSync } = require("child_process");
const fs = require("fs");
const zlib = require("zlib");

// The smallest module that exports a function: (a, b) => a + b.
const wasm = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1, 127, 3, 2, 1,
  0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);

if (isMainThread) {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm));
  console.log("wasm", exports.add(40, 2));
  fs.writeFileSync("data.gz", zlib.gzipSync(Buffer.alloc(1 << 20, "x")));
  console.log("zlib", zlib.gunzipSync(fs.readFileSync("data.gz")).length);
  console.log("child", execFileSync("uname", ["-n"]).toString().trim());
  const worker = new Worker(__filename);
  worker.on("message", (text) => console.log("worker", text));
} else {
  parentPort.postMessage("hello");
}
JS
chmod a+r "$work/program.js"
"$paddock" run --embedded --exit-status --profile NODE --bind-ro "$work" -- \
  node "$work/program.js" >"$work/log"
for line in "wasm 42" "zlib 1048576" "child sandbox" "worker hello"; do
  expect "$line" <"$work/log"
done
