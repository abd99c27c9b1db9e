// Names under which secrets are given: of options, variables, keys, headers and fields.
#pragma once

#include <cstdint>
#include <string_view>

namespace rankscope::secrets {

/// How much a name says about its value. `weak` names ("token", "cache_key") are also used for harmless values, so that
/// the value decides, too.
enum class NameKind : std::uint8_t { harmless, weak, strong };

/// Of NAME=VALUE, "NAME": "VALUE" and NAME: VALUE, in any spelling: HF_TOKEN, --hf-token and hfToken are alike.
[[nodiscard]] NameKind kind_of_name(std::string_view name);

/// Of an option of a command, with its dashes. Options are short: --key and --pass are strong here.
[[nodiscard]] NameKind kind_of_option(std::string_view option);

/// True for the value of an option; "--pass 2" is the second pass and "--key /etc/ssl/key.pem" a file.
[[nodiscard]] bool is_secret_of_option(std::string_view option, std::string_view value);

/// Of a parameter in the query of an address, as in ?sig=VALUE.
[[nodiscard]] NameKind kind_of_parameter(std::string_view name);

}  // namespace rankscope::secrets
