#include "supervisor/warm/zygote_name.hpp"

#include <fmt/format.h>

#include "kernel/base/hash.hpp"
#include "supervisor/runs/run_record.hpp"

namespace paddock::supervisor {
namespace {

constexpr std::string_view prefix = "z-";
constexpr std::size_t tag_digits = 8;

}  // namespace

std::string zygote_tag(const std::string& ledger) {
  return kernel::sha256_hex(ledger).substr(0, tag_digits);
}

std::string make_zygote_name(std::string_view tag) {
  return fmt::format("{}{}-{}", prefix, tag, make_run_id().substr(2));
}

bool is_zygote_name(std::string_view text) {
  if (!text.starts_with(prefix)) return false;
  const std::string_view tag = text.substr(prefix.size(), tag_digits);
  const std::string_view rest = text.substr(prefix.size() + tag.size());
  return tag.size() == tag_digits &&
         tag.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         rest.starts_with('-') && is_run_id("r-" + std::string(rest.substr(1)));
}

bool is_zygote_of(std::string_view text, std::string_view tag) {
  return is_zygote_name(text) && text.substr(prefix.size()).starts_with(tag);
}

}  // namespace paddock::supervisor
