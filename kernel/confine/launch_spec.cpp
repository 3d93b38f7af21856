#include "kernel/confine/launch_spec.hpp"

#include <climits>
#include <cstring>

namespace paddock::kernel {
namespace {

class Writer {
 public:
  void number(std::uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof bytes);
  }
  void text(const std::string& value) {
    number(value.size());
    out_ += value;
  }
  void texts(const std::vector<std::string>& values) {
    number(values.size());
    for (const std::string& value : values) text(value);
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    if (rest_.size() < sizeof value) return spoil();
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const std::uint64_t size = number();
    if (size > rest_.size()) return std::string(spoil(), '\0');
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  bool flag() {
    const std::uint64_t value = number();
    return value > 1 ? spoil() != 0 : value == 1;
  }
  int resource() {
    const std::uint64_t value = number();
    return static_cast<int>(value > INT_MAX ? spoil() : value);
  }
  std::vector<std::string> texts() {
    const std::uint64_t count = number();
    std::vector<std::string> values;
    for (std::uint64_t i = 0; i < count && whole_; ++i) values.push_back(text());
    return values;
  }
  bool whole() const { return whole_; }
  bool at_end() const { return whole_ && rest_.empty(); }

 private:
  std::uint64_t spoil() {
    whole_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool whole_ = true;
};

}  // namespace

std::string encode(const LaunchSpec& spec) {
  Writer writer;
  writer.texts(spec.wrapper);
  writer.texts(spec.argv);
  writer.texts(spec.environment);
  writer.text(spec.workdir);
  writer.number(spec.rlimits.size());
  for (const Rlimit& limit : spec.rlimits) {
    writer.number(static_cast<std::uint64_t>(limit.resource));
    writer.number(limit.value);
  }
  writer.number(spec.new_session ? 1 : 0);
  writer.number(spec.own_user_namespace ? 1 : 0);
  return writer.take();
}

std::optional<LaunchSpec> decode_launch_spec(std::string_view bytes) {
  Reader reader(bytes);
  LaunchSpec spec;
  spec.wrapper = reader.texts();
  spec.argv = reader.texts();
  spec.environment = reader.texts();
  spec.workdir = reader.text();
  const std::uint64_t rlimits = reader.number();
  for (std::uint64_t i = 0; i < rlimits && reader.whole(); ++i) {
    const int resource = reader.resource();
    spec.rlimits.push_back({resource, reader.number()});
  }
  spec.new_session = reader.flag();
  spec.own_user_namespace = reader.flag();
  if (!reader.at_end()) return std::nullopt;
  return spec;
}

}  // namespace paddock::kernel
