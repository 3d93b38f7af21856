#include "supervisor/config/catalog_store.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"

using namespace paddock::supervisor;

namespace {

class ProfileDirectory {
 public:
  ProfileDirectory() {
    std::string pattern = "/tmp/paddock-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~ProfileDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void write(const std::string& text) const {
    const std::string file = path_ + "/p.toml";
    std::ofstream(file, std::ios::trunc) << text;
    REQUIRE(::chmod(file.c_str(), 0644) == 0);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

TEST_CASE("a reload puts the whole new set in force, or keeps the old one and is stale") {
  const ProfileDirectory directory;
  CatalogStore store({directory.path()}, {});
  CHECK(store.stale());  // nothing was read yet

  directory.write("name = \"ONE\"\n");
  CHECK(store.reload().empty());
  CHECK_FALSE(store.stale());
  CHECK(store.catalog().profiles.count("ONE") == 1);
  const paddock::kernel::Catalog before = store.catalog();

  directory.write("name = \"TWO\"\nx = 1\ny = 2\n");
  const auto diagnostics = store.reload();
  REQUIRE(diagnostics.size() == 2);
  CHECK(diagnostics[0].file == directory.path() + "/p.toml");
  CHECK(diagnostics[0].line == 2);
  CHECK(store.stale());
  CHECK(store.catalog() == before);

  directory.write("name = \"TWO\"\n");
  CHECK(store.reload().empty());
  CHECK_FALSE(store.stale());
  CHECK(store.catalog().profiles.count("ONE") == 0);
  CHECK(store.catalog().profiles.count("TWO") == 1);
}
