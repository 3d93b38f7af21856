#include "supervisor/verify/output_tail.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("the last bytes of a stream are kept, however they came") {
  OutputTail tail;
  CHECK(tail.text().empty());
  std::string all;
  for (int i = 0; i < 5000; ++i) {
    const std::string piece = std::to_string(i) + "\n";
    tail.append(piece);
    all += piece;
  }
  CHECK(tail.text() == all.substr(all.size() - output_tail_bytes_max));
  const std::string large(100'000, 'x');
  tail.append(large);
  CHECK(tail.text() == std::string(output_tail_bytes_max, 'x'));
}

TEST_CASE("a tail begins with a whole character") {
  OutputTail tail;
  std::string text = "a";
  while (text.size() < output_tail_bytes_max + 1) text += "\u20ac";
  tail.append(text);
  tail.append("b");
  CHECK(tail.text().starts_with("\u20ac"));
  CHECK(tail.text().size() <= output_tail_bytes_max);
}
