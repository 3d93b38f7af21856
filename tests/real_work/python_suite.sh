#!/usr/bin/env bash
# Goal: a Python test suite passes under STRICT, processes and temporary files included.
# Method: CPython's own tests, as Debian ships them.
. "$(dirname "$0")/common.sh"

strict -- python3 -m test -q test_json test_tempfile test_sqlite3 test_threading test_heapq \
  test_shelve test_zipfile test_glob >"$work/log" 2>&1 || { cat "$work/log"; fail "exit $?"; }
expect "Result: SUCCESS" <"$work/log"
