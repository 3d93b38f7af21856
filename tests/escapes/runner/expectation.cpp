#include "escapes/runner/expectation.hpp"

#include <algorithm>
#include <array>

namespace paddock::escapes {
namespace {

using Kind = Observation::Kind;

bool contains(const auto& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string listed(const std::vector<std::string_view>& words) {
  std::string text;
  for (const std::string_view word : words) text.append(text.empty() ? "" : " or ").append(word);
  return text;
}

std::string described(const Observation& seen) {
  std::string text;
  if (seen.kind == Kind::succeeded) text = "it succeeded";
  if (seen.kind == Kind::stopped) text = "it ended with " + seen.word;
  if (seen.kind == Kind::unclear) text = "it gave no report";
  return seen.detail.empty() ? text : text + " (" + seen.detail + ")";
}

}  // namespace

Expectation stopped(std::vector<std::string_view> words, Need need) {
  return {std::move(words), {}, need};
}

Expectation open(std::string_view reason) {
  return {{}, reason, Need::nothing};
}

Judgement judge(const Expectation& expectation, const Observation& seen, std::string_view missing) {
  if (seen.kind == Kind::unsupported) return {Verdict::unsupported, "", seen.detail};
  const bool is_open = !expectation.open_because.empty();
  // An open attempt may be stopped all the same: by the host, or by another user's files.
  if (seen.kind == Kind::stopped && (is_open || contains(expectation.words, seen.word)))
    return {Verdict::stopped, seen.word, ""};
  if (seen.kind == Kind::succeeded && is_open)
    return {Verdict::open, "", std::string(expectation.open_because)};
  if (seen.kind == Kind::succeeded && !missing.empty())
    return {Verdict::unsupported, "", std::string(missing)};
  if (is_open) return {Verdict::failed, "", described(seen)};
  return {Verdict::failed, seen.word, described(seen) + "; expected " + listed(expectation.words)};
}

Judgement judge_control(const Observation& seen, bool may_be_refused,
                        const std::vector<std::string_view>& lacks) {
  constexpr std::array missing_call = {"ENOSYS", "EAFNOSUPPORT", "EPROTONOSUPPORT",
                                       "ESOCKTNOSUPPORT", "EOPNOTSUPP"};
  constexpr std::array refusals = {"EPERM", "EACCES"};
  if (seen.kind == Kind::succeeded) return {Verdict::open, "", ""};
  if (seen.kind == Kind::unsupported) return {Verdict::unsupported, "", seen.detail};
  if (seen.kind == Kind::stopped &&
      (contains(missing_call, seen.word) || contains(lacks, seen.word)))
    return {Verdict::unsupported, seen.word, "unconfined it fails as well, with " + seen.word};
  if (seen.kind == Kind::stopped && may_be_refused && contains(refusals, seen.word))
    return {Verdict::unsupported, seen.word, "this user may not do it unconfined either"};
  return {Verdict::failed, seen.word, "unconfined, where it must succeed, " + described(seen)};
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::stopped:
      return "stopped";
    case Verdict::open:
      return "open";
    case Verdict::unsupported:
      return "unsupported";
    case Verdict::failed:
      return "FAILED";
  }
  return "FAILED";
}

}  // namespace paddock::escapes
