#pragma once
// SmallDisk: a file system of a few MiB, for this process alone, that can be filled up.

#include <string>

namespace paddock::tests {

class SmallDisk {
 public:
  static bool is_possible();  // it needs root

  // At an existing directory, until it is destroyed.
  explicit SmallDisk(std::string directory);
  ~SmallDisk();
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  void fill() const;       // not a byte is left
  void make_room() const;  // all that fill() took

 private:
  std::string filler() const { return directory_ + "/filler"; }

  std::string directory_;
};

// No file of this process may grow beyond `bytes`, while it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(unsigned long bytes);
  ~FileSizeLimit();
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
};

}  // namespace paddock::tests
