#include "kernel/policy/paths.hpp"

#include "kernel/policy/names.hpp"
#include "support/catch.hpp"

using namespace paddock::kernel;

TEST_CASE("a path is well-formed only if it is absolute and normalised") {
  CHECK(path_form_mistake("/").empty());
  CHECK(path_form_mistake("/usr").empty());
  CHECK(path_form_mistake("/srv/..data/a b").empty());
  CHECK(path_form_mistake("") == "is empty");
  CHECK(path_form_mistake("usr") == "is not absolute");
  CHECK(path_form_mistake("/srv/../etc") == "contains '..'");
  CHECK(path_form_mistake("/srv/..") == "contains '..'");
  CHECK(path_form_mistake("/./srv") == "contains '.'");
  CHECK(path_form_mistake("/srv\n/etc") == "contains a control character");
  CHECK_FALSE(path_form_mistake("//srv").empty());
  CHECK_FALSE(path_form_mistake("/srv//a").empty());
  CHECK_FALSE(path_form_mistake("/srv/").empty());
  CHECK_FALSE(path_form_mistake("/" + std::string(4095, 'a')).empty());
}

TEST_CASE("a path is below another by components, not by letters") {
  CHECK(is_at_or_below("/srv/a", "/srv/a"));
  CHECK(is_at_or_below("/srv/a/b", "/srv/a"));
  CHECK_FALSE(is_at_or_below("/srv/ab", "/srv/a"));
  CHECK_FALSE(is_at_or_below("/srv", "/srv/a"));
  CHECK(is_at_or_below("/srv", "/"));
}

TEST_CASE("a name has only letters, digits, '_' and '-'") {
  CHECK(is_name("STRICT-2_b"));
  CHECK(is_name(std::string(64, 'a')));
  const auto text = GENERATE(as<std::string>{}, "", "a b", "a/b", "..", "ä", "a\n", "a.b",
                             std::string(65, 'a'), std::string("a\0", 2));
  CHECK_FALSE(is_name(text));
}

TEST_CASE("a mistyped name finds the one that was meant, and a foreign one finds none") {
  const std::vector<std::string> known{"memory_bytes", "fsize_bytes", "nproc", "nofile"};
  CHECK(nearest_name("memroy_bytes", known) == "memory_bytes");
  CHECK(nearest_name("memory", known).empty());
  CHECK(nearest_name("NPROC", known) == "nproc");
  CHECK(nearest_name("nprocs", known) == "nproc");
  CHECK(nearest_name("no_file", known) == "nofile");
  CHECK(nearest_name("colour", known).empty());
  CHECK(nearest_name("", known).empty());
  CHECK(nearest_name(std::string(100'000, 'n'), known).empty());
}
