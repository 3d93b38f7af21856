#include "supervisor/access/access_rules.hpp"

#include <array>

namespace paddock::supervisor {
namespace {

constexpr std::array verbs = {Verb::run,    Verb::read,   Verb::kill,   Verb::agent,
                              Verb::budget, Verb::verify, Verb::operate};

}  // namespace

std::string_view name_of(Verb verb) {
  switch (verb) {
    case Verb::run:
      return "run";
    case Verb::read:
      return "read";
    case Verb::kill:
      return "kill";
    case Verb::agent:
      return "agent";
    case Verb::budget:
      return "budget";
    case Verb::verify:
      return "verify";
    case Verb::operate:
      return "operate";
  }
  return "operate";
}

std::optional<Verb> verb_named(std::string_view name) {
  for (const Verb verb : verbs)
    if (name == name_of(verb)) return verb;
  return std::nullopt;
}

std::set<Verb> all_verbs() {
  return {verbs.begin(), verbs.end()};
}

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb verb : verbs) names.emplace_back(name_of(verb));
  return names;
}

std::string metrics_class_of(const AccessRules& rules, const std::string& tenant) {
  for (const Tenant& known : rules.tenants)
    if (known.name == tenant) return known.metrics_class;
  return "default";
}

}  // namespace paddock::supervisor
