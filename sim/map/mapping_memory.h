#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace accsim::sim {

struct Mapping;

/// Mappings that have been found, by what they depend on: networks that differ in a size have most
/// of their ops in common, and so have machines that differ in a field. Threads may share it.
class MappingMemory {
 public:
  using Found = std::shared_ptr<const Mapping>;

  /// What is known of machines and options that are alike to an op, by what identifies the op. The
  /// same one for the same op, whoever finds it.
  class Alike {
   public:
    explicit Alike(std::atomic<size_t>& count) : count_(count) {}
    /// nullptr when nothing is known.
    Found find(const std::string& op) const;
    /// Returns what is known from now on: what another thread has found meanwhile, or this.
    Found add(const std::string& op, Found mapping);

   private:
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Found> known_;
    std::atomic<size_t>& count_;
  };

  /// What is known under such a key. It may be used as long as the memory lives; who comes after
  /// make_room() may be given another one.
  std::shared_ptr<Alike> alike_of_key(const std::string& key);
  /// Forgets everything when too much is known.
  void make_room();

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Alike>> alike_;
  std::atomic<size_t> count_ = 0;
};

}  // namespace accsim::sim
