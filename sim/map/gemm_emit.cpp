#include <algorithm>
#include <optional>

#include "sim/map/gemm_passes.h"
#include "sim/map/gemm_problem.h"

namespace accsim {
namespace {

/// Writes the loop nest of one tiling: tile loops outside, loads hoisted to the outermost loop that
/// they don't depend on, array passes inside.
class GemmEmitter {
 public:
  GemmEmitter(const GemmProblem& p, const HwConfig& hw, const Tiling& t) : p_(p), hw_(hw), t_(t) {
    order_ = {kBatch, kImage, kZ, kY, kX, kN, kC};
    if (t.outputs_outer) order_ = {kBatch, kN, kImage, kZ, kY, kX, kC};
    for (size_t i = 0; i < order_.size(); ++i) rewind(i);
    const std::vector<Dim> pixels = {kImage, kZ, kY, kX};
    std::vector<Dim> a = {kImage, kZ, kY, kX, kC}, w = {kN, kC}, table = {kN};
    if (!p.op.a_shared) a.push_back(kBatch);
    if (!p.op.b_shared) w.push_back(kBatch);
    if (p.op.grouped) table.push_back(kBatch);
    load_level_ = {level_of(w), level_of(a), level_of(table)};
  }

  Program run() {
    const GemmOp& op = p_.op;
    out_.dataflow = t_.dataflow;
    const int64_t a_batches = op.grouped || op.a_shared ? 1 : op.batch;
    const int64_t out_batches = op.grouped ? 1 : op.batch;
    const int64_t a_pixels = a_batches * op.images * op.in[0] * op.in[1] * op.in[2];
    out_.tensors = {
        {p_.a.name, p_.a.memory, a_pixels * p_.pixel_channels() * p_.a_bytes},
        {p_.b.name, p_.b.memory, weight_tensor_bytes()},
        {p_.out.name, p_.out.memory, out_batches * op.m() * p_.pixel_outputs() * p_.out_bytes}};
    if (p_.has_parameters)
      out_.tensors.push_back({p_.parameters.name, p_.parameters.memory,
                              p_.pixel_outputs() * p_.parameter_bytes});
    level(0, out_.body);
    return std::move(out_);
  }

 private:
  enum Dim { kBatch, kImage, kZ, kY, kX, kN, kC, kDims };
  enum Operand { kW, kA, kP, kOperands };  // in the order in which they are loaded
  enum TensorIndex { kTensorA, kTensorW, kTensorOut, kTensorP };

  /// Where the current iteration stands in one dimension.
  struct Position {
    Segment segment;
    Affine start, in_start;
    bool later = false;        ///< not in the first segment
    std::optional<int> loop;   ///< the loop around it, if there is one
  };

  // ---- tile loops ------------------------------------------------------------------------------

  std::vector<Segment> segments(Dim d) const {
    const int64_t groups = at_[kBatch].segment.size;
    switch (d) {
      case kBatch: return split(p_.op.batch, t_.groups);
      case kImage: return split(p_.op.images, t_.images);
      case kZ: return split(p_.z, 1);
      case kY: return split(p_.y, t_.lines);
      case kX: return split(p_.x, t_.pixels);
      case kN:
        return split(groups * p_.op.outputs, t_.outputs);
      default:
        return split(groups * p_.op.channels, t_.channels);
    }
  }

  /// The level at which an operand that depends on `dims` is loaded: inside the innermost of those
  /// loops that really loops.
  size_t level_of(const std::vector<Dim>& dims) const {
    size_t level = 0;
    for (size_t i = 0; i < order_.size(); ++i)
      if (std::find(dims.begin(), dims.end(), order_[i]) != dims.end() &&
          total_count(segments(order_[i])) > 1)
        level = i + 1;
    return level;
  }

