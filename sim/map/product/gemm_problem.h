#pragma once
#include <optional>
#include <string>
#include <variant>

#include "hw/config/type_modes.h"
#include "hw/program/program.h"
#include "sim/map/kind.h"
#include "sim/map/request.h"
#include "sim/map/tile_segments.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// A GemmOp on a machine: element sizes and operand places decided, tile sizes still open.
/// Activations lie in memory pixel by pixel with the channels innermost (NHWC).
struct GemmProblem {
  GemmOp op;
  Place a, b, parameters, out;
  bool has_parameters = false;    ///< a parameter table is read: bias or requantisation
  bool same_parameters = false;   ///< and all output channels have the same ones
  hw::Epilogue epilogue{};        ///< of its posts, limits left out
  std::optional<Place> residual;  ///< of a tensor like the output that the post unit adds
  bool clips_sum = false;         ///< the sum with the residual is clipped at zero
  int32_t a_zero = 0;             ///< zero point of the activations
  int64_t a_bytes = 1, out_bytes = 1, parameter_bytes = 0;
  hw::Encoding b_encoding{};  ///< packed: constant weights of 4 bits (choose_weights())
  int64_t scale_group = 0;    ///< of those: channels that share a scale; 0: all of an output's
  int64_t most_groups = 1;    ///< groups that fit the array side by side, block-diagonally
  int mode = hw::kOwnTypes;   ///< of the machine (hw/config/type_modes.h)
  int64_t room = 0;           ///< bytes of the shared buffer that nothing else needs
  Slide z, y, x;              ///< output planes, lines and pixels; x.in = M for a plain product

  /// With the limits that its posts have.
  hw::Epilogue post_epilogue() const;
  int64_t kernel_taps() const { return z.kernel * y.kernel * x.kernel; }
  /// Channels of a pixel in memory, over all groups.
  int64_t pixel_channels() const { return op.grouped ? op.batch * op.channels : op.channels; }
  int64_t pixel_outputs() const { return op.grouped ? op.batch * op.outputs : op.outputs; }

  /// Bytes of so many weights that lie in one row of a slot.
  int64_t weight_row(int64_t elements) const { return b_encoding.row_bytes(elements); }
  /// Bytes of a weight that isn't packed.
  int64_t b_bytes() const { return b_encoding.element_bytes(); }
  /// Bytes of so many in rows of `most`, the last one with what is left.
  int64_t weight_rows(int64_t elements, int64_t most) const {
    return elements / most * weight_row(most) + weight_row(elements % most);
  }
  /// Bytes of a weight, rows rounded up left out.
  double weight_size() const {
    return b_encoding.is_packed() ? 0.5 : static_cast<double>(b_bytes());
  }
  /// Groups of channels with a scale each, whose sums a post puts together; they are the tiles that
  /// channels are cut into.
  int64_t scale_count() const { return scale_group > 0 ? ceil_div(op.channels, scale_group) : 1; }
  /// Bytes of the first operand, and of the result, as they lie in memory.
  int64_t a_tensor_bytes() const;
  int64_t out_tensor_bytes() const;
  /// Bytes of all tensors together; weights without what tilings add to them.
  int64_t tensor_bytes() const;
  /// Of those in DRAM.
  int64_t dram_tensor_bytes() const;
  /// Bytes of parameters of an output channel, multipliers of its other groups included.
  int64_t channel_parameters() const {
    return parameter_bytes + (scale_count() - 1) * hw::PostCommand::kGroupBytes;
  }
  /// Bytes of the parameter tensor: all channels, then the table.
  int64_t all_parameters() const {
    return pixel_outputs() * channel_parameters() +
           (epilogue.table ? hw::SetTableCommand::kBytes : 0);
  }
};

/// Are parameters, the same for all channels, loaded once, for as many of them as a post asks for?
/// Not of an input stationary array, whose posts have all channels of a tile as rows.
bool shares_parameters(const GemmProblem& p, hw::Dataflow d);
/// Output channels whose parameters a tile of so many has in its slot.
int64_t parameter_channels(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d,
                           int64_t outputs);

/// The problem of an op in the machine's element types; places, parameters and zero points are
/// left for the caller to fill in, who then calls choose_weights().
GemmProblem make_problem(const GemmOp& op, const hw::HwConfig& hw);

/// May weights of 4 bits lie two to a byte? Not those of grouped convolutions, and not one for each
/// entry of a batch.
bool packs_weights(const GemmOp& op);
/// Of weights. On a machine of int4 weights packed for a product whose second operand is constant
/// and one for all of its batch. Grouped convolutions, and products of two tensors that are
/// computed (attention), have int8.
hw::Encoding weight_encoding(const GemmOp& op, bool constant, const hw::HwConfig& hw);
/// weight_encoding() of the problem's second operand, and where it is packed scales by group.
void choose_weights(GemmProblem& p, const hw::HwConfig& hw);

