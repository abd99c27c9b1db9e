#include "spool/claim.h"

#include <fcntl.h>
#include <unistd.h>

namespace rankscope::collectors {

Claim::Claim(const std::filesystem::path& path) : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  if (file_ < 0 || fcntl(file_, F_SETLK, &whole) == 0) return;
  close(file_);
  file_ = -1;
}

Claim::~Claim() {
  if (file_ >= 0) close(file_);
}

}  // namespace rankscope::collectors
