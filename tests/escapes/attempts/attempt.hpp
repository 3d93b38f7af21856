#pragma once
// An attempt is one function that tries one thing and says what came of it. It runs three times:
// unconfined, where it must succeed, and under each profile, where it must not.

#include <sys/types.h>

#include <cerrno>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::escapes {

// One line: "succeeded [DETAIL]", "refused WORD [DETAIL]" or "unsupported WHY".
struct Outcome {
  std::string line;
};

Outcome succeeded(std::string_view detail = {});
Outcome refused(int error = errno, std::string_view detail = {});
// For what has no errno: "ignored", "ENODATA".
Outcome refused_as(std::string_view word, std::string_view detail = {});
Outcome unsupported(std::string_view why);

Outcome succeeded_if(bool condition, std::string_view detail = {});  // else refused(errno)

// For calls with deliberately invalid arguments: it counts that the kernel looked at them. Only
// "you may not" and "there is no such call" are refusals.
Outcome reached(long result);

// What the runner tells every attempt about the host: "canary=/var/tmp/...", "victim=4711".
class Arguments {
 public:
  Arguments(int count, char** words);
  const std::string& text(const std::string& name) const;
  int number(const std::string& name) const;

 private:
  std::map<std::string, std::string> values_;
};

struct Attempt {
  const char* name;
  Outcome (*function)(const Arguments& arguments);
};
using Attempts = std::vector<Attempt>;

Attempts fs_attempts();
Attempts proc_attempts();
Attempts net_attempts();
Attempts resource_attempts();
Attempts life_attempts();
Attempts privilege_attempts();
Attempts syscall_attempts();
Attempts env_attempts();
Attempts channel_attempts();

}  // namespace paddock::escapes
