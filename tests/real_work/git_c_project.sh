#!/usr/bin/env bash
# Goal: clone a repository, build a C project and run its tests under STRICT.
# Method: the project is zlib's own test programs, as Debian ships them; the repository is bound
# read-only and everything else happens in the private workspace.
. "$(dirname "$0")/common.sh"

examples=/usr/share/doc/zlib1g-dev/examples
repository=$work/zlib-tests
git init -q "$repository"
cp "$examples"/{example.c,minigzip.c,zpipe.c,gzjoin.c} "$repository/"
sed -i 's/#include "zlib.h"/#include <zlib.h>/' "$repository"/*.c
cat >"$repository/Makefile" <<'MAKE'
PROGRAMS = example minigzip zpipe gzjoin
all: $(PROGRAMS)
%: %.c
	$(CC) -O2 -o $@ $< -lz
check: all
	./example
	./zpipe <Makefile | ./zpipe -d | cmp - Makefile
	./minigzip <Makefile | gzip -dc | cmp - Makefile
	@echo all checks passed
MAKE
git -C "$repository" add -A
git -C "$repository" -c user.name=t -c user.email=t@example.org commit -qm "zlib's tests"
chmod -R a+rX "$work"

strict --bind-ro "$repository" -- sh -ec "
  git clone -q $repository project
  cd project
  make -j2
  make check
  git log --oneline
" | tee "$work/log" | expect "all checks passed"
expect "inflate(): hello, hello!" <"$work/log"
