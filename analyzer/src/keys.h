// Keys of attributes that code reads or that several importers write: the argument names of PyTorch's Kineto, verbatim.
#pragma once

#include <string_view>

namespace rankscope::analyzer::keys {

inline constexpr std::string_view correlation = "correlation";
inline constexpr std::string_view context = "context";
inline constexpr std::string_view grid = "grid";
inline constexpr std::string_view block = "block";
inline constexpr std::string_view registers = "registers per thread";
inline constexpr std::string_view shared_memory = "shared memory";
inline constexpr std::string_view graph_id = "graph id";
inline constexpr std::string_view graph_node_id = "graph node id";
inline constexpr std::string_view bytes = "bytes";
inline constexpr std::string_view category = "cat";
inline constexpr std::string_view index = "index";
inline constexpr std::string_view sequence_number = "Sequence number";
inline constexpr std::string_view record_function_id = "Record function id";
inline constexpr std::string_view input_dims = "Input Dims";

}  // namespace rankscope::analyzer::keys
