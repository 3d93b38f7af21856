#include "supervisor/access/config_store.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"

using namespace paddock;
using namespace paddock::supervisor;

namespace {

struct ConfigDirectory {
  ConfigDirectory() {
    std::string pattern = "/tmp/paddock-test-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path = pattern;
    std::filesystem::create_directory(path + "/profiles");
    REQUIRE(::chmod((path + "/profiles").c_str(), 0755) == 0);
    write("profiles/one.toml", "name = \"ONE\"\n");
  }
  ~ConfigDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  void write(const std::string& name, const std::string& text, mode_t mode = 0644) const {
    std::ofstream(path + "/" + name, std::ios::trunc) << text;
    REQUIRE(::chmod((path + "/" + name).c_str(), mode) == 0);
  }
  ConfigStore store_with_agents() const {
    std::filesystem::create_directory(path + "/agents");
    REQUIRE(::chmod((path + "/agents").c_str(), 0755) == 0);
    return {
        CatalogStore({path + "/profiles"}, {path + "/agents"}), "", {path + "/access.toml"}, {}};
  }
  ConfigStore store_with_token() const {
    return {CatalogStore({path + "/profiles"}, {}),
            "",
            {path + "/access.toml"},
            {},
            {},
            path + "/token"};
  }
  ConfigStore store(const std::string& access_file = "") const {
    return {CatalogStore({path + "/profiles"}, {}), access_file, {path + "/access.toml"}, {}};
  }
  std::string path;
};

std::string tenant(const std::string& name, const std::string& profile = "ONE") {
  return "[[tenant]]\nname = \"" + name + "\"\nuids = [12345]\nverbs = [\"run\"]\nprofiles = [\"" +
         profile + "\"]\n";
}

std::vector<std::string> tenants(const ConfigStore& store) {
  std::vector<std::string> names;
  for (const Tenant& each : store.access().tenants) names.push_back(each.name);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(ConfigDirectory,
                 "profiles and access.toml are put in force together or not at all") {
  ConfigStore store = this->store();
  write("access.toml", tenant("a"));
  CHECK(store.reload().empty());
  CHECK(tenants(store) == Names{"a"});
  CHECK_FALSE(store.stale());

  // A mistake in access.toml keeps the profiles, too.
  write("profiles/two.toml", "name = \"TWO\"\n");
  write("access.toml", tenant("b", "THREE"));
  const auto of_access = store.reload();
  REQUIRE(of_access.size() == 1);
  CHECK(of_access[0].file == path + "/access.toml");
  CHECK(of_access[0].line == 5);
  CHECK(of_access[0].message.find("unknown profile 'THREE'") != std::string::npos);
  CHECK(store.stale());
  CHECK(store.catalog().profiles.count("TWO") == 0);
  CHECK(tenants(store) == Names{"a"});

  // And the other way round; a profile that the broken file may hold is no second mistake.
  write("access.toml", tenant("b", "TWO"));
  write("profiles/two.toml", "name = \"TWO\"\nx = 1\n");
  CHECK(store.reload().size() == 1);
  CHECK(store.stale());
  CHECK(tenants(store) == Names{"a"});

  write("profiles/two.toml", "name = \"TWO\"\n");
  CHECK(store.reload().empty());
  CHECK_FALSE(store.stale());
  CHECK(tenants(store) == Names{"b"});
  CHECK(store.catalog().profiles.count("TWO") == 1);
}

TEST_CASE_METHOD(ConfigDirectory,
                 "a file in the default place counts from the reload after it came") {
  ConfigStore store = this->store();
  CHECK(store.reload().empty());
  CHECK(store.access() == AccessRules{});
  write("access.toml", tenant("a"));
  CHECK(store.reload().empty());
  CHECK(tenants(store) == Names{"a"});
  std::filesystem::remove(path + "/access.toml");
  CHECK(store.reload().empty());
  CHECK(store.access() == AccessRules{});
}

TEST_CASE_METHOD(ConfigDirectory,
                 "a file that is named must be there, and wins over the default one") {
  write("access.toml", tenant("default"));
  ConfigStore store = this->store(path + "/mine.toml");
  const auto missing = store.reload();
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].file == path + "/mine.toml");
  CHECK(missing[0].message == "cannot be opened: No such file or directory");
  write("mine.toml", tenant("mine"));
  CHECK(store.reload().empty());
  CHECK(tenants(store) == Names{"mine"});
}

