#include "sim/app/gemm_command.h"

#include <cmath>

#include "sim/app/cli.h"
#include "sim/app/options.h"
#include "sim/app/output.h"
#include "sim/operators/names.h"
#include "sim/rewrite/gemm_model.h"

namespace accsim::sim {

void GemmModelCommand::add_to(Command& program) {
  sub_ = &program.add_command("gemm", "Write a model of one product: Gemm, or MatMul with --batch");
  sub_->footer = "Exit codes: 0 done, 2 input that can't be used.";
  sub_->add(
      {{.name = "size",
        .to = &size_,
        .about = "Rows, reduction and columns, e.g. 128x128x128",
        .metavar = "MxKxN",
        .required = true},
       {.name = "-o,--output",
        .to = &output_,
        .about = "Model file to write",
        .kind = ValueKind::written_file,
        .required = true},
       {.name = "--op",
        .to = &op_,
        .about = "Operator: auto, Gemm or MatMul",
        .choices = {"auto", op::kGemm, op::kMatMul},
        .shows_default = true},
       {.name = "--batch",
        .to = &batch_,
        .about = "Products, each with its own operands",
        .shows_default = true},
       {.name = "--transA", .to = &trans_a_, .about = "A is stored as K x M"},
       {.name = "--transB", .to = &trans_b_, .about = "B is stored as N x K"},
       {.name = "--alpha", .to = &alpha_, .about = "Factor of the product", .shows_default = true},
       {.name = "--beta",
        .to = &beta_,
        .about = "Factor of the bias that --bias adds",
        .shows_default = true},
       {.name = "--bias", .to = &bias_, .about = "Add a bias C of N elements"},
       {.name = "--opset",
        .to = &opset_,
        .about = "Version of ai.onnx that the model is written in",
        .range = OptionRange{7, 17},
        .shows_default = true},
       {.name = "--weights",
        .to = &weights_,
        .about = "random:SEED stores B and the bias in the file. Default: they are inputs",
        .metavar = "random:SEED"}});
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
  if (sub_->is_given("--beta") && !bias_)
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
