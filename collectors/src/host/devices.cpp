#include "host/devices.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

namespace rankscope::collectors {

namespace fs = std::filesystem;

bool is_nvidia_device(std::string_view name) {
  constexpr std::array<std::string_view, 4> known{"nvidiactl", "dxg", "nvhost-gpu", "nvgpu"};
  if (std::ranges::find(known, name) != known.end()) return true;
  constexpr std::string_view numbered = "nvidia";
  return name.size() > numbered.size() && name.starts_with(numbered) &&
         name.find_first_not_of("0123456789", numbered.size()) == name.npos;
}

HostDevices host_devices(const fs::path& root) {
  HostDevices found;
  std::error_code error;
  for (fs::directory_iterator entry{root / "dev", error}, end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    found.nvidia = found.nvidia || is_nvidia_device(name);
    found.amd = found.amd || name == "kfd";
  }
  return found;
}

}  // namespace rankscope::collectors