  void level(size_t depth, std::vector<Item>& body) {
    if (body.empty()) body.reserve(24);  // loads, tokens, passes, post and store of most levels
    for (Operand o : {kW, kA, kP})
      if (load_level_[o] == depth) load(o, body);
    if (depth == order_.size()) {
      emit_passes(p_, hw_, t_, tile(), out_.loops, body);
    } else if (order_[depth] == kC) {
      sync(body, SyncKind::wait_free, Queue::execute, Buffer::accumulator);
      dimension(depth, body);
      sync(body, SyncKind::signal_full, Queue::execute, Buffer::accumulator);
      finish(body);
    } else {
      dimension(depth, body);
    }
    for (Operand o : {kW, kA, kP})
      if (load_level_[o] == depth && (o != kP || p_.has_parameters))
        sync(body, SyncKind::signal_free, reader(o), buffer(o));
  }

  void dimension(size_t depth, std::vector<Item>& body) {
    constexpr std::array<std::string_view, kDims> kNames = {"batch", "image", "oz", "oy",
                                                            "ox",    "n",     "c"};
    const Dim d = order_[depth];
    for_segments(out_.loops, kNames[d], segments(d), body,
                 [&](const Segment& s, const Affine& start, std::vector<Item>& inner, int loop) {
                   Position& p = at_[d];
                   p = {s, start, Affine(s.in_start), s.start > 0, std::nullopt};
                   if (loop >= 0) {
                     p.loop = loop;
                     p.in_start.terms.push_back({loop, s.in_step});
                   }
                   for (size_t i = depth + 1; i < order_.size(); ++i) rewind(i);
                   level(depth + 1, inner);
                 });
  }

  /// Puts a dimension on its first tile: what a load outside its loop sees when there is one tile only.
  void rewind(size_t depth) {
    const Segment first = segments(order_[depth]).front();
    at_[order_[depth]] = {first, Affine(first.start), Affine(first.in_start), false, std::nullopt};
  }

  static void sync(std::vector<Item>& body, SyncKind kind, Queue queue, Buffer b) {
    body.emplace_back().node = Sync{kind, queue, b};
  }

  TileShape tile() const {
    TileShape t;
    t.image = seg(kImage);
    t.z = seg(kZ);
    t.y = seg(kY);
    t.x = seg(kX);
    t.outputs = seg(kN).size;
    t.channels = seg(kC).size;
    t.groups = seg(kBatch).size;
    if (at_[kC].loop) t.channel_loops = {*at_[kC].loop};
    t.accumulate = at_[kC].later;
    return t;
  }

  void finish(std::vector<Item>& body) {
    sync(body, SyncKind::wait_full, Queue::post, Buffer::accumulator);
    sync(body, SyncKind::wait_free, Queue::post, Buffer::output);
    emit_posts(p_, hw_, t_, tile(), out_.loops, body);
    sync(body, SyncKind::signal_free, Queue::post, Buffer::accumulator);
    sync(body, SyncKind::signal_full, Queue::post, Buffer::output);
    sync(body, SyncKind::wait_full, Queue::store, Buffer::output);
    body.push_back({Command{store()}});
    sync(body, SyncKind::signal_free, Queue::store, Buffer::output);
  }

  // ---- sizes and addresses of the current tile -----------------------------------------------

  const Segment& seg(Dim d) const { return at_[d].segment; }
  int64_t k() const { return p_.kernel() * seg(kC).size; }
  int64_t n() const { return seg(kN).size; }

  static Buffer buffer(Operand o) {
    return o == kA ? Buffer::activation : o == kW ? Buffer::weight : Buffer::parameter;
  }
  static Queue reader(Operand o) { return o == kP ? Queue::post : Queue::execute; }

