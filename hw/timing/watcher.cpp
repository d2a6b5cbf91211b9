#include "hw/timing/watcher.h"

namespace accsim::hw {

void Watcher::on_token(const Step&, int64_t) {}
void Watcher::begin_loop(const Step&) {}
void Watcher::end_iteration(const Step&) {}
void Watcher::on_skip(const Step&, int64_t, int64_t, int64_t) {}
void Watcher::end_loop(const Step&) {}

}  // namespace accsim::hw
