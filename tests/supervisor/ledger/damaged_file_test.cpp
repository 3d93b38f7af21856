#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "ledger_fixture.hpp"

using namespace paddock::supervisor;
using namespace paddock::tests;
using paddock::kernel::ErrorCode;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_content(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

// That nobody opens the file, that both say why, and that it stays as it is.
void check_refused(const LedgerDirectory& directory, const std::string& why) {
  const std::string before = content_of(directory.path());
  const auto writer = LedgerWriter::open(directory.path(), LedgerSync::full);
  REQUIRE_FALSE(writer);
  CHECK(writer.error().code == ErrorCode::not_recorded);
  CHECK_THAT(writer.error().message, Catch::Contains(directory.path()) && Catch::Contains(why));
  const auto reader = LedgerReader::open(directory.path());
  REQUIRE_FALSE(reader);
  CHECK_THAT(reader.error().message, Catch::Contains(directory.path()) && Catch::Contains(why));
  const auto found = verify_ledger(directory.path(), std::nullopt);
  REQUIRE_FALSE(found);
  CHECK_THAT(found.error().message, Catch::Contains(why));
  CHECK(content_of(directory.path()) == before);
}

}  // namespace

TEST_CASE_METHOD(LedgerDirectory, "a file that is no database is refused and left alone") {
  put_content(path(), std::string(10'000, 'x'));
  check_refused(*this, "it is not a database");
}

TEST_CASE_METHOD(LedgerDirectory, "another program's database is refused and left alone") {
  put_content(path(), "");
  edit("CREATE TABLE theirs (a)");
  check_refused(*this, "a database of another program");
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger of a newer version is refused and left alone") {
  write_runs(1);
  edit("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE)");
  check_refused(*this, "its version is 99, and this program knows versions up to 2");
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger that was cut short is refused and left alone") {
  write_runs(100);
  const std::string whole = content_of(path());
  put_content(path(), whole.substr(0, whole.size() / 2));
  check_refused(*this, "it is damaged");
}

TEST_CASE_METHOD(LedgerDirectory,
                 "a ledger whose pages are overwritten is refused and left alone") {
  write_runs(100);
  std::string content = content_of(path());
  std::fill(content.begin() + 100, content.end(), '\x5a');
  put_content(path(), content);
  check_refused(*this, "it is damaged");
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger whose newest event was edited is not written on") {
  write_runs(2);
  edit("UPDATE events SET body = '{}' WHERE seq = 4");
  const auto writer = LedgerWriter::open(path(), LedgerSync::full);
  REQUIRE_FALSE(writer);
  CHECK_THAT(writer.error().message, Catch::Contains("event 4, the newest, has been edited"));
}

TEST_CASE_METHOD(LedgerDirectory, "what is no regular file is refused") {
  REQUIRE(::mkfifo(path().c_str(), 0600) == 0);
  const auto writer = LedgerWriter::open(path(), LedgerSync::full);
  REQUIRE_FALSE(writer);
  CHECK_THAT(writer.error().message, Catch::Contains("is not a regular file"));
  ::unlink(path().c_str());
  REQUIRE(::symlink("elsewhere.db", path().c_str()) == 0);
  CHECK_FALSE(LedgerWriter::open(path(), LedgerSync::full));
}

TEST_CASE_METHOD(LedgerDirectory, "a ledger that is not there is not found") {
  const auto reader = LedgerReader::open(path());
  REQUIRE_FALSE(reader);
  CHECK(reader.error().code == ErrorCode::not_found);
  CHECK_FALSE(std::filesystem::exists(path()));
}

TEST_CASE_METHOD(LedgerDirectory, "no overwritten byte of an event or a run goes unnoticed") {
  write_runs(40);
  const std::string whole = content_of(path());
  const Verification expected = verify();
  const auto runs = reader().runs({}).value();
  const auto events = reader().events({}).value();
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> place(100, whole.size() - 1);
  int noticed = 0;
  for (int i = 0; i < 100; ++i) {
    std::string changed = whole;
    char& byte = changed[place(random)];
    byte = static_cast<char>(byte ^ 0x15);
    put_content(path(), changed);
    const auto found = verify_ledger(path(), std::nullopt);
    if (!found || found->edit) {
      ++noticed;
      continue;
    }
    // Then it was in free space, or in an index that verify does not need.
    CHECK(*found == expected);
    CHECK(reader().events({}).value() == events);
  }
  CHECK(noticed > 10);
  put_content(path(), whole);
  CHECK(reader().runs({}).value() == runs);
}
