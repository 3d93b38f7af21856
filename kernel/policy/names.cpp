#include "kernel/policy/names.hpp"

#include <algorithm>
#include <numeric>

namespace paddock::kernel {
namespace {

// Longer words are not slips of the finger, and the distance is quadratic in the length.
constexpr std::size_t compared_bytes_max = 64;

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Edits (insert, delete, replace, swap two neighbours) that turn `a` into `b`; case is ignored.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

bool is_name(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= name_bytes_max &&
         std::all_of(text.begin(), text.end(), allowed);
}

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  if (name.size() > compared_bytes_max) return {};
  std::size_t best = std::max<std::size_t>(2, name.size() / 3) + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    if (candidate.size() > compared_bytes_max) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // A guess that replaces every letter is no help.
    if (distance < best && distance < std::max(name.size(), candidate.size())) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string quoted_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += ", ";
    text += "'" + word + "'";
  }
  return text;
}

}  // namespace paddock::kernel
