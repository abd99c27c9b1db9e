#include "importers/kineto/input.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::size_t block_size = std::size_t{1} << 20;
constexpr std::size_t most_blocks = 4;  // unpacked and not yet read
constexpr std::size_t most_layers = 4;
constexpr int gzip_only = 16 + MAX_WBITS;

}  // namespace

Result<MappedText> MappedText::open(const std::filesystem::path& path) {
  const auto error = [&path] {
    return fail(ErrorKind::unreadable,
                format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return error();
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

/// One gzip layer: turns bytes that are put in into bytes that are taken out.
class Unpacker::Layer {
 public:
  Layer() { ready_ = inflateInit2(&stream_, gzip_only) == Z_OK; }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer() { inflateEnd(&stream_); }

  void put(std::string_view packed) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  [[nodiscard]] bool broken() const { return broken_ || !ready_; }
  /// True between two members: here the data may end.
  [[nodiscard]] bool complete() const { return complete_; }

  /// Unpacks into `out`, up to a block; false if nothing more can be had from what was put in.
  bool take(std::string& out) {
    out.resize(block_size);
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    while (!broken() && stream_.avail_out > 0 && (stream_.avail_in > 0 || pending_)) {
      if (complete_) inflateReset(&stream_);  // another member
      complete_ = false;
      const int state = inflate(&stream_, Z_NO_FLUSH);
      if (state == Z_STREAM_END)
        end_member();
      else if (state == Z_BUF_ERROR)
        break;
      else if (state != Z_OK)
        broken_ = true;
      pending_ = false;
    }
    pending_ = stream_.avail_out == 0 && !complete_;  // zlib may hold back what did not fit
    out.resize(out.size() - stream_.avail_out);
    return (stream_.avail_in > 0 || pending_) && !broken();
  }

 private:
  /// Some writers fill the last block with zeros; that is no member.
  void end_member() {
    complete_ = true;
    while (stream_.avail_in > 0 && *stream_.next_in == 0) {
      ++stream_.next_in;
      --stream_.avail_in;
    }
  }

  z_stream stream_{};
  bool ready_ = false;
  bool complete_ = false;
  bool broken_ = false;
  bool pending_ = false;
};

Unpacker::Unpacker(std::string_view packed) : packed_size_(packed.size()) {
  layers_.push_back(std::make_unique<Layer>());
  worker_ = std::jthread{[this, packed](const std::stop_token& stop) {
    std::string_view rest = packed;
    while (!rest.empty() && !stop.stop_requested() && !layers_.front()->broken()) {
      const std::string_view piece = rest.substr(0, block_size);
      rest.remove_prefix(piece.size());
      layers_.front()->put(piece);
      {
        const std::lock_guard lock{mutex_};
        used_ = packed_size_ - rest.size();
      }
      run(stop);
    }
    const std::lock_guard lock{mutex_};
    incomplete_ = std::ranges::any_of(layers_, [](const auto& layer) { return layer->broken() || !layer->complete(); });
    ended_ = true;
    changed_.notify_all();
  }};
}

/// Takes everything out of the layers that can be had from what was put into the first one.
void Unpacker::run(const std::stop_token& stop) {
  bool more = true;
  while (more && !stop.stop_requested()) {
    std::string block;
    more = layers_.front()->take(block);
    for (std::size_t i = 1; i <= layers_.size() && !block.empty(); ++i) {
      if (i == layers_.size()) {
        const bool packed_again = used_layers_ < i && block.starts_with("\x1f\x8b") && i < most_layers;
        used_layers_ = i;
        if (!packed_again) break;
        layers_.push_back(std::make_unique<Layer>());
      }
      std::string inner;
      layers_[i]->put(block);
      std::string piece;
      while (layers_[i]->take(piece)) inner += piece;
      inner += piece;
      block = std::move(inner);
    }
    if (block.empty()) continue;
    std::unique_lock lock{mutex_};
    changed_.wait(lock, stop, [this] { return blocks_.size() < most_blocks; });
    blocks_.push_back(std::move(block));
    changed_.notify_all();
  }
}

Unpacker::~Unpacker() {
  worker_.request_stop();
  changed_.notify_all();
}

std::string Unpacker::next() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return !blocks_.empty() || ended_; });
  if (blocks_.empty()) return {};
  std::string block = std::move(blocks_.front());
  blocks_.pop_front();
  changed_.notify_all();
  return block;
}

double Unpacker::share_done() const {
  const std::lock_guard lock{mutex_};
  return packed_size_ == 0 ? 1 : static_cast<double>(used_) / static_cast<double>(packed_size_);
}

}  // namespace rankscope::analyzer::kineto
