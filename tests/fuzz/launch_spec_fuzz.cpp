// Goal: paddock-launch takes exactly what the supervisor encodes, and reads nothing outside it.
// Method: bytes that are decoded as a spec must be the encoding of that spec, byte for byte.

#include "fuzz/property.hpp"
#include "kernel/confine/launch_spec.hpp"

using namespace paddock;
using fuzz::must_hold;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes = fuzz::as_text(data, size);
  const auto spec = kernel::decode_launch_spec(bytes);
  if (!spec) return 0;
  must_hold(spec->filter.size() <= kernel::filter_length_max * kernel::filter_instruction_bytes,
            "the filter is one that the kernel takes");
  must_hold(kernel::encode(*spec) == bytes, "a decoded spec is encoded as it came");
  return 0;
}
