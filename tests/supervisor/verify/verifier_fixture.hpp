#pragma once
// A verifier on a real table with real runs, without isolation; the ledger is the test's.

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/runs/table_fixture.hpp"
#include "supervisor/verify/parse_items.hpp"
#include "supervisor/verify/verifier.hpp"

namespace paddock::tests {

using nlohmann::json;

inline json call_item(const std::string& id, const std::string& code,
                      const json& cases = {{{"args", {1}}, {"expected", 2}}}) {
  return {{"id", id},
          {"code", code},
          {"tests", {{"kind", "call"}, {"entry_point", "f"}, {"cases", cases}}}};
}

inline const char* const right_code = "def f(x):\n    return x + 1\n";
inline const char* const wrong_code = "def f(x):\n    return x\n";

inline json stdio_item(const std::string& id, const std::string& code,
                       const std::string& language = "python") {
  return {
      {"id", id},
      {"code", code},
      {"language", language},
      {"tests",
       {{"kind", "stdio"},
        {"cases", {{{"stdin", "1"}, {"stdout", "2\n"}}, {{"stdin", "2"}, {"stdout", "3\n"}}}}}}};
}

// What became of one request.
struct Told {
  std::vector<supervisor::ItemAnswer> answers;  // in the order in which they came
  std::vector<supervisor::GroupAnswer> groups;
  bool ended = false;
  std::optional<kernel::Error> failure;

  const supervisor::ItemAnswer& of(const std::string& id) const {
    for (const auto& answer : answers)
      if (answer.id == id) return answer;
    FAIL("no answer for " << id);
    throw std::logic_error("unreachable");
  }
};

class VerifierFixture : public TableFixture {
 public:
  explicit VerifierFixture(supervisor::VerifierLimits limits = {},
                           supervisor::RunTableLimits runs = {})
      : TableFixture(runs) {
    remake_verifier(limits);
  }

  void remake_verifier(supervisor::VerifierLimits limits) {
    verifier.reset();
    verifier = std::make_unique<supervisor::Verifier>(
        supervisor::Verifier::Parts{
            .loop = loop->get(),
            .runs = *table,
            .recorder = recorder,
            .look_up =
                [this](supervisor::RecordedQuestion question, auto on_answer) {
                  // Asked of what is committed now, answered on a later turn.
                  auto answer = recorded_now(question);
                  look_up_timer.start(std::chrono::milliseconds(1),
                                      [answer, on_answer] { on_answer(answer); });
                },
            .key_of = [this](const std::string&) { return key; },
            .on_verdict = {}},
        limits);
  }

  supervisor::VerifyBatch batch(const std::vector<json>& items, const json& rest = json::object(),
                                const std::string& tenant = "") const {
    json body = {{"items", items}};
    body.update(rest);
    auto parsed = supervisor::parse_items(body.dump());
    if (!parsed) FAIL(parsed.error().message);
    kernel::Profile profile;
    profile.name = "STRICT";
    auto resolved =
        supervisor::resolve_batch(std::move(*parsed), {.tenant = tenant,
                                                       .profile = profile,
                                                       .runtimes = runtimes,
                                                       .item_wall_clock = item_wall_clock});
    if (!resolved) FAIL(resolved.error().message);
    return std::move(*resolved);
  }

  // The id, and who is told. What is told stays where it is.
  supervisor::BatchObserver teller(const std::shared_ptr<Told>& told) const {
    return {
        .on_answer =
            [told](std::size_t, const supervisor::ItemAnswer&, const std::string& text) {
              told->answers.push_back(supervisor::answer_from_json(text).value());
            },
        .on_group = [told](const supervisor::GroupAnswer& group) { told->groups.push_back(group); },
        .on_end = [told] { told->ended = true; },
        .on_failure = [told](const kernel::Error& error) { told->failure = error; }};
  }
  std::shared_ptr<Told> submit(const std::vector<json>& items, const json& rest = json::object(),
                               const std::string& tenant = "") {
    auto told = std::make_shared<Told>();
    const auto id = verifier->submit(batch(items, rest, tenant), teller(told));
    if (!id) FAIL(id.error().message);
    last_batch = *id;
    return told;
  }
  std::shared_ptr<Told> verify(const std::vector<json>& items, const json& rest = json::object()) {
    auto told = submit(items, rest);
    run_until([&] { return told->ended || told->failure; });
    return told;
  }

  std::size_t count(const std::string& kind) const {
    const auto kinds = recorder.kinds();
    return static_cast<std::size_t>(std::count(kinds.begin(), kinds.end(), kind));
  }

  supervisor::RecordedAnswers recorded_now(const supervisor::RecordedQuestion& question) const {
    supervisor::RecordedAnswers recorded;
    for (const auto& transition : recorder.committed) {
      if (!transition.verdict || transition.verdict->tenant != question.tenant) continue;
      const auto& row = *transition.verdict;
      if (!question.request_id.empty() && row.request_id == question.request_id)
        recorded.answers.emplace(row.item, row.answer);
      for (const std::string& nonce : question.nonces)
        if (row.nonce == nonce) recorded.nonces.insert(nonce);
    }
    for (const auto& transition : recorder.committed) {
      if (transition.event.kind != "verify.group") continue;
      const json body = json::parse(transition.event.body);
      if (body["request_id"] == question.request_id) recorded.groups.insert(body["group"]);
    }
    return recorded;
  }

  supervisor::Runtimes runtimes = {
      {"python",
       {.name = "python",
        .aliases = {"py"},
        .source = "main.py",
        .compile = {},
        .run = {"python3", "main.py"},
        .version = {},
        .profile = {},
        .file = {}}},
      {"sh2",
       {.name = "sh2",
        .aliases = {},
        .source = "main.in",
        .compile = supervisor::CompileStep{.command = {"/bin/sh", "-c",
                                                       "grep -q ok main.in && cp main.in main.sh"},
                                           .artifact = "main.sh",
                                           .wall_clock = {}},
        .run = {"/bin/sh", "main.sh"},
        .version = {},
        .profile = {},
        .file = {}}}};
  kernel::Result<std::optional<supervisor::MacKey>> key = std::optional<supervisor::MacKey>();
  std::chrono::milliseconds item_wall_clock{10'000};
  supervisor::Timer look_up_timer{loop->get()};
  supervisor::Verifier::BatchId last_batch = 0;
  std::unique_ptr<supervisor::Verifier> verifier;
};

}  // namespace paddock::tests
