#include "inject/c10d/relocations.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "rankscope/core/format.h"

namespace rankscope::inject::c10d {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t absolute = R_X86_64_64, data_slot = R_X86_64_GLOB_DAT, jump_slot = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr std::uint32_t absolute = R_AARCH64_ABS64, data_slot = R_AARCH64_GLOB_DAT, jump_slot = R_AARCH64_JUMP_SLOT;
#else
#error "which relocations carry addresses of functions on this architecture?"
#endif

/// A loaded library as its program headers and its dynamic section describe it.
struct Image {
  std::string path{};
  std::uintptr_t base = 0, begin = 0, end = 0;
  std::uintptr_t relro_begin = 0, relro_end = 0;  ///< read-only since it was relocated
  const Elf64_Sym* symbols = nullptr;
  const char* texts = nullptr;
  std::array<std::span<const Elf64_Rela>, 2> relocations{};  ///< of data, of the jump table

  [[nodiscard]] bool holds(const void* address) const {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return at >= begin && at < end;
  }
};

// NOLINTBEGIN(performance-no-int-to-ptr): addresses in ELF tables are integers
template <class T>
T* at(std::uintptr_t address) {
  return reinterpret_cast<T*>(address);
}
// NOLINTEND(performance-no-int-to-ptr)

void read_dynamic(const Elf64_Dyn* entry, Image& image) {
  std::uintptr_t data = 0, jumps = 0;
  std::size_t data_bytes = 0, jump_bytes = 0;
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) image.symbols = at<const Elf64_Sym>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_STRTAB) image.texts = at<const char>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_RELA) data = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) data_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_JMPREL) jumps = entry->d_un.d_ptr;
    if (entry->d_tag == DT_PLTRELSZ) jump_bytes = entry->d_un.d_val;
  }
  image.relocations = {std::span{at<const Elf64_Rela>(data), data_bytes / sizeof(Elf64_Rela)},
                       std::span{at<const Elf64_Rela>(jumps), jump_bytes / sizeof(Elf64_Rela)}};
}

void read_headers(const dl_phdr_info& info, Image& image) {
  image.path = info.dlpi_name;
  image.base = info.dlpi_addr;
  image.begin = UINTPTR_MAX;
  const Elf64_Dyn* dynamic = nullptr;
  for (const Elf64_Phdr& header : std::span{info.dlpi_phdr, info.dlpi_phnum}) {
    const std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) {
      image.begin = std::min(image.begin, begin);
      image.end = std::max(image.end, begin + header.p_memsz);
    }
    if (header.p_type == PT_DYNAMIC) dynamic = at<const Elf64_Dyn>(begin);
    if (header.p_type != PT_GNU_RELRO) continue;
    image.relro_begin = begin;
    image.relro_end = begin + header.p_memsz;
  }
  if (dynamic != nullptr) read_dynamic(dynamic, image);
}

struct Search {
  std::string_view name;
  Image image{};
};

/// The first library of that file name; its path is empty if there is none.
Image find_image(const char* library) {
  Search search{library};
  const auto look = [](dl_phdr_info* info, std::size_t, void* data) {
    Search& wanted = *static_cast<Search*>(data);
    const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    if (path.substr(path.rfind('/') + 1) != wanted.name) return 0;
    read_headers(*info, wanted.image);
    return 1;
  };
  dl_iterate_phdr(look, &search);
  return search.image;
}

struct Target {
  const Hook* hook;
  void* real;
  std::size_t slots = 0;
};
struct Slot {
  std::atomic<void*>* place;
  void* ours;
};

std::vector<Target> targets_of(void* handle, std::span<const Hook> hooks) {
  std::vector<Target> targets;
  for (const Hook& hook : hooks) targets.push_back({&hook, dlsym(handle, hook.symbol)});
  std::ranges::stable_sort(targets, {}, &Target::real);
  return targets;
}

/// Aliases share an address, so the name decides.
Target* target_of(const Image& image, const Elf64_Sym& symbol, std::vector<Target>& targets) {
  void* const address = at<void>(image.base + symbol.st_value);
  for (auto found = std::ranges::lower_bound(targets, address, {}, &Target::real);
       found != targets.end() && found->real == address; ++found)
    if (std::strcmp(image.texts + symbol.st_name, found->hook->symbol) == 0) return &*found;
  return nullptr;
}

/// False if somebody else stands in front of one of them.
bool find_slots(const Image& image, std::vector<Target>& targets, std::vector<Slot>& slots) {
  for (const auto& table : image.relocations) {
    for (const Elf64_Rela& entry : table) {
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry.r_info));
      if (type != absolute && type != data_slot && type != jump_slot) continue;
      const Elf64_Sym& symbol = image.symbols[ELF64_R_SYM(entry.r_info)];
      if (symbol.st_shndx == SHN_UNDEF) continue;
      Target* const target = target_of(image, symbol, targets);
      if (target == nullptr || entry.r_addend != 0) continue;
      auto* const place = at<std::atomic<void*>>(image.base + entry.r_offset);
      const void* const now = place->load();
      // A jump that was never made still leads to the loader, through the library itself.
      if (now != target->real && !(type == jump_slot && image.holds(now))) return false;
      slots.push_back({place, target->hook->ours});
      ++target->slots;
    }
  }
  return true;
}

bool write(const Image& image, const Slot& slot) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto place = reinterpret_cast<std::uintptr_t>(slot.place);
  void* const begin = at<void>(place & ~(page - 1));
  const bool read_only = place >= image.relro_begin && place < (image.relro_end & ~(page - 1));
  if (read_only && mprotect(begin, page, PROT_READ | PROT_WRITE) != 0) return false;
  slot.place->store(slot.ours);
  if (read_only) mprotect(begin, page, PROT_READ);
  return true;
}

std::string why_incomplete(std::span<const Target> targets) {
  for (const Target& target : targets) {
    if (target.hook->need == Hook::Need::optional) continue;
    if (target.real == nullptr) return format("it does not export {}", target.hook->symbol);
    if (target.slots == 0) return format("it does not call {} by its symbol", target.hook->symbol);
  }
  return {};
}

/// Puts back what was there, after a page that could not be written.
void undo(const Image& image, std::span<const Slot> slots, std::span<const Target> targets) {
  for (const Slot& slot : slots)
    for (const Target& target : targets)
      if (target.hook->ours == slot.ours) write(image, {slot.place, target.real});
}

}  // namespace

std::string stand_in_front(const char* library, std::span<const Hook> hooks) {
  const Image image = find_image(library);
  if (image.path.empty() || image.symbols == nullptr || image.texts == nullptr)
    return format("{} is not loaded", library);
  void* const handle = dlopen(image.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return format("{} cannot be opened", library);
  std::vector<Target> targets = targets_of(handle, hooks);
  std::vector<Slot> slots;
  if (!find_slots(image, targets, slots)) return "another tool already intercepts its functions";
  if (std::string why = why_incomplete(targets); !why.empty()) return why;
  for (const Target& target : targets) *target.hook->next = target.real;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (write(image, slots[i])) continue;
    undo(image, std::span(slots).first(i), targets);
    return "its relocation tables cannot be written";
  }
  return {};  // the library stays loaded: the handle is not closed
}

void* exported_by(const char* library, const char* symbol) {
  const Image image = find_image(library);
  void* const handle = image.path.empty() ? nullptr : dlopen(image.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  return handle == nullptr ? nullptr : dlsym(handle, symbol);
}

}  // namespace rankscope::inject::c10d
