#pragma once
#include <cstdint>
#include <optional>

#include "hw/config/hw_config.h"
#include "sim/report/report.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// What a matrix product C += A x B needs from memory, however it is scheduled. A convolution is a
/// product with the M x K matrix of its windows; A is then counted as it lies in memory. A and B
/// are different tensors.
struct GemmTraffic {
  int64_t macs = 0;  ///< multiply-accumulates of elements from memory: those with padding left out
  int64_t a_elements = 0, b_elements = 0, c_elements = 0;  ///< distinct elements in memory
  int64_t a_bytes = 1, b_bytes = 1;                        ///< of one element
  int64_t c_bytes = 1;    ///< of one element: the smaller of the partial sum's and the result's
  int64_t a_reuse = 1;    ///< places of the M x K matrix that one element of A stands in, at most
  int64_t partners = 1;   ///< products that share both an A and a B and differ only in C
  bool b_narrow = false;  ///< elements of B have 4 bits, two to a byte
  bool a_on_chip = false, b_on_chip = false;  ///< read from the shared buffer, not from DRAM
  bool c_on_chip = false;                     ///< stays in the shared buffer
};

/// The counts of a product with elements of the given sizes.
GemmTraffic gemm_traffic(const GemmOp& op, int64_t a_bytes, int64_t b_bytes, int64_t c_bytes);

/// Bytes that can hold operands or sums on chip: all slots, the shared buffer and the array's
/// registers.
int64_t on_chip_bytes(const hw::HwConfig& hw);

/// Where operands and unfinished sums of a product lie, if a machine's sums are wider than its
/// results. No command takes a sum out of the accumulators before it is whole.
struct HeldSums {
  int64_t operand_bytes = 0;  ///< shared buffer, activation and weight slots, the array's operands
  int64_t sums = 0;           ///< of the accumulator and the array, in elements
};

/// Those of the machine; nothing where results are as wide as sums, which then may come and go.
std::optional<HeldSums> held_sums(const hw::HwConfig& hw);

/// Least DRAM bytes, read and written, of any schedule of the product on a machine with `on_chip`
/// bytes of memory before DRAM: the largest of
///
///   compulsory     each of A and B that is not on chip read once, C written once unless it stays;
///   communication  2 macs sqrt(a b c) / sqrt(S r) - 2 S - (C's bytes if it stays);
///   held sums      where sums are held: (full parts) T - p |C| + (C's bytes unless it stays),
///
/// with element sizes a, b, c and S in bytes and r = a_reuse * partners. For elements of one size w
/// and S = w s this is the known w (2MNK / sqrt(s) - 2 s).
///
/// Why it is admissible (after J. Hong and H. Kung, STOC 1981; D. Irony, S. Toledo, A. Tiskin, JPDC
/// 2004; T. Smith et al., arXiv:1702.02017, 2017; J. Demmel and G. Dinh, arXiv:1802.06905, 2018,
/// for the reuse of convolutions). Let every C start as a zero read from DRAM, which adds at most
/// C's bytes of reads; writing the result, if it leaves, takes back as much. Cut the schedule after
/// every 2S bytes read. A part sees at most 3S bytes of operands and sums, x of A, y of B and z of
/// C, and by Loomis and Whitney does at most sqrt(r x/a y/b z/c) <= sqrt(r S^3 / (a b c)) MACs. All
/// parts but the last read 2S bytes each.
///
/// Held sums, with memory for H bytes of operands and for Z sums: say that each C which is begun
/// costs p bytes, whatever p is, and cut after every T bytes read and priced. A part works on x of
/// A, y of B and z sums; those that were there before it are at most Z, so x + y + p z <= H + p Z +
/// T, and it does at most ((H + p Z + T) / 3)^(3/2) sqrt(r / (a b p)) MACs. Before the first part
/// nothing is on chip but operands that lie there: it has x + y + p z <= T, or H + T. From the MACs
/// follows how many parts are full; of what they cost together |C| p were prices and not bytes. Any
/// p and T give a bound, the largest of some is taken. (The known bound has p = the size of a
/// result, as if a sum of 4 bytes could wait in the room of one: of 4096 x 4096 x 4096 bytes with 3
/// MiB on chip 72.5 MB; held sums need 112 MB.)
int64_t gemm_traffic_bound(const GemmTraffic& traffic, int64_t on_chip,
                           const std::optional<HeldSums>& held = std::nullopt);

/// The resource that a layer's counts make the busiest: compute (only with MACs or vector
/// operations), DRAM or SRAM. Of two equal ones it is the memory, and DRAM before SRAM. It is
/// latency when none is busy for half of the cycles, and none without cycles.
Bound busiest_bound(const Costs& costs);

}  // namespace accsim::sim
