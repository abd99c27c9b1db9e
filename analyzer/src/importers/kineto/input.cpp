#include "importers/kineto/input.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <system_error>
#include <utility>

#include "importers/shared/gzip_stream.h"
#include "rankscope/core/format.h"
#include "rankscope/core/regular_file.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20;
constexpr std::size_t rest_room = std::size_t{64} << 10;  // for the front of an event that the next block completes
constexpr std::size_t most_blocks = 4;                    // unpacked and not yet read

}  // namespace

Result<MappedText> MappedText::open(const std::filesystem::path& path) {
  const auto error = [&path] {
    return fail(ErrorKind::unreadable,
                format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  };
  RS_TRY(const int file, open_regular_file(path));
  struct stat status {};
  MappedText mapped;
  const bool known = ::fstat(file, &status) == 0;
  if (known && status.st_size > 0) {
    void* const data = ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    if (data != MAP_FAILED) {
      mapped.data_ = static_cast<const char*>(data);
      mapped.size_ = static_cast<std::size_t>(status.st_size);
      ::madvise(data, mapped.size_, MADV_SEQUENTIAL);
    }
  }
  const int code = errno;
  ::close(file);
  errno = code;
  if (!known || (status.st_size > 0 && mapped.data_ == nullptr)) return error();
  return mapped;
}

MappedText::MappedText(MappedText&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedText& MappedText::operator=(MappedText&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedText::~MappedText() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

Unpacker::Unpacker(std::string_view packed)
    : worker_([this, packed](const std::stop_token& stop) { unpack(packed, stop); }) {}

void Unpacker::unpack(std::string_view packed, const std::stop_token& stop) {
  GzipStream stream{packed};
  while (!stop.stop_requested()) {
    Block block = take();
    block.size = stream.read(std::span{block.room}.subspan(rest_room));
    if (block.size == 0) break;
    std::unique_lock lock{mutex_};
    changed_.wait(lock, stop, [this] { return blocks_.size() < most_blocks; });
    blocks_.push_back(std::move(block));
    changed_.notify_all();
  }
  const std::lock_guard lock{mutex_};
  incomplete_ = stream.incomplete();
  ended_ = true;
  changed_.notify_all();
}

Unpacker::Block Unpacker::take() {
  const std::lock_guard lock{mutex_};
  if (spent_.empty()) return {std::string(rest_room + block_size, '\0'), 0};
  Block block = std::move(spent_.back());
  spent_.pop_back();
  return block;
}

Unpacker::~Unpacker() {
  worker_.request_stop();
  changed_.notify_all();
}

std::string_view Unpacker::next(std::string_view rest) {
  Block block;
  {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return !blocks_.empty() || ended_; });
    if (blocks_.empty()) return rest;
    block = std::move(blocks_.front());
    blocks_.pop_front();
    changed_.notify_all();
  }
  std::size_t room = rest_room;
  if (rest.size() > room) {
    block.room.insert(0, rest.size() - room, '\0');
    room = rest.size();
  }
  rest.copy(block.room.data() + room - rest.size(), rest.size());
  std::swap(current_, block);
  if (block.room.size() == rest_room + block_size) {
    const std::lock_guard lock{mutex_};
    spent_.push_back(std::move(block));
  }
  return {current_.room.data() + room - rest.size(), rest.size() + current_.size};
}

bool Unpacker::incomplete() const {
  const std::lock_guard lock{mutex_};
  return incomplete_;
}

}  // namespace rankscope::analyzer::kineto
