#pragma once
// The token by which a client on TCP shows that it may be there, where the kernel does not say who
// it is.

#include <string>
#include <string_view>

#include "kernel/base/error.hpp"

namespace paddock::supervisor {

constexpr std::size_t token_bytes_min = 16;
constexpr std::size_t token_bytes_max = 1024;

// The token in a file, without the newline at its end. Fails with io, and the message names the
// file: it or its directory may be written by others than root and this process's user, or read by
// others than its group; or what it holds is no token.
kernel::Result<std::string> read_token_file(const std::string& path);

// True if an Authorization header holds `token`: as a bearer token, or as the password of basic
// authentication, which is what "http://any:TOKEN@127.0.0.1:8231" becomes in clients that know no
// tokens. Takes as long for each wrong token of the right length.
bool is_authorized(std::string_view authorization, std::string_view token);

}  // namespace paddock::supervisor
