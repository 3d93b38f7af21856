#include "kernel/run/output_capture.hpp"

#include <string>

#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("output up to the limit is kept whole") {
  OutputCapture capture(10);
  capture.append("01234");
  capture.append("56789");
  CHECK_FALSE(capture.truncated());
  CHECK(capture.total_bytes() == 10);
  CHECK(capture.take() == "0123456789");
}

TEST_CASE("output beyond the limit is counted, dropped and flagged") {
  OutputCapture capture(4);
  capture.append("012345");  // the piece across the limit is cut
  capture.append("6789");
  CHECK(capture.truncated());
  CHECK(capture.total_bytes() == 10);
  CHECK(capture.take() == "0123");
}

TEST_CASE("any bytes are kept as they are") {
  OutputCapture capture(100);
  const std::string bytes("\0\xff\n", 3);
  capture.append(bytes);
  capture.append("");
  CHECK(capture.total_bytes() == 3);
  CHECK(capture.take() == bytes);
}
