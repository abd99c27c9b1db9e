#include "importers/nsys/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

#include "rankscope/core/format.h"
#include "rankscope/core/regular_file.h"

namespace rankscope::analyzer::nsys {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic{"SQLite format 3\0", 16};
// Where SQLite's writers hold their locks (sqlite3.c, PENDING_BYTE and SHARED_SIZE).
constexpr off_t lock_start = 0x40000000;
constexpr off_t lock_length = 512;
constexpr int longest_value = 64 << 20;  // bytes; a damaged length must not take all memory

/// The path as a URI: SQLite takes "immutable" only there.
std::string uri_of(const fs::path& path) {
  std::string uri = "file:";
  for (const char letter : fs::absolute(path).string()) {
    const bool plain = (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
                       (letter >= 'a' && letter <= 'z') || std::strchr("/._-", letter) != nullptr;
    uri += plain ? std::string{letter} : format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return uri + "?mode=ro&immutable=1";
}

bool is_being_written(const fs::path& path) {
  const int file = open_regular_file(path).value_or(-1);
  if (file < 0) return false;
  struct flock lock {};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = lock_start;
  lock.l_len = lock_length;
  const bool known = ::fcntl(file, F_OFD_GETLK, &lock) == 0;
  ::close(file);
  return known && lock.l_type == F_WRLCK;
}

/// A number of SQLite's header, which is big endian.
std::uint32_t header_number(std::string_view head, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8U | static_cast<unsigned char>(head[at + i]);
  return value;
}

/// The size that the header states (https://sqlite.org/fileformat.html 1.3); 0 where it states none.
std::uint64_t stated_size(std::string_view head) {
  constexpr std::size_t page_size_at = 16;
  constexpr std::size_t change_counter_at = 24;
  constexpr std::size_t page_count_at = 28;
  constexpr std::size_t valid_for_at = 92;
  if (header_number(head, change_counter_at) != header_number(head, valid_for_at)) return 0;
  const std::uint32_t page = header_number(head, page_size_at) >> 16U;  // 1 stands for 65536
  return std::uint64_t{page == 1 ? 65536 : page} * header_number(head, page_count_at);
}

bool holds_bytes(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return !error && size > 0;
}

tl::unexpected<Error> refuse(const fs::path& path, std::string_view why) {
  return fail(ErrorKind::unreadable, format("{} {}", path.string(), why));
}

/// What can be seen from outside; SQLite's own messages would not say what to do.
Result<void> check_file(const fs::path& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return refuse(path, "is not a readable file");
  std::ifstream file{path, std::ios::binary};
  if (!file) return refuse(path, "cannot be opened for reading");
  std::array<char, 100> head{};
  file.read(head.data(), head.size());
  const std::string_view read{head.data(), static_cast<std::size_t>(file.gcount())};
  if (read.empty()) return refuse(path, "is empty: export the report again with nsys export --type sqlite");
  if (!read.starts_with(magic)) {
    const bool report = path.extension() == ".nsys-rep" || path.extension() == ".qdrep";
    return refuse(path, report ? "is a report of Nsight Systems in its own format: export it with "
                                 "nsys export --type sqlite --include-blobs=true"
                               : "is not an SQLite database: export the report with nsys export --type sqlite");
  }
  const auto size = fs::file_size(path, error);
  if (read.size() < head.size() || (!error && size < stated_size(read)))
    return refuse(path, format("is damaged: it has only {} of {} bytes; copy or export it again", size,
                               std::max<std::uint64_t>(stated_size({head.data(), head.size()}), head.size())));
  for (const std::string_view suffix : {"-wal", "-journal"})
    if (holds_bytes(path.string() + std::string{suffix}))
      return refuse(path, format("has a file with unfinished changes next to it ({}{}): the export is still running, "
                                 "or it was killed; wait until it ends, or export the report again",
                                 path.filename().string(), suffix));
  if (is_being_written(path))
    return refuse(path, "is locked by a program that is writing it: wait until the export ends");
  return {};
}

std::string quoted_name(std::string_view name) {
  std::string text = "\"";
  for (const char letter : name) text += letter == '"' ? std::string{"\"\""} : std::string{letter};
  return text + "\"";
}

}  // namespace

void Rows::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Rows::Rows(sqlite3_stmt* statement, std::string context)
    : statement_(statement), context_(std::move(context)), status_(SQLITE_OK) {}

bool Rows::next() {
  status_ = sqlite3_step(statement_.get());
  return status_ == SQLITE_ROW;
}

Result<void> Rows::finish() const {
  if (status_ == SQLITE_DONE || status_ == SQLITE_ROW || status_ == SQLITE_OK) return {};
  return fail(ErrorKind::unreadable, format("{} ({}): the file is damaged or incomplete; export the report again",
                                            context_, sqlite3_errstr(status_)));
}

void Rows::restart(std::int64_t parameter) {
  sqlite3_reset(statement_.get());
  sqlite3_bind_int64(statement_.get(), 1, parameter);
}

bool Rows::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::optional<std::int64_t> Rows::integer(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
    case SQLITE_INTEGER:
      return sqlite3_column_int64(statement_.get(), column);
    case SQLITE_FLOAT: {
      const double value = sqlite3_column_double(statement_.get(), column);
      return std::abs(value) < 9.2e18 ? std::optional{static_cast<std::int64_t>(value)} : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::int64_t Rows::integer_or(int column, std::int64_t otherwise) const { return integer(column).value_or(otherwise); }

std::optional<double> Rows::real(int column) const {
  const int type = sqlite3_column_type(statement_.get(), column);
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return std::nullopt;
  const double value = sqlite3_column_double(statement_.get(), column);
  return std::isfinite(value) ? std::optional{value} : std::nullopt;
}

std::string_view Rows::text(int column) const {
  const unsigned char* first = sqlite3_column_text(statement_.get(), column);
  if (first == nullptr) return {};
  return {reinterpret_cast<const char*>(first),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::span<const std::byte> Rows::bytes(int column) const {
  const auto* first = static_cast<const std::byte*>(sqlite3_column_blob(statement_.get(), column));
  if (first == nullptr) return {};
  return {first, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<Database> Database::open(const fs::path& path) {
  RS_TRY_VOID(check_file(path));
  Database database{path};
  RS_TRY_VOID(database.connect());
  RS_TRY_VOID(database.read_schema());
  if (!database.has("StringIds"))
    return refuse(path, "is an SQLite database, but not an export of Nsight Systems: it has no table StringIds");
  return database;
}

Result<void> Database::connect() {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(uri_of(path_).c_str(), &handle,
                                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (status != SQLITE_OK) return refuse(path_, format("cannot be opened: {}", sqlite3_errstr(status)));
  // The file may come from anybody: its schema must not run functions, and its sizes are not believed.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, longest_value);
  sqlite3_exec(handle, "PRAGMA cell_size_check=ON", nullptr, nullptr, nullptr);
  return {};
}

Result<void> Database::read_schema() {
  // Only plain tables: a view could compute anything, for ever.
  RS_TRY(Rows names, query("SELECT name FROM sqlite_master WHERE type='table' AND sql NOT LIKE 'CREATE VIRTUAL%'",
                           "its list of tables"));
  while (names.next()) tables_.try_emplace(std::string{names.text(0)});
  RS_TRY_VOID(names.finish());
  for (auto& [table, columns] : tables_) {
    RS_TRY(Rows rows, query(format("PRAGMA table_info({})", quoted_name(table)), table));
    while (rows.next()) columns.emplace(rows.text(1));
    RS_TRY_VOID(rows.finish());
  }
  return {};
}

Result<Rows> Database::query(const std::string& sql, std::string_view what) const {
  std::string context = format("{}: cannot read {}", path_.string(), what);
  sqlite3_stmt* statement = nullptr;
  const int status = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr);
  if (status == SQLITE_OK && statement != nullptr) return Rows{statement, std::move(context)};
  return fail(ErrorKind::unreadable, format("{} ({}): the file is damaged or incomplete; export the report again",
                                            context, sqlite3_errstr(status)));
}

bool Database::has(std::string_view table, std::string_view column) const {
  const auto found = tables_.find(table);
  return found != tables_.end() && found->second.contains(column);
}

Result<Rows> Database::rows(std::string_view table, std::span<const std::string_view> columns,
                            std::string_view tail) const {
  std::string sql = "SELECT ";
  for (const std::string_view column : columns) {
    if (sql.size() > 7) sql += ',';
    sql += has(table, column) ? quoted_name(column) : std::string{"NULL"};
  }
  return query(format("{} FROM {} {}", sql, quoted_name(table), tail), format("table {}", table));
}

std::uint64_t Database::row_count(std::string_view table) const {
  if (!has(table)) return 0;
  // Not count(*): it would read the whole table.
  auto rows_ = query(format("SELECT max(rowid) FROM {}", quoted_name(table)), table);
  if (!rows_ || !rows_->next()) return 0;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(rows_->integer_or(0, 0), 0));
}

std::string Database::setting(std::string_view table, std::string_view name) const {
  constexpr std::array<std::string_view, 2> columns{"name", "value"};
  if (!has(table, columns[0]) || !has(table, columns[1])) return {};
  auto rows_ = rows(table, columns);
  while (rows_ && rows_->next())
    if (rows_->text(0) == name) return std::string{rows_->text(1)};
  return {};
}

}  // namespace rankscope::analyzer::nsys
