// SPDX-License-Identifier: MIT
#include "core/require.hpp"
#include "udv/recover/factors/factorization.hpp"

namespace udv {

const std::array<Method, 4>& methods() {
  static constexpr std::array<Method, 4> kMethods{{
      {"bm", "U U^*", true, false},
      {"udu", "U D U^*", true, true},
      {"uv", "U V^*", false, false},
      {"udv", "U D V^*", false, true},
  }};
  return kMethods;
}

const Method& method_named(std::string_view name) {
  for (const Method& method : methods())
    if (method.name == name) return method;
  throw InvalidArgument(message("method '", name, "' found, one of bm, udu, uv, udv expected"));
}

}  // namespace udv
