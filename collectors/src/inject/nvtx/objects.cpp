#include "inject/nvtx/objects.h"

#include "inject/nccl/version.h"
#include "rankscope/core/utf8.h"

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
  if (domain->is_nccl) nccl::prepare_for_plugin();  // its first call, ncclCommInitRank at the latest, makes the domain
  domain->kind = domain->is_nccl ? SpanKind::api : SpanKind::user;
  domain->names_it = !domain->is_nccl && !name.empty();
  return domain;
}

std::string_view narrow(const wchar_t* text, char* buffer, std::size_t size) {
  std::size_t used = 0;
  const auto put = [&](char byte) { buffer[used++] = byte; };
  for (; text != nullptr && *text != L'\0' && used + 4 <= size; ++text)
    put_utf8(static_cast<std::uint32_t>(*text), put);  // NOLINT(bugprone-signed-char-misuse): never negative
  return {buffer, used};
}

}  // namespace rankscope::inject
