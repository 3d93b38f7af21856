#include "supervisor/verify/key_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "kernel/base/fd.hpp"
#include "support/catch.hpp"
#include "support/host_support.hpp"

using namespace paddock;
using namespace paddock::supervisor;
using kernel::ErrorCode;
using IfPresent = KeyStore::IfPresent;

namespace {

class Store {
 public:
  Store() {
    std::string pattern = "/var/tmp/paddock-keys-XXXXXX";
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    directory = pattern;
    store.emplace(directory);
  }
  ~Store() {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  KeyStore& operator*() { return *store; }
  KeyStore* operator->() { return &*store; }

  MacKey make(const std::string& tenant, IfPresent if_present = IfPresent::refuse) {
    const auto made = store->make(tenant, if_present);
    INFO((made ? "" : made.error().message));
    REQUIRE(made);
    return *made;
  }
  void write(const std::string& tenant, const std::string& text) const {
    std::ofstream(store->path_of(tenant), std::ios::binary | std::ios::trunc) << text;
  }
  unsigned mode_of(const std::string& path) const {
    struct stat info {};
    REQUIRE(::lstat(path.c_str(), &info) == 0);
    return info.st_mode & 07777;
  }
  // What find() refuses with.
  std::string refused(const std::string& tenant) {
    const auto found = store->find(tenant);
    REQUIRE_FALSE(found);
    CHECK(found.error().code == ErrorCode::internal);
    CHECK_THAT(found.error().message, Catch::Contains("cannot be used"));
    return found.error().message;
  }

  std::string directory;
  std::optional<KeyStore> store;
};

}  // namespace

TEST_CASE_METHOD(Store, "a tenant without a key has none, whether there are other keys or not") {
  CHECK(store->find("blue").value() == std::nullopt);
  make("red");
  CHECK(store->find("blue").value() == std::nullopt);
}

TEST_CASE_METHOD(Store, "a key that was made is found, by this daemon and by the next") {
  const MacKey made = make("blue");
  CHECK(store->find("blue").value() == made);
  CHECK(store->find("blue").value() == made);
  CHECK(KeyStore(directory).find("blue").value() == made);
  CHECK(made.id.size() == 16);
  CHECK(made.id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(to_hex(made).size() == 64);
}

TEST_CASE_METHOD(Store, "each tenant, the operator too, has a key and a file of its own") {
  const MacKey blue = make("blue");
  const MacKey operators = make("");
  const MacKey word = make("operator");
  CHECK(blue.bytes != operators.bytes);
  CHECK(operators.bytes != word.bytes);
  CHECK(store->find("").value() == operators);
  CHECK(store->path_of("blue") == directory + "/keys/blue.key");
  CHECK(store->path_of("") == directory + "/keys/@operator.key");
}

TEST_CASE_METHOD(Store,
                 "keys are for the daemon's user alone, and nothing else is left beside them") {
  const mode_t before = ::umask(0);
  make("blue");
  make("blue", IfPresent::replace);
  ::umask(before);
  CHECK(mode_of(directory + "/keys") == 0700);
  CHECK(mode_of(store->path_of("blue")) == 0600);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(directory + "/keys"))
    ++files;
  CHECK(files == 1);
}

TEST_CASE_METHOD(Store, "a new key does not replace one, and a rotated one does") {
  const MacKey first = make("blue");
  const auto refused = store->make("blue", IfPresent::refuse);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == ErrorCode::invalid_request);
  CHECK(refused.error().message ==
        "tenant 'blue' has a key already; `paddock key rotate` replaces it");
  CHECK(store->find("blue").value() == first);
  const MacKey second = make("blue", IfPresent::replace);
  CHECK(second.bytes != first.bytes);
  CHECK(second.id != first.id);
  CHECK(store->find("blue").value() == second);
}

TEST_CASE_METHOD(Store, "what an interrupted write has left is no obstacle") {
  make("red");
  std::ofstream(store->path_of("blue") + ".new") << "half";
  make("blue");
  CHECK_FALSE(std::filesystem::exists(store->path_of("blue") + ".new"));
}

TEST_CASE_METHOD(Store, "a key that is removed or replaced by hand is gone at once") {
  const MacKey first = make("blue");
  REQUIRE(store->find("blue").value() == first);
  std::filesystem::remove(store->path_of("blue"));
  CHECK(store->find("blue").value() == std::nullopt);
  const MacKey second = make("blue");
  CHECK(store->find("blue").value() == second);
}

