#include "supervisor/warm/zygote_name.hpp"

#include "support/catch.hpp"

using namespace paddock::supervisor;

TEST_CASE("a zygote's name tells whose it is, and is no run's") {
  const std::string tag = zygote_tag("/var/lib/paddock/ledger.db");
  const std::string name = make_zygote_name(tag);
  CHECK(is_zygote_name(name));
  CHECK(is_zygote_of(name, tag));
  CHECK_FALSE(is_zygote_of(name, zygote_tag("/var/lib/other/ledger.db")));
  CHECK(make_zygote_name(tag) != name);
}

TEST_CASE("what only resembles a zygote's name is none") {
  const std::string name = make_zygote_name(zygote_tag("x"));
  for (const std::string& text :
       {std::string(), std::string("z-"), std::string("r-0123456789abcdef"), name + "0",
        name.substr(0, name.size() - 1), "z-0123456x" + name.substr(10), "y" + name.substr(1),
        std::string("z-01234567_0123456789abcdef")}) {
    INFO(text);
    CHECK_FALSE(is_zygote_name(text));
  }
}