TEST_CASE_METHOD(ConfigDirectory, "a file that others could have written is a mistake") {
  ConfigStore store = this->store();
  for (const mode_t mode : {0666, 0664, 0646}) {
    write("access.toml", tenant("a"), mode);
    const auto diagnostics = store.reload();
    REQUIRE(diagnostics.size() == 1);
    CHECK(diagnostics[0].message.find("may be written by others than its owner") !=
          std::string::npos);
  }
  write("access.toml", tenant("a"));
  REQUIRE(::chmod(path.c_str(), 0777) == 0);
  REQUIRE(store.reload().size() == 1);
  REQUIRE(::chmod(path.c_str(), 0711) == 0);
  CHECK(store.reload().empty());
  std::filesystem::remove(path + "/access.toml");
  std::filesystem::create_directory(path + "/access.toml");
  REQUIRE(store.reload().size() == 1);
  if (::geteuid() != 0) return;  // only root can give a file away
  std::filesystem::remove(path + "/access.toml");
  write("access.toml", tenant("a"));
  REQUIRE(::chown((path + "/access.toml").c_str(), 12345, 12345) == 0);
  const auto foreign = store.reload();
  REQUIRE(foreign.size() == 1);
  CHECK(foreign[0].message == "belongs to uid 12345, neither to root nor to this process's user");
}

TEST_CASE_METHOD(ConfigDirectory, "an agent's tenant that access.toml does not know is a mistake") {
  ConfigStore store = store_with_agents();
  const std::string agent = "name = \"x\"\nprofile = \"ONE\"\ncommand = [\"true\"]\n";
  write("agents/x.toml", agent + "tenant = \"trainr\"\n");
  CHECK(store.reload().empty());
  CHECK(store.agents_of_nobody() == Names{"x"});

  write("access.toml", tenant("trainer"));
  const auto unknown = store.reload();
  REQUIRE(unknown.size() == 1);
  CHECK(kernel::to_string(unknown[0]) ==
        path + "/agents/x.toml:4:10: unknown tenant 'trainr'; did you mean 'trainer'?");
  CHECK(store.stale());
  CHECK(store.agents_of_nobody() == Names{"x"});  // what was in force is so still

  write("agents/x.toml", agent + "tenant = \"trainer\"\n");
  CHECK(store.reload().empty());
  CHECK(store.agents_of_nobody().empty());
  // An agent of nobody's but the operator's needs no tenant.
  write("agents/x.toml", agent);
  CHECK(store.reload().empty());
  // With a mistake in access.toml its tenants are not known.
  write("agents/x.toml", agent + "tenant = \"other\"\n");
  write("access.toml", tenant("trainer", "THREE"));
  CHECK(store.reload().size() == 1);
}

TEST_CASE("runtimes are in force together with the rest, or not at all") {
  const ConfigDirectory directory;
  std::filesystem::create_directory(directory.path + "/runtimes");
  REQUIRE(::chmod((directory.path + "/runtimes").c_str(), 0755) == 0);
  const std::string text =
      "name = \"x\"\nsource = \"m\"\nprofile = \"ONE\"\n[run]\ncommand = [\"x\"]\n";
  directory.write("runtimes/x.toml", text);
  ConfigStore store(CatalogStore({directory.path + "/profiles"}, {}), "",
                    {directory.path + "/access.toml"}, {}, {directory.path + "/runtimes"});
  CHECK(store.reload().empty());
  CHECK(store.runtimes().size() == 1);

  directory.write("runtimes/y.toml", "name = \"y\"\n");
  directory.write("profiles/two.toml", "name = \"TWO\"\n");
  CHECK(store.reload().size() == 2);
  CHECK(store.stale());
  CHECK(store.runtimes().size() == 1);
  CHECK(store.catalog().profiles.size() == 1);

  std::filesystem::remove(directory.path + "/runtimes/y.toml");
  std::filesystem::remove(directory.path + "/profiles/one.toml");
  const auto mistakes = store.reload();
  REQUIRE(mistakes.size() == 1);
  CHECK(to_string(mistakes.front()) ==
        directory.path +
            "/runtimes/x.toml:3:11: unknown profile 'ONE'; known are "
            "'TWO'");
}

TEST_CASE_METHOD(ConfigDirectory, "a token is put in force with the rest, or the old one stays") {
  ConfigStore store = store_with_token();
  write("token", "the-first-of-all-tokens\n", 0600);
  CHECK(store.reload().empty());
  CHECK(store.token() == "the-first-of-all-tokens");

  // A mistake in the token keeps the profiles, too.
  write("profiles/two.toml", "name = \"TWO\"\n");
  write("token", "short\n", 0600);
  const auto of_token = store.reload();
  REQUIRE(of_token.size() == 1);
  CHECK(of_token[0].file == path + "/token");
  CHECK(of_token[0].message.find("holds 5 bytes") != std::string::npos);
  CHECK(store.stale());
  CHECK(store.token() == "the-first-of-all-tokens");
  CHECK(store.catalog().profiles.count("TWO") == 0);

  // And the other way round.
  write("token", "the-second-of-all-tokens\n", 0600);
  write("profiles/two.toml", "name = \"TWO\"\nx = 1\n");
  CHECK(store.reload().size() == 1);
  CHECK(store.token() == "the-first-of-all-tokens");

  write("profiles/two.toml", "name = \"TWO\"\n");
  CHECK(store.reload().empty());
  CHECK(store.token() == "the-second-of-all-tokens");
  CHECK(this->store().token().empty());
}
