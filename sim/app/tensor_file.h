#pragma once
#include <string>
#include <vector>

#include "sim/app/command.h"
#include "sim/run/diff.h"

namespace accsim::sim {

/// Files of tensors on the command line: .npy, .pt and .pth (by Python with torch), and raw
/// elements in files of any other name.
class TensorFiles {
 public:
  /// --dtype, --shape, --model, --tensor and --python.
  void add_to(Command& command);
  /// The first of these that was given; "": none.
  std::string first_given() const;

  /// The tensors of two files. What a raw file doesn't say is as the options, else as the model,
  /// else as the other file has it; without a shape it is one row. Errors name the file.
  Result<std::vector<TensorsOfFile>> read_files(const std::string& a, const std::string& b) const;

 private:
  struct RawType;

  Result<RawType> raw_type() const;
  Status take_model(RawType& type) const;
  Result<TensorsOfFile> read_torch(const std::string& file) const;
  Result<TensorsOfFile> read_stated(const std::string& file) const;
  Status pick_tensor(TensorsOfFile& file) const;

  std::string dtype_, shape_, model_, tensor_, python_;
};

}  // namespace accsim::sim
