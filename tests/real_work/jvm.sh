#!/usr/bin/env bash
# Goal: a JVM compiles and runs a program with threads under the profile made for it.
. "$(dirname "$0")/common.sh"

mkdir "$work/source"
cat >"$work/source/Primes.java" <<'JAVA'
import java.util.stream.IntStream;

public class Primes {
  static boolean isPrime(int n) {
    return n > 1 && IntStream.rangeClosed(2, (int) Math.sqrt(n)).noneMatch(d -> n % d == 0);
  }

  public static void main(String[] arguments) throws Exception {
    System.out.println("primes " + IntStream.range(0, 100000).parallel().filter(Primes::isPrime).count());
    Process child = new ProcessBuilder("true").start();
    System.out.println("child " + child.waitFor());
  }
}
JAVA
chmod -R a+rX "$work"
"$paddock" run --embedded --exit-status --profile JVM --bind-ro "$work/source" -- sh -ec "
  javac -d . $work/source/Primes.java
  java Primes
" >"$work/log"
expect "primes 9592" <"$work/log"
expect "child 0" <"$work/log"