  StoreCommand store() const {
    const GemmOp& op = p_.op;
    const int64_t pixel = p_.pixel_outputs() * p_.out_bytes;
    const int64_t line = op.out[2] * pixel, plane = op.out[1] * line, image = op.out[0] * plane;
    StoreCommand c;
    c.tensor = kTensorOut;
    c.target = batch_offset(op.outputs, op.m(), p_.out_bytes, false) +
               at_[kN].start * p_.out_bytes + at_[kImage].start * image + at_[kZ].start * plane +
               at_[kY].start * line + at_[kX].start * pixel;
    c.walk = {{{seg(kImage).size, image}, {seg(kY).size, line}, {seg(kX).size, pixel}},
              n() * p_.out_bytes};
    c.walk.merge();
    return c;
  }

  void load(Operand o, std::vector<Item>& body) {
    if (o == kP && !p_.has_parameters) return;
    sync(body, SyncKind::wait_free, Queue::load, buffer(o));
    if (o == kA) load_activations(body);
    if (o == kW) load_weights(body);
    if (o == kP) load_parameters(body);
    sync(body, SyncKind::signal_full, Queue::load, buffer(o));
    sync(body, SyncKind::wait_full, reader(o), buffer(o));
  }

  static LoadCommand& add_load(std::vector<Item>& body, Operand o, Affine source, Walk walk) {
    constexpr std::array<int, kOperands> kTensor = {kTensorW, kTensorA, kTensorP};
    walk.merge();
    body.push_back({Command{LoadCommand{buffer(o), kTensor[o], std::move(source), 0,
                                        std::move(walk), std::nullopt}}});
    return std::get<LoadCommand>(std::get<Command>(body.back().node));
  }

  void load_parameters(std::vector<Item>& body) const {
    Affine channel = at_[kN].start;
    if (p_.op.grouped) channel += at_[kBatch].start * p_.op.outputs;
    add_load(body, kP, channel * p_.parameter_bytes, {{}, n() * p_.parameter_bytes});
  }

  /// Byte offset of the batch entry in a tensor of [batch][pixel][channel], or of the group's
  /// channels within a pixel.
  Affine batch_offset(int64_t channels, int64_t pixels, int64_t bytes, bool shared) const {
    if (shared) return 0;
    return at_[kBatch].start * (p_.op.grouped ? channels * bytes : channels * pixels * bytes);
  }

  void load_activations(std::vector<Item>& body) const {
    const GemmOp& op = p_.op;
    const int64_t pixel = p_.pixel_channels() * p_.a_bytes;
    const int64_t line = op.in[2] * pixel, plane = op.in[1] * line, image = op.in[0] * plane;
    const Affine base = batch_offset(op.channels, op.images * op.in[0] * op.in[1] * op.in[2],
                                     p_.a_bytes, op.a_shared);
    if (op.a_transposed) {
      const int64_t column = op.in[2] * p_.a_bytes;
      add_load(body, kA, base + at_[kX].in_start * p_.a_bytes + at_[kC].start * column,
               {{{seg(kX).in_size, p_.a_bytes}, {seg(kC).size, column}}, p_.a_bytes});
      return;
    }
    const Affine first = base + at_[kC].start * p_.a_bytes + at_[kImage].start * image;
    const int64_t run = seg(kC).size * p_.a_bytes;
    if (t_.im2col) {
      const auto tap = [&](Dim d, const Slide& s, int64_t stride) {
        return (at_[d].start * s.stride + Affine(-s.pad)) * stride;
      };
      add_load(body, kA,
               first + tap(kZ, p_.z, plane) + tap(kY, p_.y, line) + tap(kX, p_.x, pixel),
               {{{seg(kImage).size, image}, {seg(kY).size, p_.y.stride * line},
                 {seg(kX).size, p_.x.stride * pixel}, {p_.z.kernel, p_.z.dilation * plane},
                 {p_.y.kernel, p_.y.dilation * line}, {p_.x.kernel, p_.x.dilation * pixel}},
                run})
          .padded = padded_window(image, {plane, line, pixel});
      return;
    }
    add_load(body, kA,
             first + at_[kZ].in_start * plane + at_[kY].in_start * line + at_[kX].in_start * pixel,
             {{{seg(kImage).size, image}, {seg(kZ).in_size, plane}, {seg(kY).in_size, line},
               {seg(kX).in_size, pixel}},
              run});
  }

