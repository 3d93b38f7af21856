#pragma once
// Files of the workspace by name. No symbolic link is followed, wherever in a name it stands: what
// is asked for is a file of the workspace, whatever the program has put in its place.

#include <stddef.h>

namespace paddock::step {

// A name is a relative path without "." and "..", as check_file_name has seen. -1 and errno.
int create_file(const char* name);  // with the directories that it needs, for writing
int open_file(const char* name);    // a regular file, for reading

}  // namespace paddock::step
