#pragma once
#include <memory>
#include <string>
#include <unordered_map>

namespace accsim::sim {

struct Mapping;

/// Mappings that have been found, by what they depend on: networks that differ in a size have most
/// of their ops in common, and so have machines that differ in a field. Not thread-safe.
class MappingMemory {
 public:
  using Found = std::shared_ptr<const Mapping>;

  /// What is known of machines and options that are alike to an op, by what identifies the op.
  class Alike {
   public:
    explicit Alike(size_t& count) : count_(&count) {}
    /// nullptr when nothing is known.
    Found find(const std::string& op) const;
    void add(const std::string& op, Found mapping);

   private:
    std::unordered_map<std::string, Found> known_;
    size_t* count_;
  };

  /// What is known under such a key; stays where it is until make_room().
  Alike& of(const std::string& key);
  /// Forgets everything when too much is known.
  void make_room();

 private:
  std::unordered_map<std::string, Alike> alike_;
  size_t count_ = 0;
};

}  // namespace accsim::sim
