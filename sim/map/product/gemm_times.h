#pragma once

namespace accsim::sim {

/// Parts of the bounds of a combination of options, in cycles. Each is at most what the program
/// takes. "Fillings" of a buffer's slots are the cycles from a slot's first write until it is free
/// again, summed over all fillings.
struct GemmTimes {
  double loads = 0;  ///< the load queue's transfers, one behind the other; or those that come from
                     ///< DRAM with what is staged, whichever takes longer
  double execute = 0;  ///< the execute queue's streams, with waits for what is preloaded or drained
  double streams = 0;  ///< the same without those waits
  double posts = 0;    ///< the post queue's beats
  double stores = 0;   ///< the store queue's transfers
  double first_load = 0, first_stream = 0,
         first_post = 0;   ///< of the first tile, each with its way
                           ///< to the next queue
  double last_stream = 0;  ///< of the last tile
  double last_post = 0;    ///< of the last tile, from its last stream on
  double last_store = 0;   ///< of the last tile, until its last byte has arrived
  double load_latency = 0, store_latency = 0;
  double after_loads = 0;  ///< least from the last byte loaded to the end
  double bus = 0;          ///< transfers of both directions on a DRAM's one bus
  double bus_latency = 0;  ///< of the last of them, where it is a store
  double operand_fillings = 0, held_fillings = 0, sum_fillings = 0, output_fillings = 0;
  double operand_slots = 1, held_slots = 1, sum_slots = 1, output_slots = 1;
};

// Lower bounds of a program's cycles, one per resource. A queue does one thing at a time, so it
// takes at least the sum of its commands. Data dependences add cycles before its first command and
// behind its last one.

/// Execute queue: first_load + execute + last_post + last_store. Its first stream waits for the
/// first tile's operands, and behind its last one that tile's sums are still to be posted and
/// stored.
double execute_bound(const GemmTimes& t);

/// Load queue: loads + load_latency + after_loads. It has nothing to wait for at the start. The
/// last byte arrives a latency after it was sent. Then come the last tile's streams, way out and
/// store, or nothing if a parameter table may be the last load.
double load_bound(const GemmTimes& t);

/// Post queue: first_load + first_stream + posts + kPostLatency + kTokenLatency + last_store. The
/// first post waits for the first tile's sums; behind the last one its tile is stored.
double post_bound(const GemmTimes& t);

/// Store queue: first_load + first_stream + first_post + stores + store_latency. The first store
/// waits until the first tile is posted; the last byte arrives a latency after it was sent.
double store_bound(const GemmTimes& t);

/// Slots of the operand that moves through the array (activations; weights where inputs stay):
/// operand_fillings / operand_slots. A slot is filled again only when it is free, so the fillings
/// of one slot follow one another; of S slots one has at least an S-th of all fillings' time.
double operand_slot_bound(const GemmTimes& t);

/// Slots of the operand that the array holds: held_fillings / held_slots, for the same reason. A
/// filling lasts from its first byte until its last part is in the array. Between two fills there
/// is a stream or the fill itself, whichever is longer.
double held_slot_bound(const GemmTimes& t);

/// Slots of the accumulator: sum_fillings / sum_slots, for the same reason. A filling lasts from
/// the tile's first stream until its last post: streams with the fills between them, the way
/// through the array, and posts.
double sum_slot_bound(const GemmTimes& t);

/// Slots of the output buffer: output_fillings / output_slots, for the same reason. A filling lasts
/// from the tile's first post until its store has left: posts, the way between, and stores.
double output_slot_bound(const GemmTimes& t);

/// A DRAM's bus that both directions share: bus + bus_latency, as what is stored last must arrive.
/// 0 on machines whose directions have channels of their own.
double bus_bound(const GemmTimes& t);

/// The largest of them all.
double cycle_bound(const GemmTimes& t);

}  // namespace accsim::sim
