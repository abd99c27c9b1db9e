// Two functions of newer C libraries that the static C++ library asks for, so that the recorder runs on older ones, too
// (docs/install.md). They are ours alone: the library exports neither.
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cstdint>
#include <cstdlib>

#if defined(__x86_64__) && __has_include(<bits/dl_find_object.h>)

// glibc 2.36; only std::random_device, which nothing here uses.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() noexcept;
extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  if (getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) std::abort();
  return value;
}

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* found;
};

int look_at(dl_phdr_info* object, std::size_t, void* data) {
  const auto& search = *static_cast<const Search*>(data);
  const ElfW(Phdr)* frames = nullptr;
  const ElfW(Phdr)* holder = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object->dlpi_phdr[i];
    const std::uintptr_t begin = object->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_GNU_EH_FRAME) frames = &header;
    if (header.p_type == PT_LOAD && search.address - begin < header.p_memsz) holder = &header;
  }
  if (holder == nullptr || frames == nullptr) return 0;
  *search.found = {};
  // NOLINTBEGIN(performance-no-int-to-ptr)
  search.found->dlfo_map_start = reinterpret_cast<void*>(object->dlpi_addr + holder->p_vaddr);
  search.found->dlfo_map_end = reinterpret_cast<void*>(object->dlpi_addr + holder->p_vaddr + holder->p_memsz);
  search.found->dlfo_eh_frame = reinterpret_cast<void*>(object->dlpi_addr + frames->p_vaddr);
  // NOLINTEND(performance-no-int-to-ptr)
  return 1;
}

}  // namespace

// glibc 2.35; where the unwinder finds the frames of the code at an address.
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(void* address, dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

#endif
