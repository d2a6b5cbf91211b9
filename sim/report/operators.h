#pragma once
#include <string>

namespace accsim::sim {

/// The op table as Markdown: every operator that has a row, with its domain, first opset, inputs
/// and fate. docs/operators.md is this text.
std::string operators_markdown();

}  // namespace accsim::sim