/// One way to cut a problem. All sizes in elements.
struct Tiling {
  hw::Dataflow dataflow = hw::Dataflow::weight_stationary;
  int64_t images = 1;          ///< images in a tile; > 1 only with whole images
  int64_t lines = 1;           ///< output lines in a tile
  int64_t pixels = 1;          ///< output pixels of a line in a tile; all of them when lines > 1
  int64_t groups = 1;          ///< channel groups computed together as one block-diagonal product
  int64_t outputs = 1;         ///< output channels in a tile, all of those of packed groups
  int64_t channels = 1;        ///< input channels in a tile, likewise; partial sums stay on chip
  bool outputs_outer = false;  ///< loop order: n, m, k instead of m, n, k
  bool im2col = false;         ///< the load engine writes im2col rows instead of the raw window
  int64_t staged = 0;  ///< outputs whose weights are staged together (WeightPanels); 0: none
  friend bool operator==(const Tiling&, const Tiling&) = default;
};

/// One way to cut a depthwise convolution for the lanes of the vector unit (tap_problem.h).
struct TapTiling {
  int64_t lines = 1, pixels = 1, channels = 1;  ///< of the output in a tile
  int64_t repeats = 1;  ///< times that a tap's weights lie one behind the other
  friend bool operator==(const TapTiling&, const TapTiling&) = default;
};

/// How a product is cut, for the array or for the lanes.
using ProductTiling = std::variant<Tiling, TapTiling>;

/// "ws", "is" or "os", as mappings are written.
std::string_view short_name(hw::Dataflow dataflow);

/// "ws 7x56 n64 k256 mnk", with "g16" for packed groups and "s512" for staged weights; as --mapping
/// takes it.
std::string to_string(const Tiling& tiling);
/// The same, or on the lanes "lanes 7x56 g64", or "lanes 7x56 g64, 56 times".
std::string to_string(const GemmProblem& p, const ProductTiling& tiling);

/// How the reduction of one tile is cut into array passes: `passes` of `lanes` (the last one
/// ragged) per position of the outer kernel loops, over a flat index of `flat` elements.
struct Passes {
  bool by_column = false;  ///< kernel columns are a loop of their own (horizontal dilation)
  bool by_line = false;    ///< kernel lines are a loop of their own
  int64_t flat = 0;        ///< elements of the flat index
  int64_t line = 0;        ///< elements of one kernel line in it
  int64_t lanes = 0;       ///< elements of one pass
  int64_t outer = 1;       ///< passes of the outer kernel loops together
  int64_t flat_pass_count() const { return ceil_div(flat, lanes); }
  int64_t pass_count() const { return outer * flat_pass_count(); }
};

/// `channels`: of the tile, over all packed groups.
Passes array_passes(const GemmProblem& p, const hw::HwConfig& hw, int64_t channels, bool im2col);

/// Sizes that follow from a tiling: what the slots must hold.
struct Footprint {
  int64_t activation = 0, weight = 0, parameter = 0, output = 0;  ///< bytes
  int64_t accumulator_rows = 0;
};
/// The largest tile's bytes in each slot, and its accumulator rows.
Footprint tiling_footprint(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t);
/// Bytes of the weights of a tile, as they lie in its slot. Of 4 bits: column blocks of
/// [k][columns], or for input stationary, pass by pass of the array, [n][k of the pass].
int64_t weight_tile_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                          int64_t channels, int64_t outputs);
/// The same of all channels, tile by tile.
int64_t weight_chunk_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                           int64_t outputs);
/// Bytes of the weights of a pack of so many groups, or of so many batch entries.
int64_t pack_weight_bytes(const GemmProblem& p, int64_t groups);
/// Bytes of the weights' tensor, with what the tiling adds to 4-bit ones.
int64_t weight_tensor_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t);
/// Whether every slot and the accumulator hold it.
bool fits(const Footprint& f, const hw::HwConfig& hw);

/// Do dynamic weights lie as [batch][n][k] rather than [batch][k][n]?
bool weights_n_major(const GemmProblem& p);

/// Output pixels that the array holds at a time: columns of it when input stationary, rows when
/// output stationary.
int64_t pixel_lanes(const hw::HwConfig& hw, hw::Dataflow d);

/// Output pixels of one input or output stationary pass over a tile of `pixels`. The tile's pixels
/// are cut, line by line, into as few blocks as pixel_lanes() allows. A border may lie anywhere in
/// a line, and the last block has what is left.
int64_t pixel_block(const hw::HwConfig& hw, hw::Dataflow d, int64_t pixels);

/// A product. Tilings for the array are searched by branch and bound (product_search.h), and those
/// for the lanes as other kinds' are.
struct GemmSource : KindSource<GemmProblem, ProductTiling> {
  static GemmProblem of_request(const GemmOp& op, const OpRequest& r, const hw::HwConfig& hw);
};

}  // namespace accsim::sim
