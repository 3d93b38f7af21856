// burn_cpu [SECONDS]: uses CPU time, for ever or for that long.

#include <cstdlib>
#include <ctime>

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1e9;
  while (static_cast<double>(std::clock()) < seconds * static_cast<double>(CLOCKS_PER_SEC)) {
  }
}
