#include "supervisor/verify/item.hpp"

namespace paddock::supervisor {

std::string_view name_of(Checker::Kind kind) {
  switch (kind) {
    case Checker::Kind::exact:
      return "exact";
    case Checker::Kind::lines:
      return "lines";
    case Checker::Kind::tokens:
      return "tokens";
    case Checker::Kind::floating:
      return "float";
    case Checker::Kind::unordered:
      return "unordered";
  }
  return "exact";
}

std::string_view name_of(Integrity integrity) {
  switch (integrity) {
    case Integrity::separate:
      return "separate";
    case Integrity::stdio:
      return "stdio";
    case Integrity::in_process:
      return "in_process";
  }
  return "separate";
}

std::string_view name_of(Scoring scoring) {
  return scoring == Scoring::all ? "all" : "fraction";
}

std::string_view name_of(Stop stop) {
  return stop == Stop::all ? "all" : "first_fail";
}

}  // namespace paddock::supervisor
