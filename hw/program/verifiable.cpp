#include "hw/program/verifiable.h"

#include <algorithm>

namespace accsim::hw {
namespace {

bool is_in_the_core(const Command& c) {
  if (const auto* load = std::get_if<LoadCommand>(&c))
    return !load->padded && load->transposed <= 1 && load->buffer != Buffer::accumulator;
  return !std::holds_alternative<VectorCommand>(c);
}

bool all_in_the_core(const std::vector<Item>& body) {
  return std::ranges::all_of(body, [](const Item& item) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) return all_in_the_core(loop->body);
    const auto* command = std::get_if<Command>(&item.node);
    return !command || is_in_the_core(*command);
  });
}

}  // namespace

bool is_verifiable(const Program& program) { return all_in_the_core(program.body); }

}  // namespace accsim::hw
