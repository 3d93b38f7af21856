#pragma once
// Samples of one thing measured many times, and how two of them compare.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

namespace bench {

class Samples {
 public:
  template <class Work>
  void time(Work work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    add(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  void add(double milliseconds) { values_.push_back(milliseconds); }

  double percentile(double share) const {
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const auto last = static_cast<double>(sorted.size() - 1);
    return sorted[static_cast<std::size_t>(share * last)];
  }
  std::size_t size() const { return values_.size(); }

 private:
  std::vector<double> values_;
};

inline void print(const char* name, const Samples& samples) {
  std::printf("%-24s n=%-5zu p10 %8.3f ms  p50 %8.3f ms  p99 %8.3f ms\n", name, samples.size(),
              samples.percentile(0.1), samples.percentile(0.5), samples.percentile(0.99));
}

inline void print_pair(const char* first, const Samples& baseline, const char* second,
                       const Samples& measured) {
  print(first, baseline);
  print(second, measured);
  std::printf("ratio of the medians: %.2f\n", measured.percentile(0.5) / baseline.percentile(0.5));
}

}  // namespace bench
