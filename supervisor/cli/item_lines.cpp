#include "supervisor/cli/item_lines.hpp"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "supervisor/cli/terminal.hpp"
#include "supervisor/verify/item.hpp"

namespace paddock::supervisor::cli {
namespace {

using nlohmann::json;

std::string text_of(const json& item, const char* key) {
  const auto found = item.find(key);
  return found != item.end() && found->is_string() ? found->get<std::string>() : std::string();
}

ItemLine item_line(std::size_t number, std::string_view text) {
  ItemLine line{.number = number, .id = {}, .group = {}, .json = {}, .mistake = {}};
  try {
    const json item = json::parse(text);
    if (!item.is_object()) {
      line.mistake = "it is no JSON object";
      return line;
    }
    line.id = text_of(item, "id");
    line.group = text_of(item, "group");
    line.json = item.dump();
    if (line.id.empty()) line.mistake = "'id' must be a text that is not empty";
    if (line.id.size() > id_bytes_max || printable(line.id) != line.id)
      line.mistake = fmt::format("'id' must be at most {} printable characters", id_bytes_max);
  } catch (const json::parse_error& error) {
    line.mistake = fmt::format("it is not JSON, from its byte {} on", error.byte);
  } catch (const json::exception& error) {
    line.mistake = fmt::format("it is not JSON: {}", error.what());
  }
  return line;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::vector<ItemLine> item_lines(std::string_view text) {
  std::vector<ItemLine> lines;
  std::set<std::string> ids;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_blank(one)) continue;
    ItemLine line = item_line(number, one);
    if (line.mistake.empty() && !ids.insert(line.id).second)
      line.mistake = "an earlier line has the same 'id'";
    if (line.mistake.empty() && line.json.size() > request_bytes_max)
      line.mistake = fmt::format("it is larger than {} MiB", request_bytes_max >> 20);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::vector<std::size_t>> requests_of(const std::vector<ItemLine>& lines) {
  std::vector<std::vector<std::size_t>> requests;
  std::size_t bytes = 0;
  const std::string* group = nullptr;
  for (std::size_t place = 0; place < lines.size(); ++place) {
    const ItemLine& line = lines[place];
    if (!line.mistake.empty()) continue;
    const bool goes_on = !line.group.empty() && group != nullptr && line.group == *group;
    const bool is_full =
        !requests.empty() && !goes_on && requests.back().size() >= request_items_max;
    const bool is_heavy = bytes + line.json.size() > request_bytes_max;
    if (requests.empty() || is_full || is_heavy) {
      requests.emplace_back();
      bytes = 0;
    }
    requests.back().push_back(place);
    bytes += line.json.size() + 1;
    group = &line.group;
  }
  return requests;
}

std::string verify_body(const std::vector<ItemLine>& lines, const std::vector<std::size_t>& places,
                        const VerifyOptions& options) {
  json head = {{"stream", true},
               {"scoring", options.all_or_nothing ? "all" : "fraction"},
               {"stop", options.first_fail ? "first_fail" : "all"},
               {"allow_degraded", options.allow_degraded}};
  if (options.cold) head["warm"] = false;
  if (options.judged) head["known_answers"] = false;
  if (!options.profile.empty()) head["profile"] = options.profile;
  // The items are text already: they are put in, not parsed again.
  std::string body = head.dump();
  body.back() = ',';
  body += "\"items\":[";
  for (const std::size_t place : places) {
    if (body.back() != '[') body += ',';
    body += lines[place].json;
  }
  return body + "]}";
}

}  // namespace paddock::supervisor::cli