  PaddedWindow padded_window(int64_t image, std::array<int64_t, 3> pitch) const {
    PaddedWindow w;
    w.extent = p_.op.in;
    w.count = {seg(kZ).size, seg(kY).size, seg(kX).size};
    w.kernel = p_.op.kernel;
    w.stride = p_.op.stride;
    w.dilation = p_.op.dilation;
    w.pitch = pitch;
    for (size_t d = 0; d < 3; ++d)
      w.origin[d] = at_[std::array{kZ, kY, kX}[d]].start * w.stride[d] + Affine(-p_.op.pad[d]);
    w.images = seg(kImage).size;
    w.image_pitch = image;
    w.tap = seg(kC).size * p_.a_bytes;
    w.pad_value = p_.a_zero;
    return w;
  }

  // ---- weights: the slot holds column blocks of [k][columns], or [n][k] for input stationary ------

  bool packed() const { return t_.groups > 1; }
  int64_t pack_weight_bytes(int64_t groups) const {
    return p_.kernel() * groups * p_.op.channels * groups * p_.op.outputs * p_.b_bytes;
  }
  int64_t weight_tensor_bytes() const {
    const int64_t batches = p_.op.b_shared ? 1 : p_.op.batch;
    return batches / t_.groups * pack_weight_bytes(t_.groups) +
           pack_weight_bytes(batches % t_.groups);
  }

  Affine batch_weights() const {
    if (p_.op.b_shared) return 0;
    if (!packed()) return at_[kBatch].start * pack_weight_bytes(1);
    Affine pack(at_[kBatch].segment.start / t_.groups);
    if (at_[kBatch].loop) pack.terms.push_back({*at_[kBatch].loop, 1});
    return pack * pack_weight_bytes(t_.groups);
  }

  void load_weights(std::vector<Item>& body) const {
    const int64_t b = p_.b_bytes, full_k = p_.op.k();
    if (p_.b.constant) {  // lies in the order of the tile loops
      Affine base = batch_weights() + at_[kC].start * (p_.kernel() * n() * b);
      if (!packed()) base += at_[kN].start * (full_k * b);
      add_load(body, kW, base, {{}, k() * n() * b});
      return;
    }
    // Lies as [k][n], or as [n][k]: what is turned against the slot is gathered element by element.
    const bool n_major = weights_n_major(p_);
    const int64_t n_stride = n_major ? full_k * b : b;
    const int64_t k_stride = n_major ? b : p_.op.outputs * b;
    const int64_t taps = p_.kernel(), tap_stride = p_.op.channels * k_stride;
    Affine base = batch_weights();
    if (!packed()) base += at_[kN].start * n_stride + at_[kC].start * k_stride;
    if (packed()) {
      add_load(body, kW, base, {{{k() * n(), b}}, b});
      return;
    }
    if (t_.dataflow == Dataflow::input_stationary) {
      add_load(body, kW, base,
               {{{n(), n_stride}, {taps, tap_stride}, {seg(kC).size, k_stride}}, b});
      return;
    }
    for (const Segment& s : split(n(), hw_.array.cols))
      add_load(body, kW, base + Affine(s.start * n_stride),
               {{{s.count, s.step * n_stride}, {taps, tap_stride}, {seg(kC).size, k_stride},
                 {s.size, n_stride}}, b})
          .slot_offset = s.start * k() * b;
  }

  const GemmProblem& p_;
  const HwConfig& hw_;
  const Tiling& t_;
  Program out_;
  std::vector<Dim> order_;
  std::array<Position, kDims> at_;
  std::array<size_t, kOperands> load_level_{};
};

}  // namespace

Program emit(const GemmProblem& p, const HwConfig& hw, const Tiling& t) {
  return GemmEmitter(p, hw, t).run();
}

}  // namespace accsim
