#pragma once
// A program from beside the test's executable, from start to end.

#include <string>
#include <vector>

struct Finished {
  int exit_status = -1;
  std::string standard_output;
  std::string standard_error;
};

// Fails the test if it takes longer than 30 seconds.
Finished run_program(const std::string& name, const std::vector<std::string>& arguments);
