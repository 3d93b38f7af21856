#include "escapes/attempts/attempt.hpp"

#include <cstdlib>
#include <cstring>

namespace paddock::escapes {
namespace {

Outcome line_of(std::string_view first, std::string_view detail) {
  std::string line(first);
  if (!detail.empty()) line.append(" ").append(detail);
  return {line};
}

}  // namespace

Outcome succeeded(std::string_view detail) {
  return line_of("succeeded", detail);
}

Outcome refused(int error, std::string_view detail) {
  const char* name = ::strerrorname_np(error);
  return refused_as(name == nullptr ? "E" + std::to_string(error) : name, detail);
}

Outcome refused_as(std::string_view word, std::string_view detail) {
  return line_of("refused " + std::string(word), detail);
}

Outcome unsupported(std::string_view why) {
  return line_of("unsupported", why);
}

Outcome succeeded_if(bool condition, std::string_view detail) {
  return condition ? succeeded(detail) : refused(errno);
}

Outcome reached(long result) {
  const int error = errno;
  if (result >= 0) return succeeded();
  if (error == EPERM || error == EACCES || error == ENOSYS) return refused(error);
  return succeeded(std::string("reached the kernel: ") + ::strerrorname_np(error));
}

Arguments::Arguments(int count, char** words) {
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    if (equals != std::string::npos) values_[word.substr(0, equals)] = word.substr(equals + 1);
  }
}

const std::string& Arguments::text(const std::string& name) const {
  static const std::string none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

int Arguments::number(const std::string& name) const {
  return std::atoi(text(name).c_str());
}

}  // namespace paddock::escapes
