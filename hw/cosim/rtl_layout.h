#pragma once
// Made by scripts/generate_rtl_layout from rtl/accsim_pkg.sv; not to be changed by hand.
// clang-format off
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace accsim::hw::rtl {

/// Of the package's text without comments and blanks.
inline constexpr uint64_t kPackageHash = 0x48fa061cb448ed7c;
/// The same without its parameters *Latency: of how descriptors are laid out.
inline constexpr uint64_t kLayoutHash = 0x57a3d24baef263e2;

inline constexpr uint32_t kLevels = 6;
inline constexpr uint32_t kWindowLines = 4;
inline constexpr uint32_t kAddrWidth = 48;
inline constexpr uint32_t kTagWidth = 96;
inline constexpr uint32_t kArrayLatency = 4;
inline constexpr uint32_t kPostLatency = 8;
inline constexpr uint32_t kVectorLatency = 9;
inline constexpr uint32_t kGatherLatency = 4;
inline constexpr uint32_t kIndexBytes = 4;
inline constexpr uint32_t kTableBytes = 256;
inline constexpr uint32_t kTableBeat = 8;
inline constexpr uint32_t kParameterBytes = 12;
inline constexpr uint32_t kGroupBytes = 2;
inline constexpr uint32_t kRowStep = 16;
inline constexpr uint32_t kRowSumPass = 2;
inline constexpr uint32_t kRowSoftmaxWrite = 5;
inline constexpr uint32_t kRowNormWrite = 4;
inline constexpr uint32_t kRowTableBytes = 512;
inline constexpr uint32_t kRowTableBeat = 16;
inline constexpr uint32_t kRowChannelBytes = 8;
inline constexpr uint32_t kOperandBits = 8;
inline constexpr uint32_t kPackedBits = 4;
inline constexpr uint32_t kFactorBits = 16;
inline constexpr uint32_t kMultiplierBits = 32;
inline constexpr uint32_t kAccumulatorBits = 32;
inline constexpr uint32_t kByteBits = 8;
inline constexpr uint32_t kProductBits = 16;
inline constexpr uint32_t kScaledBits = 64;
inline constexpr uint32_t kParameterBits = 96;
inline constexpr uint32_t kRegions = 8;
inline constexpr uint32_t kRowLevels = 4;
inline constexpr uint32_t kTapLevels = 2;
inline constexpr uint32_t kMostColumns = 8;
inline constexpr uint32_t kLogBits = 16;
inline constexpr uint32_t kLogPieces = 64;
inline constexpr uint32_t kRowPasses = 3;
inline constexpr uint32_t kRowSlots = 64;
inline constexpr uint32_t kLoadCountBits = 21;
inline constexpr uint32_t kBufActivation = 0;
inline constexpr uint32_t kBufWeight = 1;
inline constexpr uint32_t kBufParameter = 2;
inline constexpr uint32_t kBufOutput = 3;
inline constexpr uint32_t kFromNone = 0;
inline constexpr uint32_t kFromMain = 1;
inline constexpr uint32_t kFromVector = 2;
inline constexpr uint32_t kFromLoad = 3;
inline constexpr uint32_t kToMain = 0;
inline constexpr uint32_t kToOther = 1;
inline constexpr uint32_t kToLoad = 2;
inline constexpr uint32_t kByLoad = 0;
inline constexpr uint32_t kByPost = 1;
inline constexpr uint32_t kByVector = 2;
inline constexpr uint32_t kLaneCopy = 0;
inline constexpr uint32_t kLaneAdd = 1;
inline constexpr uint32_t kLaneSub = 2;
inline constexpr uint32_t kLaneMul = 3;
inline constexpr uint32_t kLaneMin = 4;
inline constexpr uint32_t kLaneMax = 5;
inline constexpr uint32_t kLaneMac = 6;
inline constexpr uint32_t kTapSum = 0;
inline constexpr uint32_t kTapMin = 1;
inline constexpr uint32_t kTapMax = 2;
inline constexpr uint32_t kRowSum = 0;
inline constexpr uint32_t kRowFirst = 1;
inline constexpr uint32_t kRowWrite = 2;
inline constexpr std::array<std::string_view, 7> kLaneOpNames = {
    "copy", "add", "sub", "mul", "min", "max", "mac"};

/// Bits of dma_flags_t.
namespace dma_flags {
inline constexpr uint32_t kWaits = 1u << 0;
inline constexpr uint32_t kSignal = 1u << 1;
inline constexpr uint32_t kShared = 1u << 2;
inline constexpr uint32_t kBufferShift = 3;
inline constexpr uint32_t kFromShift = 5;
inline constexpr uint32_t kToShift = 7;
inline constexpr uint32_t kSlotShift = 9;
inline constexpr uint32_t kTransposed = 1u << 17;
inline constexpr uint32_t kGather = 1u << 18;
inline constexpr uint32_t kWaitParameter = 1u << 19;
inline constexpr uint32_t kSignalParameter = 1u << 20;
inline constexpr uint32_t kParameterSlotShift = 21;
}

/// Bits of region_flags_t.
namespace region_flags {
inline constexpr uint32_t kRegionShift = 0;
inline constexpr uint32_t kWaits = 1u << 3;
inline constexpr uint32_t kSignal = 1u << 4;
inline constexpr uint32_t kInitialSlot = 1u << 5;
inline constexpr uint32_t kTurnWait = 1u << 6;
inline constexpr uint32_t kTurnGive = 1u << 7;
inline constexpr uint32_t kMark = 1u << 8;
}

/// Words of marks_t.
namespace marks {
inline constexpr size_t kLoaded = 0;
inline constexpr size_t kStored = 1;
inline constexpr size_t kStoredShared = 2;
inline constexpr size_t kStaged = 3;
inline constexpr size_t kWords = 4;
}

/// Words of dma_cmd_t.
namespace dma_cmd {
inline constexpr size_t kFlags = 0;
inline constexpr size_t kRegion = 1;
inline constexpr size_t kAddrLo = 2;
inline constexpr size_t kAddrHi = 3;
inline constexpr size_t kSlotOffset = 4;
inline constexpr size_t kRun = 5;
inline constexpr size_t kCount = 6;  ///< and the next 5
inline constexpr size_t kStride = 12;  ///< and the next 5
inline constexpr size_t kIndexOffset = 18;
inline constexpr size_t kLastRow = 19;
inline constexpr size_t kMarks = 20;  ///< and the next 3
inline constexpr size_t kWords = 24;
}

/// Words of stage_cmd_t.
namespace stage_cmd {
inline constexpr size_t kWalk = 0;  ///< and the next 23
inline constexpr size_t kFarLo = 24;
inline constexpr size_t kFarHi = 25;
inline constexpr size_t kTarget = 26;
inline constexpr size_t kWords = 27;
}

/// Bits of gemm_flags_t.
namespace gemm_flags {
inline constexpr uint32_t kWaitActivation = 1u << 0;
inline constexpr uint32_t kWaitWeight = 1u << 1;
inline constexpr uint32_t kWaitAccumulator = 1u << 2;
inline constexpr uint32_t kSignalActivation = 1u << 3;
inline constexpr uint32_t kSignalWeight = 1u << 4;
inline constexpr uint32_t kSignalAccumulator = 1u << 5;
inline constexpr uint32_t kOverwrite = 1u << 6;
inline constexpr uint32_t kDrainOverwrite = 1u << 7;
inline constexpr uint32_t kDrain = 1u << 8;
inline constexpr uint32_t kActivationSlotShift = 9;
inline constexpr uint32_t kNarrowWeights = 1u << 17;
inline constexpr uint32_t kInputStationary = 1u << 18;
}

/// Words of window_t.
namespace window {
inline constexpr size_t kStartAddr = 0;
inline constexpr size_t kStartX = 1;
inline constexpr size_t kStartY = 2;
inline constexpr size_t kStartZ = 3;
inline constexpr size_t kTileLine = 4;
inline constexpr size_t kTileHeight = 5;
inline constexpr size_t kTileDepth = 6;
inline constexpr size_t kLastX = 7;
inline constexpr size_t kLastY = 8;
inline constexpr size_t kStepX = 9;
inline constexpr size_t kStepY = 10;
inline constexpr size_t kStepYAddr = 11;
inline constexpr size_t kStepZ = 12;
inline constexpr size_t kStepZAddr = 13;
inline constexpr size_t kSegYStep = 14;
inline constexpr size_t kSegXStep = 15;
inline constexpr size_t kSegAddrStep = 16;
inline constexpr size_t kSegEnd = 17;  ///< and the next 3
inline constexpr size_t kPad = 21;
inline constexpr size_t kFirstX = 22;
inline constexpr size_t kFirstY = 23;
inline constexpr size_t kWords = 24;
}

/// Words of blocks_t.
namespace blocks {
inline constexpr size_t kGroups = 0;
inline constexpr size_t kGroupK = 1;
inline constexpr size_t kGroupN = 2;
inline constexpr size_t kFirstGroup = 3;
inline constexpr size_t kFirstInGroup = 4;
inline constexpr size_t kRowsBefore = 5;
inline constexpr size_t kWords = 6;
}

/// Words of gemm_cmd_t.
namespace gemm_cmd {
inline constexpr size_t kFlags = 0;
inline constexpr size_t kM = 1;
inline constexpr size_t kK = 2;
inline constexpr size_t kN = 3;
inline constexpr size_t kAccumulatorRow = 4;
inline constexpr size_t kWeightOffset = 5;
inline constexpr size_t kWeightPitch = 6;
inline constexpr size_t kWindow = 7;  ///< and the next 23
inline constexpr size_t kBlocks = 31;  ///< and the next 5
inline constexpr size_t kWords = 37;
}

/// Bits of post_flags_t.
namespace post_flags {
inline constexpr uint32_t kWaitAccumulator = 1u << 0;
inline constexpr uint32_t kWaitOutput = 1u << 1;
inline constexpr uint32_t kWaitParameter = 1u << 2;
inline constexpr uint32_t kSignalAccumulator = 1u << 3;
inline constexpr uint32_t kSignalOutput = 1u << 4;
inline constexpr uint32_t kSignalParameter = 1u << 5;
inline constexpr uint32_t kTransposed = 1u << 6;
inline constexpr uint32_t kWaitInitial = 1u << 7;
inline constexpr uint32_t kWaitPrimed = 1u << 8;
inline constexpr uint32_t kParameterSlotShift = 9;
inline constexpr uint32_t kOutputSlotShift = 17;
inline constexpr uint32_t kSetTable = 1u << 25;
inline constexpr uint32_t kTableOn = 1u << 26;
inline constexpr uint32_t kResidual = 1u << 27;
}

/// Bits of residual_t.
namespace residual {
inline constexpr uint32_t kZeroShift = 0;
inline constexpr uint32_t kShiftShift = 8;
inline constexpr uint32_t kMultiplierShift = 16;
}

/// Bits of limits_t.
namespace limits {
inline constexpr uint32_t kLowShift = 0;
inline constexpr uint32_t kHighShift = 8;
inline constexpr uint32_t kShiftShift = 16;
}

/// Words of post_cmd_t.
namespace post_cmd {
inline constexpr size_t kFlags = 0;
inline constexpr size_t kRows = 1;
inline constexpr size_t kCols = 2;
inline constexpr size_t kAccumulatorRow = 3;
inline constexpr size_t kParameterOffset = 4;
inline constexpr size_t kSlotOffset = 5;
inline constexpr size_t kPitch = 6;
inline constexpr size_t kZero = 7;
inline constexpr size_t kLow = 8;
inline constexpr size_t kHigh = 9;
inline constexpr size_t kResidual = 10;
inline constexpr size_t kSumLimits = 11;
inline constexpr size_t kGroups = 12;
inline constexpr size_t kGroupRows = 13;
inline constexpr size_t kGroupOffset = 14;
inline constexpr size_t kWords = 15;
}

/// Bits of vector_flags_t.
namespace vector_flags {
inline constexpr uint32_t kWaitActivation = 1u << 0;
inline constexpr uint32_t kWaitOutput = 1u << 1;
inline constexpr uint32_t kWaitParameter = 1u << 2;
inline constexpr uint32_t kSignalActivation = 1u << 3;
inline constexpr uint32_t kSignalOutput = 1u << 4;
inline constexpr uint32_t kSignalParameter = 1u << 5;
inline constexpr uint32_t kWaitInitial = 1u << 6;
inline constexpr uint32_t kActivationSlotShift = 8;
inline constexpr uint32_t kParameterSlotShift = 16;
inline constexpr uint32_t kOutputSlotShift = 24;
}

/// Bits of lane_mode_t.
namespace lane_mode {
inline constexpr uint32_t kOpShift = 0;
inline constexpr uint32_t kTapOpShift = 3;
inline constexpr uint32_t kBOn = 1u << 5;
inline constexpr uint32_t kBParameter = 1u << 6;
inline constexpr uint32_t kBSplat = 1u << 7;
inline constexpr uint32_t kAcross = 1u << 8;
inline constexpr uint32_t kTableOn = 1u << 9;
inline constexpr uint32_t kSetTable = 1u << 10;
inline constexpr uint32_t kRows = 1u << 11;
inline constexpr uint32_t kRowNorm = 1u << 12;
inline constexpr uint32_t kRowCentred = 1u << 13;
inline constexpr uint32_t kRowSplat = 1u << 14;
inline constexpr uint32_t kRowMask = 1u << 15;
inline constexpr uint32_t kSlideShift = 16;
inline constexpr uint32_t kKeptShift = 19;
inline constexpr uint32_t kRowLog = 1u << 22;
}

/// Bits of lane_factors_t.
namespace lane_factors {
inline constexpr uint32_t kAShift = 0;
inline constexpr uint32_t kBShift = 16;
}

/// Bits of lane_zeros_t.
namespace lane_zeros {
inline constexpr uint32_t kAShift = 0;
inline constexpr uint32_t kBShift = 8;
inline constexpr uint32_t kResultShift = 16;
}

/// Words of vector_cmd_t.
namespace vector_cmd {
inline constexpr size_t kFlags = 0;
inline constexpr size_t kMode = 1;
inline constexpr size_t kBeat = 2;
inline constexpr size_t kBeats = 3;
inline constexpr size_t kTail = 4;
inline constexpr size_t kTaps = 5;  ///< and the next 1
inline constexpr size_t kRows = 7;  ///< and the next 3
inline constexpr size_t kAOffset = 11;
inline constexpr size_t kTapStride = 12;  ///< and the next 1
inline constexpr size_t kAStride = 14;  ///< and the next 3
inline constexpr size_t kBOffset = 18;
inline constexpr size_t kBStride = 19;  ///< and the next 3
inline constexpr size_t kOutOffset = 23;
inline constexpr size_t kOutStride = 24;  ///< and the next 3
inline constexpr size_t kFactors = 28;
inline constexpr size_t kZeros = 29;
inline constexpr size_t kLimits = 30;
inline constexpr size_t kWeightStride = 31;  ///< and the next 1
inline constexpr size_t kChannelOffset = 33;
inline constexpr size_t kWords = 34;
}

/// Bits of row_zeros_t.
namespace row_zeros {
inline constexpr uint32_t kInputZeroShift = 0;
inline constexpr uint32_t kOutputZeroShift = 8;
inline constexpr uint32_t kLowShift = 16;
inline constexpr uint32_t kHighShift = 24;
}

/// Bits of row_shifts_t.
namespace row_shifts {
inline constexpr uint32_t kDifferenceShift = 0;
inline constexpr uint32_t kExponentShift = 8;
inline constexpr uint32_t kUnitBitsShift = 16;
inline constexpr uint32_t kGroupShift = 24;
}

/// Words of row_cmd_t.
namespace row_cmd {
inline constexpr size_t kFlags = 0;
inline constexpr size_t kMode = 1;
inline constexpr size_t kBeat = 2;
inline constexpr size_t kBeats = 3;
inline constexpr size_t kTail = 4;
inline constexpr size_t kStretches = 5;
inline constexpr size_t kPieces = 6;
inline constexpr size_t kRows = 7;  ///< and the next 3
inline constexpr size_t kStretch = 11;
inline constexpr size_t kInOffset = 12;
inline constexpr size_t kInPiece = 13;
inline constexpr size_t kInStride = 14;  ///< and the next 3
inline constexpr size_t kOutOffset = 18;
inline constexpr size_t kOutPiece = 19;
inline constexpr size_t kOutStride = 20;  ///< and the next 3
inline constexpr size_t kParameterOffset = 24;
inline constexpr size_t kMaskOffset = 25;
inline constexpr size_t kMaskPiece = 26;
inline constexpr size_t kSecondStride = 27;  ///< and the next 3
inline constexpr size_t kFactors = 31;
inline constexpr size_t kZeros = 32;
inline constexpr size_t kShifts = 33;
inline constexpr size_t kEpsilonLo = 34;
inline constexpr size_t kEpsilonHi = 35;
inline constexpr size_t kLength = 36;
inline constexpr size_t kLogOffset = 37;
inline constexpr size_t kLogRow = 38;
inline constexpr size_t kLogSum = 39;
inline constexpr size_t kLogShift = 40;
inline constexpr size_t kLogAddendLo = 41;
inline constexpr size_t kLogAddendHi = 42;
inline constexpr size_t kLateBeat = 43;
inline constexpr size_t kLateBeats = 44;
inline constexpr size_t kLateTail = 45;
inline constexpr size_t kWords = 46;
}

}
