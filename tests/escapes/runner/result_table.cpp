#include "escapes/runner/result_table.hpp"

#include <algorithm>

namespace paddock::escapes {
namespace {

constexpr std::size_t cell_width = 23;
constexpr std::size_t text_width = 100;

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text + "  ";
}

std::string trimmed(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string cell_of(const Judgement& judgement) {
  std::string text(name_of(judgement.verdict));
  if (judgement.verdict == Verdict::stopped) text += " " + judgement.word;
  return text;
}

std::string control_cell(const Judgement& control) {
  if (control.verdict == Verdict::open) return "succeeded";
  return control.verdict == Verdict::failed ? "CONTROL FAILED"
                                            : std::string(name_of(control.verdict));
}

// Names in lines of at most text_width, indented.
std::string wrapped(const std::vector<std::string>& names) {
  std::string text;
  std::string line = "    ";
  for (const std::string& name : names) {
    if (line.size() + name.size() > text_width) {
      text += trimmed(line);
      line = "    ";
    }
    line += name + " ";
  }
  return text + trimmed(line);
}

// Reason -> names, in the order in which the reasons first appear.
class Reasons {
 public:
  void add(const std::string& reason, const std::string& name) {
    const auto found = std::find_if(list_.begin(), list_.end(),
                                    [&](const auto& entry) { return entry.first == reason; });
    if (found == list_.end()) {
      list_.push_back({reason, {name}});
    } else {
      found->second.push_back(name);
    }
  }

  std::string text(const std::string& title) const {
    if (list_.empty()) return {};
    std::string out = "\n" + title + "\n";
    for (const auto& [reason, names] : list_) out += "  " + reason + ":\n" + wrapped(names);
    return out;
  }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> list_;
};

bool ran(const AttemptResult& result) {
  return result.control.verdict == Verdict::open;
}

}  // namespace

std::string heading(const Columns& columns) {
  std::string line = padded("  attempt", columns.name_width + 2) + padded("unconfined", 14);
  for (const std::string& profile : columns.profiles) line += padded(profile, cell_width);
  return trimmed(line);
}

std::string line_of(const AttemptResult& result, const Columns& columns) {
  std::string line =
      padded("  " + result.name, columns.name_width + 2) + padded(control_cell(result.control), 14);
  for (const Judgement& judgement : result.by_profile)
    line += padded(cell_of(judgement), cell_width);
  if (!ran(result))
    for (std::size_t i = 0; i < columns.profiles.size(); ++i) line += padded("-", cell_width);
  return trimmed(line);
}

std::string explanations(const std::vector<AttemptResult>& results, const Columns& columns) {
  std::string text;
  for (std::size_t i = 0; i < columns.profiles.size(); ++i) {
    Reasons reasons;
    for (const AttemptResult& result : results)
      if (ran(result) && result.by_profile[i].verdict == Verdict::open)
        reasons.add(result.by_profile[i].reason, result.name);
    text += reasons.text("Open by design under " + columns.profiles[i] + ":");
  }
  Reasons unsupported;
  Reasons failed;
  for (const AttemptResult& result : results) {
    if (result.control.verdict == Verdict::unsupported)
      unsupported.add(result.control.reason, result.name);
    if (result.control.verdict == Verdict::failed) failed.add(result.control.reason, result.name);
    for (std::size_t i = 0; i < result.by_profile.size(); ++i) {
      const std::string reason = columns.profiles[i] + ": " + result.by_profile[i].reason;
      if (result.by_profile[i].verdict == Verdict::unsupported)
        unsupported.add(reason, result.name);
      if (result.by_profile[i].verdict == Verdict::failed) failed.add(reason, result.name);
    }
  }
  return text + unsupported.text("Unsupported here, so nothing is proved about:") +
         failed.text("FAILED:");
}

Tally tally(const std::vector<AttemptResult>& results, std::size_t profile) {
  Tally count;
  for (const AttemptResult& result : results) {
    const Verdict verdict =
        ran(result) ? result.by_profile[profile].verdict : result.control.verdict;
    count.stopped += verdict == Verdict::stopped;
    count.open += verdict == Verdict::open;
    count.unsupported += verdict == Verdict::unsupported;
    count.failed += verdict == Verdict::failed;
  }
  return count;
}

std::string summary(const std::vector<AttemptResult>& results, const Columns& columns) {
  std::size_t width = 0;
  for (const std::string& profile : columns.profiles) width = std::max(width, profile.size());
  std::string text = "\n";
  for (std::size_t i = 0; i < columns.profiles.size(); ++i) {
    const Tally count = tally(results, i);
    text += padded(columns.profiles[i], width) + std::to_string(results.size()) +
            " attempts: " + std::to_string(count.stopped) + " stopped, " +
            std::to_string(count.open) + " open by design, " + std::to_string(count.unsupported) +
            " unsupported, " + std::to_string(count.failed) + " FAILED\n";
  }
  return text;
}

bool any_failed(const std::vector<AttemptResult>& results) {
  const auto failed = [](const Judgement& judgement) {
    return judgement.verdict == Verdict::failed;
  };
  return std::any_of(results.begin(), results.end(), [&](const AttemptResult& result) {
    return failed(result.control) ||
           std::any_of(result.by_profile.begin(), result.by_profile.end(), failed);
  });
}

}  // namespace paddock::escapes
