#include "sim/app/gemm_command.h"

#include <cmath>

#include "sim/app/cli.h"
#include "sim/app/file_options.h"
#include "sim/app/options.h"
#include "sim/app/output.h"
#include "sim/operators/names.h"
#include "sim/rewrite/gemm_model.h"

namespace accsim::sim {

void GemmModelCommand::add_to(CLI::App& app) {
  sub_ = app.add_subcommand("gemm", "Write a model of one product: Gemm, or MatMul with --batch");
  sub_->footer("Exit codes: 0 done, 2 input that can't be used.");
  sub_->add_option("size", size_, "Rows, reduction and columns, e.g. 128x128x128")
      ->type_name("MxKxN")
      ->required();
  sub_->add_option("-o,--output", output_, "Model file to write")
      ->type_name(kWrittenFile)
      ->required();
  sub_->add_option("--op", op_, "Operator: auto, Gemm or MatMul")
      ->check(CLI::IsMember({"auto", op::kGemm, op::kMatMul}))
      ->capture_default_str();
  sub_->add_option("--batch", batch_, "Products, each with its own operands")
      ->type_name("N")
      ->capture_default_str();
  sub_->add_flag("--transA", trans_a_, "A is stored as K x M");
  sub_->add_flag("--transB", trans_b_, "B is stored as N x K");
  sub_->add_option("--alpha", alpha_, "Factor of the product")
      ->type_name("X")
      ->capture_default_str();
  sub_->add_option("--beta", beta_, "Factor of the bias that --bias adds")
      ->type_name("X")
      ->capture_default_str();
  sub_->add_flag("--bias", bias_, "Adds a bias C of N elements");
  sub_->add_option("--opset", opset_, "Version of ai.onnx that the model is written in")
      ->type_name("N")
      ->check(CLI::Range(int64_t{7}, int64_t{17}))
      ->capture_default_str();
  sub_->add_option("--weights", weights_,
                   "random:SEED stores B and the bias in the file; default: they are inputs")
      ->type_name("random:SEED");
}

int GemmModelCommand::run() const {
  GemmModelOptions options;
  const Result<Dims> size = parse_product(size_, "size");
  if (!size) return report_errors(size.errors());
  if (!std::isfinite(alpha_) || !std::isfinite(beta_))
    return report_errors({{Errc::usage, "must be finite", "--alpha, --beta"}});
  options.m = (*size)[0];
  options.k = (*size)[1];
  options.n = (*size)[2];
  options.batch = batch_;
  options.a_transposed = trans_a_;
  options.b_transposed = trans_b_;
  options.alpha = alpha_;
  options.beta = beta_;
  options.bias = bias_;
  options.opset = opset_;
  options.force_matmul = op_ == op::kMatMul;
  if (sub_->count("--beta") > 0 && !bias_)
    return report_errors({{Errc::usage, "is the factor of a bias; add one with --bias", "--beta"}});
  if (op_ == op::kGemm && batch_ > 1)
    return report_errors({{Errc::usage, "Gemm has no batch; use --op MatMul", "--batch"}});
  if (!weights_.empty()) {
    options.weight_seed = random_seed(weights_);
    if (!options.weight_seed)
      return report_errors({{Errc::usage, "'" + weights_ + "' is not random:SEED", "--weights"}});
  }
  const Result<std::string> bytes = gemm_model(options);
  return bytes ? write_result(output_, *bytes) : report_errors(bytes.errors());
}

}  // namespace accsim::sim
