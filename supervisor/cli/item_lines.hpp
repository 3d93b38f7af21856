#pragma once
// ItemLines: the input of `paddock verify`, one item a line, cut into requests. Pure.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/cli/options.hpp"

namespace paddock::supervisor::cli {

// Of one request: below what a daemon takes by default, and a group stays together.
constexpr std::size_t request_items_max = 5'000;
constexpr std::size_t request_bytes_max = 24u << 20;

// One line of the input that is not empty.
struct ItemLine {
  std::size_t number = 0;  // of the line, from 1
  std::string id;          // empty: it has none that could be used
  std::string group;       // empty: none
  std::string json;        // the item on one line, as the daemon shall get it
  std::string mistake;     // why it is not sent; empty: it is

  bool operator==(const ItemLine&) const = default;
};

// An id that an earlier line has is a mistake: answers could not be told apart.
std::vector<ItemLine> item_lines(std::string_view text);

// Places in `lines` of what goes into one request, for each request. Lines with a mistake are in
// none.
std::vector<std::vector<std::size_t>> requests_of(const std::vector<ItemLine>& lines);

// The body of a request.
std::string verify_body(const std::vector<ItemLine>& lines, const std::vector<std::size_t>& places,
                        const VerifyOptions& options);

}  // namespace paddock::supervisor::cli
