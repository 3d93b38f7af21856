#!/usr/bin/env bash
# A Go program under GO: goroutines, garbage collection, a TCP server on the run's own loopback, a
# child process, timers. The Go runtime calls the kernel by itself, without a C library.
. "$(dirname "$0")/common.sh"

command -v go >/dev/null || { echo "UNSUPPORTED: go is not installed (package golang-go)"; exit 77; }

mkdir "$work/program"
cat >"$work/program/main.go" <<'GO'
package main

import (
	"fmt"
	"io"
	"net"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func serveAndAsk() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go func() {
		connection, err := listener.Accept()
		check(err)
		io.WriteString(connection, "over loopback")
		connection.Close()
	}()
	connection, err := net.Dial("tcp", listener.Addr().String())
	check(err)
	answer, err := io.ReadAll(connection)
	check(err)
	return string(answer)
}

func sumInGoroutines() int {
	var group sync.WaitGroup
	parts := make([]int, 100)
	for i := range parts {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for _, b := range make([]byte, 100_000) {
				parts[i] += int(b) + 1
			}
		}(i)
	}
	group.Wait()
	runtime.GC()
	sum := 0
	for _, part := range parts {
		sum += part
	}
	return sum
}

func main() {
	fmt.Println(serveAndAsk())
	fmt.Println(sumInGoroutines())
	output, err := exec.Command("/usr/bin/env", "echo", "from a child").Output()
	check(err)
	fmt.Print(string(output))
	time.Sleep(10 * time.Millisecond)
}
GO
(cd "$work/program" && GOFLAGS=-mod=mod GO111MODULE=off GOCACHE="$work/cache" GOPATH="$work/path" \
  go build -o "$work/program/work" main.go)
chmod -R a+rX "$work/program"

output=$("$paddock" run --embedded --exit-status --profile GO --bind-ro "$work/program" -- "$work/program/work")
expect "over loopback" <<<"$output"
expect "10000000" <<<"$output"
expect "from a child" <<<"$output"
