#include "sim/map/lanes/lane_problem.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/map/lane_trial.h"

namespace accsim::sim {
namespace {

Dims random_dims(Draw& d, int64_t least, int64_t most) {
  Dims dims;
  for (int64_t rank = d.of(least, most); rank > 0; --rank) dims.push_back(d.of(1, 13));
  return dims;
}

TEST(LaneProblem, ArithmeticOfTwoOperandsIsWhatItIsByOnnx) {
  Draw d(1);
  Seen seen;
  int swapped = 0;
  for (int i = 0; i < 1500; ++i) {
    const Dims dims = random_dims(d, 1, 4);
    // Of either operand some dims are 1, and leading ones may be missing.
    std::vector<Dims> own(2, dims);
    const bool last = dims.size() > 2 && d.one_in(2), constant = d.one_in(2);
    Dims& narrow = own[as_index(d.of(0, 1))];
    for (int64_t& n : narrow)
      if (d.one_in(2)) n = 1;
    if (d.one_in(3) && !last)
      narrow.erase(narrow.begin(), narrow.end() - d.of(1, std::ssize(dims)));
    if (elements(own[0]) == 1 || elements(own[1]) == 1) continue;
    LaneCaseBuilder b(d.any<std::string>({"Add", "Sub", "Mul", "Min", "Max"}), 13);
    b.in(own[0], last).in(own[1], last && !constant, constant);
    const auto t = trial(b.build(), {last, last}, last, d);
    ASSERT_TRUE(t) << accsim::to_string(own[0]) << " " << accsim::to_string(own[1]);
    swapped += t->p.work.a_port == 1;
    check_program(*t, d, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.programs, 400);
  EXPECT_GT(seen.cut, 150);
  EXPECT_GT(seen.held, 100);
  EXPECT_GT(seen.spread, 40);
  EXPECT_GT(swapped, 50);
}

/// Pieces of an axis change places in pairs, and the one that comes first then is negated.
TEST(LaneProblem, ProductsOfTurnedTensorsAreThoseOfWhatIsThereThen) {
  Draw d(6);
  Seen seen;
  int neighbours = 0;
  for (int i = 0; i < 900; ++i) {
    Dims dims = random_dims(d, 1, 4);
    const auto axis = as_index(d.of(0, std::ssize(dims) - 1));
    const int64_t half = d.of(1, 9), pairs = d.of(1, 3);
    dims[axis] = 2 * half * pairs;
    const int64_t piece = half * elements(dims, axis + 1, dims.size());
    Dims with = dims;
    for (int64_t& n : with)
      if (d.one_in(3)) n = 1;
    const bool last = dims.size() > 2 && d.one_in(2), constant = d.one_in(2);
    const int turned = static_cast<int>(d.of(0, 1));
    LaneCaseBuilder b("Mul", 13);
    if (turned == 1) b.in(with, last && !constant, constant);
    b.in(dims, last);
    if (turned == 0) b.in(with, last && !constant, constant);
    LaneCase op = b.turned(turned, piece).build();
    const auto is_first = [=](const At& o) { return o[axis] / half % 2 == 0; };
    op.negated = is_first;
    op.taps = [=](const At& o) {
      At from = o;
      from[axis] += is_first(o) ? half : -half;
      return std::vector<At>{from};
    };
    const auto t = trial(std::move(op), {last, last}, last, d);
    ASSERT_TRUE(t) << accsim::to_string(dims) << " in pieces of " << piece;
    ASSERT_EQ(t->p.work.a_port, turned);
    neighbours += t->p.work.axes.back().turned;
    check_program(*t, d, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.programs, 300);
  EXPECT_GT(seen.cut, 100);
  EXPECT_GT(seen.held, 60);
  EXPECT_GT(neighbours, 10);
}

TEST(LaneProblem, FunctionsOfOneElementAreTables) {
  Draw d(2);
  Seen seen;
  for (int i = 0; i < 300; ++i) {
    const Dims dims = random_dims(d, 1, 4);
    const bool last = dims.size() > 2 && d.one_in(2);
    const bool scaled = i % 4 == 3;
    LaneCaseBuilder b(scaled ? "Div" : d.any<std::string>({"Sigmoid", "Erf", "Exp"}), 13);
    b.in(dims, last);
    if (scaled) b.in({}, false, true);
    const auto t = trial(b.build(), {last, false}, last, d);
    ASSERT_TRUE(t);
    EXPECT_EQ(t->p.work.table, !scaled);
    check_program(*t, d, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.programs, 120);
  EXPECT_GT(seen.cut, 30);
  EXPECT_GT(seen.tables, 70);
}

TEST(LaneProblem, PoolingIsWhatItIsByOnnx) {
  Draw d(3);
  Seen seen;
  for (int i = 0; i < 1200; ++i) {
    const int64_t rank = d.of(1, 3);
    Dims in{d.of(1, 3), d.of(1, 20)};
    Windows w;
    for (int64_t s = 0; s < rank; ++s) {
      in.push_back(d.of(3, rank == 3 ? 6 : 14));
      w.kernel.push_back(rank == 3 && s == 0 ? 1 : d.of(1, 4));
      w.stride.push_back(d.of(1, 3));
      w.dilation.push_back(d.one_in(3) ? 2 : 1);
      w.before.push_back(d.of(0, w.kernel.back() - 1));
      w.after.push_back(d.of(0, w.kernel.back() - 1));
    }
    const bool mean = d.one_in(2), counts = mean && d.one_in(2);
    LaneCaseBuilder b(mean ? "AveragePool" : "MaxPool", 19);
    Dims pads = w.before;
    pads.insert(pads.end(), w.after.begin(), w.after.end());
    b.in(in, true).attr("kernel_shape", w.kernel).attr("strides", w.stride).attr("pads", pads);
    b.attr("dilations", w.dilation).attr("ceil_mode", int64_t{d.one_in(2)});
    if (counts) b.attr("count_include_pad", int64_t{1});
    bool fit = true;
    for (size_t s = 0; s < w.kernel.size(); ++s)
      fit = fit && (w.kernel[s] - 1) * w.dilation[s] < in[s + 2] + w.before[s] + w.after[s];
    if (!fit) continue;
    LaneCase op = b.build();
    op.taps = [=](const At& o) { return window_taps(o, w, in, false); };
    op.divisor = [=](const At& o) { return std::ssize(window_taps(o, w, in, counts)); };
    bool empty = false;
    for_indices(op.out, [&](const At& o) { empty |= op.taps(o).empty(); });
    const auto t = trial(std::move(op), {true}, true, d);
    if (empty || !t) {
      EXPECT_EQ(empty, !t) << "a result without elements has no command";
      continue;
    }
    check_program(*t, d, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.programs, 300);
  EXPECT_GT(seen.cut, 100);
  EXPECT_GT(seen.unrolled, 40);
}

TEST(LaneProblem, ReductionsAreWhatTheyAreByOnnx) {
  Draw d(4);
  Seen seen;
  int refused = 0;
  for (int i = 0; i < 800; ++i) {
    const Dims in = random_dims(d, 1, 5);
    const bool last = in.size() > 2 && d.one_in(2), keeps = last || d.one_in(2);
    std::vector<int64_t> axes;
    for (int64_t a = 0; a < std::ssize(in); ++a)
      if (d.one_in(2)) axes.push_back(a);
    if (axes.empty()) continue;
    LaneCaseBuilder b(d.any<std::string>({"ReduceSum", "ReduceMean", "ReduceMin", "ReduceMax"}),
                      18);
    b.in(in, last).integers(axes).attr("keepdims", int64_t{keeps});
    LaneCase op = b.build();
    Dims kernel;
    for (size_t a = 0; a < in.size(); ++a)
      kernel.push_back(std::ranges::count(axes, static_cast<int64_t>(a)) > 0 ? in[a] : 1);
    op.taps = [=](const At& o) {
      std::vector<At> taps;
      for_indices(kernel, [&](const At& k) {
        At at(in.size());
        for (size_t a = 0, from = 0; a < in.size(); ++a) {
          const bool gone = std::ranges::count(axes, static_cast<int64_t>(a)) > 0;
          at[a] = gone ? k[a] : o[from];
          from += !gone || keeps;
        }
        taps.push_back(at);
      });
      return taps;
    };
    op.divisor = [=](const At&) { return elements(kernel); };
    const auto t = trial(std::move(op), {last, false}, last, d);
    refused += !t;
    if (!t) continue;
    check_program(*t, d, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.programs, 150);
  EXPECT_GT(seen.cut, 50);
  EXPECT_LT(refused, 40) << "windows over three axes that aren't contiguous";
}

TEST(LaneProblem, GlobalPoolingAndNearestResizeAreWhatTheyAreByOnnx) {
  Draw d(5);
  Seen seen;
  for (int i = 0; i < 400; ++i) {
    const Dims in{d.of(1, 2), d.of(1, 20), d.of(1, 6), d.of(1, 6)};
    LaneCase op;
    if (d.one_in(2)) {
      op = LaneCaseBuilder(d.one_in(2) ? "GlobalAveragePool" : "GlobalMaxPool", 13)
               .in(in, true)
               .build();
      const Windows all{{in[2], in[3]}, {1, 1}, {1, 1}, {0, 0}, {0, 0}};
      op.taps = [=](const At& o) { return window_taps(o, all, in, false); };
      op.divisor = [=](const At&) { return in[2] * in[3]; };
    } else {
      const int64_t down = d.of(1, 3), up = d.of(1, 3);
      const bool shrinks = in[2] % down == 0 && in[3] % down == 0 && down > 1;
      const Dims out{in[0], in[1], shrinks ? in[2] / down : in[2] * up,
                     shrinks ? in[3] / down : in[3] * up};
      LaneCaseBuilder b("Resize", 13);
      b.in(in, true).absent().absent().integers(out);
      b.attr("coordinate_transformation_mode", std::string("asymmetric"));
      b.attr("nearest_mode", std::string("floor"));
      op = b.build();
      op.taps = [=](const At& o) {
        return std::vector<At>{{o[0], o[1], o[2] * in[2] / out[2], o[3] * in[3] / out[3]}};
      };
    }
    const auto t = trial(std::move(op), {true, false, false, false}, true, d);
    ASSERT_TRUE(t) << accsim::to_string(in);
    check_program(*t, d, seen);
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(seen.programs, 150);
  EXPECT_GT(seen.cut, 30);
}

}  // namespace
}  // namespace accsim::sim
