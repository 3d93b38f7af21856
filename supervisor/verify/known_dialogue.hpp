#pragma once
// KnownDialogue: a candidate is asked what its tests ask, one question after the other, as long as
// what comes back is the known answer to the byte. Nothing that it says is read: it is compared.
// Pure.
//
//   greeting --> answering --> passed
//       '------------'-------> other: the judge has to say what to make of it

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/verify/item_answer.hpp"
#include "supervisor/verify/known_answers.hpp"

namespace paddock::supervisor {

// Where a judge goes on. So many questions were answered as is known.
struct DialogueSoFar {
  KnownAnswersPtr known;
  bool is_greeted = false;
  std::size_t answered = 0;
  std::optional<std::uint64_t> token;  // of the next question, if it was asked
  std::string came;                    // what was read of the answer to it, or of the greeting

  bool operator==(const DialogueSoFar&) const = default;
};

class KnownDialogue {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class State { greeting, answering, passed, other };

  // `draw_token`: a number below 2^48 that nobody can guess.
  KnownDialogue(KnownAnswersPtr known, std::function<std::uint64_t()> draw_token);

  State state() const { return state_; }
  bool is_over() const { return state_ == State::passed || state_ == State::other; }

  // The frame to send now, if it is time for one: whole, or not at all.
  std::optional<std::string> question() const;
  // It was sent.
  void asked(Time now);
  // How much may be read: what is left of the known answer. 0: there is a question to send.
  std::size_t wanted() const;
  void came(std::string_view bytes, Time now);
  // Nothing can be sent or read any more.
  void give_up() { state_ = State::other; }

  DialogueSoFar so_far() const;
  std::vector<CaseAnswer> cases() const;  // of one that passed

 private:
  void next();

  KnownAnswersPtr known_;
  std::function<std::uint64_t()> draw_token_;
  State state_ = State::greeting;
  bool is_greeted_ = false;
  std::size_t answered_ = 0;
  std::uint64_t token_ = 0;
  bool is_asked_ = false;
  std::string expected_;  // a frame
  std::string came_;      // of it
  Time asked_at_{};
  std::vector<std::optional<Time::duration>> taken_;  // by case
};

}  // namespace paddock::supervisor
