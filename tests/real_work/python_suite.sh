#!/usr/bin/env bash
# Goal: a Python test suite passes under STRICT, processes and temporary files included.
# Method: CPython's own tests, as Debian ships them.
. "$(dirname "$0")/common.sh"

strict -- python3 -m test -q test_json test_tempfile test_heapq test_shelve test_glob test_shutil \
  test_pathlib test_csv >"$work/log" 2>&1 || { cat "$work/log"; fail "the suite did not pass"; }
expect "result: SUCCESS" <"$work/log"
