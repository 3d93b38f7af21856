#pragma once
// Golden files: what a pure function must give, whole, in tests/golden. PADDOCK_UPDATE_GOLDEN=1
// writes them anew; read the difference before you commit it.

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "support/catch.hpp"

// The suite defines PADDOCK_GOLDEN, the directory.
inline void check_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(PADDOCK_GOLDEN) + "/" + name;
  if (std::getenv("PADDOCK_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  INFO("golden file " << path);
  REQUIRE(file.is_open());
  std::ostringstream golden;
  golden << file.rdbuf();
  CHECK(text == golden.str());
}
