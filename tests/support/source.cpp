#include "tests/support/source.h"

namespace accsim {

const char* source_folder() { return ACCSIM_SOURCE_DIR; }

}  // namespace accsim
