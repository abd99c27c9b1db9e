// A libnccl whose functions and variables are found by the names in its symbol table, exported or not.
#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace nccl_caller {

constexpr int cannot_be_tried = 77;

[[noreturn]] inline void give_up(const char* why, const char* what = "") {
  std::fprintf(stderr, "nccl_caller: %s%s\n", why, what);
  std::exit(cannot_be_tried);
}
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "nccl_caller: %s\n", what);
  std::exit(1);
}

/// libnccl with the addresses of what it does not export.
class Nccl {
 public:
  explicit Nccl(const char* path) : library_(dlopen(path, RTLD_NOW)) {
    if (library_ == nullptr) give_up("cannot load ", dlerror());
    if (dlinfo(library_, RTLD_DI_LINKMAP, &map_) != 0) give_up("libnccl has no link map");
    read_symbols(map_->l_name);
  }
  template <class Function>
  Function exported(const char* name) const {
    const auto function = reinterpret_cast<Function>(dlsym(library_, name));
    if (function == nullptr) give_up("libnccl lacks ", name);
    return function;
  }
  [[nodiscard]] bool has(const char* name) const { return symbols_.contains(name); }
  void* internal(const char* name) const { return reinterpret_cast<void*>(map_->l_addr + offset_of(name)); }
  template <class... Arguments>
  void call(const char* name, Arguments... arguments) const {
    const auto function = reinterpret_cast<int (*)(Arguments...)>(internal(name));
    require(function(arguments...) == 0, name);
  }
  /// A variable of the calling thread.
  [[nodiscard]] char* of_thread(const char* name) const {
    void* block = nullptr;
    if (dlinfo(library_, RTLD_DI_TLS_DATA, &block) != 0 || block == nullptr) give_up("libnccl has no thread data yet");
    return static_cast<char*>(block) + offset_of(name);
  }

 private:
  std::uintptr_t offset_of(const char* name) const {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) give_up("the symbol table of libnccl lacks ", name);
    return found->second;
  }
  void read_symbols(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status {};
    if (file < 0 || fstat(file, &status) != 0) give_up("cannot read ", path);
    const auto size = static_cast<std::size_t>(status.st_size);
    void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED) give_up("cannot map ", path);
    const char* const base = static_cast<const char*>(bytes);
    const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(base);
    const auto* const sections = reinterpret_cast<const ElfW(Shdr)*>(base + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
      if (sections[i].sh_type != SHT_SYMTAB) continue;
      const auto* const symbols = reinterpret_cast<const ElfW(Sym)*>(base + sections[i].sh_offset);
      const char* const names = base + sections[sections[i].sh_link].sh_offset;
      for (std::size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k)
        symbols_.emplace(names + symbols[k].st_name, symbols[k].st_value);
    }
    munmap(bytes, size);
  }

  void* library_;
  link_map* map_ = nullptr;
  std::map<std::string, std::uintptr_t> symbols_;
};

/// Memory of a structure of NCCL's; what is not set is zero.
class Structure {
 public:
  explicit Structure(std::size_t bytes) : bytes_((bytes + 7) / 8) {}
  template <class T>
  void set(std::size_t offset, T value) {
    std::memcpy(at(offset), &value, sizeof value);
  }
  template <class T>
  [[nodiscard]] T read(std::size_t offset) {
    T value{};
    std::memcpy(&value, at(offset), sizeof value);
    return value;
  }
  [[nodiscard]] char* at(std::size_t offset) { return reinterpret_cast<char*>(bytes_.data()) + offset; }
  [[nodiscard]] void* address() { return bytes_.data(); }

 private:
  std::vector<std::uint64_t> bytes_;
};

}  // namespace nccl_caller
