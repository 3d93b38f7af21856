#include "supervisor/verify/known_dialogue.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <utility>

namespace paddock::supervisor {
namespace {

// As frames.py has them: a length, big-endian, and so much text.
std::string frame(const std::string& text) {
  constexpr unsigned byte_bits = 8;
  constexpr unsigned length_bytes = 4;
  std::string made;
  for (unsigned i = length_bytes; i-- > 0;)
    made += static_cast<char>(text.size() >> (byte_bits * i) & 0xFFu);
  return made + text;
}

double rounded_ms(KnownDialogue::Time::duration time) {
  constexpr double us_per_ms = 1000;
  return std::round(std::chrono::duration<double, std::micro>(time).count()) / us_per_ms;
}

}  // namespace

KnownDialogue::KnownDialogue(KnownAnswersPtr known, std::function<std::uint64_t()> draw_token)
    : known_(std::move(known)),
      draw_token_(std::move(draw_token)),
      expected_(frame(R"(["ready"])")),
      taken_(known_->cases) {}

std::optional<std::string> KnownDialogue::question() const {
  if (state_ != State::answering || is_asked_) return std::nullopt;
  return frame(fmt::format("[{}{}", token_, known_->questions[answered_].text));
}

void KnownDialogue::asked(Time now) {
  is_asked_ = true;
  asked_at_ = now;
}

std::size_t KnownDialogue::wanted() const {
  if (is_over() || (state_ == State::answering && !is_asked_)) return 0;
  return expected_.size() - came_.size();
}

void KnownDialogue::came(std::string_view bytes, Time now) {
  assert(bytes.size() <= wanted());
  const bool is_known = expected_.compare(came_.size(), bytes.size(), bytes) == 0;
  came_ += bytes;
  if (!is_known) return give_up();
  if (came_.size() < expected_.size()) return;
  if (is_greeted_) {
    if (const auto of = known_->questions[answered_].of)
      taken_[*of] = taken_[*of].value_or(Time::duration()) + (now - asked_at_);
    ++answered_;
  }
  is_greeted_ = true;
  state_ = answered_ == known_->questions.size() ? State::passed : State::answering;
  if (state_ == State::answering) next();
}

void KnownDialogue::next() {
  token_ = draw_token_();
  expected_ = frame(fmt::format("[{}{}", token_, known_->questions[answered_].answer));
  came_.clear();
  is_asked_ = false;
}

DialogueSoFar KnownDialogue::so_far() const {
  return {.known = known_,
          .is_greeted = is_greeted_,
          .answered = answered_,
          .token = is_asked_ ? std::optional(token_) : std::nullopt,
          .came = came_};
}

std::vector<CaseAnswer> KnownDialogue::cases() const {
  std::vector<CaseAnswer> cases(known_->cases);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    cases[i].passed = true;
    cases[i].cause = "passed";
    if (taken_[i]) cases[i].wall_ms = rounded_ms(*taken_[i]);
  }
  return cases;
}

}  // namespace paddock::supervisor
