#include "kernel/confine/launch_wire.hpp"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

namespace paddock::kernel {
namespace {

// Hands out what lies between `at` and `end`, and nothing beyond.
struct Cursor {
  char* at;
  char* end;

  char* take(size_t size) {
    if (size > static_cast<size_t>(end - at)) return nullptr;
    char* const taken = at;
    at += size;
    return taken;
  }

  // A string with its NUL.
  char* take_string() {
    const void* const nul = memchr(at, 0, static_cast<size_t>(end - at));
    return nul == nullptr ? nullptr
                          : take(static_cast<size_t>(static_cast<const char*>(nul) - at) + 1);
  }
};

// `count` strings into `list`, and a null pointer after them.
bool take_strings(Cursor& cursor, size_t count, char** list) {
  for (size_t i = 0; i < count; ++i) {
    list[i] = cursor.take_string();
    if (list[i] == nullptr) return false;
  }
  list[count] = nullptr;
  return true;
}

}  // namespace

SpecView::~SpecView() {
  free(pointers);
}

bool is_run_name(const char* name) {
  size_t size = 0;
  for (; name[size] != '\0'; ++size) {
    const char c = name[size];
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && size > 0);
    if (size == run_name_max || !is_plain) return false;
  }
  return size > 0;
}

bool parse_spec(char* bytes, size_t size, SpecView& view) {
  Cursor cursor{bytes, bytes + size};
  const char* const header_bytes = cursor.take(sizeof(SpecHeader));
  if (header_bytes == nullptr) return false;
  SpecHeader header;
  memcpy(&header, header_bytes, sizeof header);
  if (header.new_session > 1 || header.own_user_namespace > 1 || header.channel > 1 ||
      header.user_namespaces_closed > 1 || header.watch_sockets > 1 || header.padding != 0)
    return false;
  if (header.host_uid >= UINT32_MAX) return false;  // -1 is no uid
  // Each rlimit takes 16 bytes and each string at least one: larger counts cannot be true.
  if (header.mount_count > size) return false;
  const size_t mount_words = size_t{header.mount_count} * 3;
  const size_t strings = size_t{header.landlock_rule_count} + header.wrapper_count +
                         header.argv_count + header.environment_count + mount_words;
  if (header.rlimit_count > size / sizeof(WireRlimit) || strings > size ||
      header.filter_length > filter_length_max)
    return false;

  const char* const rlimits = cursor.take(header.rlimit_count * sizeof(WireRlimit));
  if (rlimits == nullptr) return false;
  view.rlimits = reinterpret_cast<const WireRlimit*>(rlimits);
  view.rlimit_count = header.rlimit_count;
  for (size_t i = 0; i < view.rlimit_count; ++i) {
    if (view.rlimits[i].resource > INT_MAX) return false;
  }

  const char* const access = cursor.take(header.landlock_rule_count * sizeof(uint64_t));
  view.filter = cursor.take(size_t{header.filter_length} * filter_instruction_bytes);
  if (access == nullptr || view.filter == nullptr) return false;
  view.landlock_access = reinterpret_cast<const uint64_t*>(access);
  view.landlock_rule_count = header.landlock_rule_count;
  view.landlock_handled_file = header.landlock_handled_file;
  view.landlock_scoped = header.landlock_scoped;
  view.filter_length = header.filter_length;

  view.pointers = static_cast<char**>(calloc(strings + 5, sizeof(char*)));
  if (view.pointers == nullptr) return false;
  view.landlock_paths = view.pointers;
  view.wrapper = view.landlock_paths + header.landlock_rule_count + 1;
  view.argv = view.wrapper + header.wrapper_count + 1;
  view.environment = view.argv + header.argv_count + 1;
  view.mount_words = view.environment + header.environment_count + 1;
  view.mount_count = header.mount_count;
  view.wrapper_count = header.wrapper_count;
  view.argv_count = header.argv_count;
  view.environment_count = header.environment_count;
  view.new_session = header.new_session == 1;
  view.own_user_namespace = header.own_user_namespace == 1;
  view.host_uid = header.host_uid;
  view.channel = header.channel == 1;
  view.user_namespaces_closed = header.user_namespaces_closed == 1;
  view.watch_sockets = header.watch_sockets == 1;
  view.prepared_program = header.prepared_program;
  view.workdir = cursor.take_string();
  return view.workdir != nullptr &&
         take_strings(cursor, view.landlock_rule_count, view.landlock_paths) &&
         take_strings(cursor, view.wrapper_count, view.wrapper) &&
         take_strings(cursor, view.argv_count, view.argv) &&
         take_strings(cursor, view.environment_count, view.environment) &&
         take_strings(cursor, mount_words, view.mount_words) && cursor.at == cursor.end;
}

}  // namespace paddock::kernel
