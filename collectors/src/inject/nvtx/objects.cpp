#include "inject/nvtx/objects.h"

namespace rankscope::inject {

#ifndef __clang__  // which cannot evaluate the std::string of libstdc++ at compile time; only clang-tidy reads this
                   // with it
constinit
#endif
    Immortal<Domain>
        default_domain;

Domain* new_domain(std::string_view name) {
  auto* const domain = new Domain;
  domain->name = name;
  domain->is_nccl = name == "NCCL";
  domain->kind = domain->is_nccl ? SpanKind::api : SpanKind::user;
  domain->names_it = !domain->is_nccl && !name.empty();
  return domain;
}

std::string_view narrow(const wchar_t* text, char* buffer, std::size_t size) {
  std::size_t used = 0;
  const auto put = [&](std::uint32_t byte) { buffer[used++] = static_cast<char>(byte); };
  for (; text != nullptr && *text != L'\0' && used + 4 <= size; ++text) {
    const auto code = static_cast<std::uint32_t>(*text);  // NOLINT(bugprone-signed-char-misuse): never negative
    if (code < 0x80) {
      put(code);
    } else if (code < 0x800) {
      put(0xC0 | code >> 6);
      put(0x80 | (code & 0x3F));
    } else if (code < 0x10000) {
      put(0xE0 | code >> 12);
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    } else {
      put(0xF0 | (code >> 18 & 0x07));
      put(0x80 | (code >> 12 & 0x3F));
      put(0x80 | (code >> 6 & 0x3F));
      put(0x80 | (code & 0x3F));
    }
  }
  return {buffer, used};
}

}  // namespace rankscope::inject