TEST_CASE_METHOD(Store, "a damaged key is an error, and not no key") {
  const std::string good = to_hex(make("blue"));
  for (const std::string& text :
       {std::string(), std::string("\n"), good.substr(1), good + "0", good + "\n\n",
        "g" + good.substr(1), "A" + good.substr(1), " " + good.substr(1), std::string(64, '\0'),
        std::string(100'000, 'a')}) {
    write("blue", text);
    CHECK_THAT(refused("blue"), Catch::Contains("is damaged") && Catch::Contains("rotate"));
    CHECK_THAT(refused("blue"), !Catch::Contains(good.substr(1, 60)));
  }
  write("blue", good);
  CHECK(to_hex(store->find("blue").value().value()) == good);
  SECTION("and is mended by a rotation") {
    write("blue", "");
    const MacKey mended = make("blue", IfPresent::replace);
    CHECK(store->find("blue").value() == mended);
  }
}

TEST_CASE_METHOD(Store, "a key that others can read is refused, also after it was in use") {
  make("blue");
  REQUIRE(store->find("blue"));
  for (const mode_t mode : {0640, 0604, 0620, 0602, 0610}) {
    REQUIRE(::chmod(store->path_of("blue").c_str(), mode) == 0);
    CHECK_THAT(refused("blue"), Catch::Contains("can be used by others; chmod 600"));
  }
  REQUIRE(::chmod(store->path_of("blue").c_str(), 0600) == 0);
  CHECK(store->find("blue").value());
  REQUIRE(::chmod((directory + "/keys").c_str(), 0750) == 0);
  CHECK_THAT(KeyStore(directory).find("blue").error().message,
             Catch::Contains("can be used by others; chmod 700"));
  CHECK_FALSE(store->make("red", IfPresent::refuse));
}

TEST_CASE_METHOD(Store, "a key of another user is refused") {
  NEEDS(::geteuid() == 0, tests::needs_root);
  make("blue");
  REQUIRE(::chown(store->path_of("blue").c_str(), 12345, 0) == 0);
  CHECK_THAT(refused("blue"), Catch::Contains("belongs to uid 12345"));
}

TEST_CASE_METHOD(Store,
                 "a link, a FIFO or a directory in place of a key is refused, and not waited for") {
  make("red");
  SECTION("a link to a key") {
    std::filesystem::create_symlink(store->path_of("red"), store->path_of("blue"));
    refused("blue");
  }
  SECTION("a FIFO") {
    REQUIRE(::mkfifo(store->path_of("blue").c_str(), 0600) == 0);
    CHECK_THAT(refused("blue"), Catch::Contains("not a regular file"));
  }
  SECTION("a directory") {
    REQUIRE(::mkdir(store->path_of("blue").c_str(), 0700) == 0);
    CHECK_THAT(refused("blue"), Catch::Contains("not a regular file"));
    CHECK_FALSE(store->make("blue", IfPresent::replace));
  }
  SECTION("a link in place of the directory") {
    std::filesystem::rename(directory + "/keys", directory + "/other");
    std::filesystem::create_symlink(directory + "/other", directory + "/keys");
    CHECK_THAT(refused("red"), Catch::Contains("keys"));
    CHECK_FALSE(store->make("blue", IfPresent::refuse));
  }
}

TEST_CASE_METHOD(Store,
                 "a link in place of a key is replaced, and what it leads to is not written") {
  make("red");
  const MacKey red = store->find("red").value().value();
  std::filesystem::create_symlink(store->path_of("red"), store->path_of("blue"));
  CHECK_FALSE(store->make("blue", IfPresent::refuse));
  const MacKey blue = make("blue", IfPresent::replace);
  CHECK(store->find("red").value() == red);
  CHECK(store->find("blue").value() == blue);
}

// Goal: at no moment is there a half key, or none.
TEST_CASE_METHOD(Store, "while a key is rotated again and again a reader always finds one") {
  make("blue");
  std::thread rotating([this] {
    const KeyStore other(directory);
    for (int i = 0; i < 50; ++i) static_cast<void>(other.make("blue", IfPresent::replace));
  });
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto key = store->find("blue");
    found += key && key->has_value();
  }
  rotating.join();
  CHECK(found == 2000);
}
