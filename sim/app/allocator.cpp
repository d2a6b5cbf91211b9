/// What jemalloc goes by where the program is linked with it; nothing else reads it. One arena:
/// with several, a thread that has no memory to start its own ends the program by a fault, not by
/// std::bad_alloc.
extern "C" {
// NOLINTBEGIN(readability-*): jemalloc's name, declared for C linkage
extern const char* const malloc_conf;
const char* const malloc_conf = "narenas:1";
// NOLINTEND(readability-*)
}
