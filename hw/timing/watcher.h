#pragma once
#include <cstdint>

#include "hw/timing/steps.h"

namespace accsim::hw {

/// A command as it was timed, in cycles from the start of the program.
struct TimedStep {
  const Step& step;
  Queue queue;
  int64_t free;    ///< end of the queue's command before it, or its layer's cycle 0
  int64_t start;   ///< first cycle; the queue waited from `free` to here
  int64_t end;     ///< of the occupancy: the queue's next command can start
  int64_t finish;  ///< its result is visible
  Wait why;        ///< what the queue waited for, if it did
};

/// Told of all that a Simulator does, in the order of the text. Loops that StepWriter has dropped
/// or merged aren't there.
class Watcher {
 public:
  virtual ~Watcher() = default;

  virtual void on_command(const TimedStep& command) = 0;
  /// The queue of a wait step's moment has taken a token, which was there at `time`, or waits for
  /// marks that are reached then.
  virtual void on_token(const Step& wait, int64_t time);
  virtual void begin_loop(const Step& loop);
  virtual void end_iteration(const Step& loop);
  /// The loop goes on as in its last `period` iterations, for `periods` times that many, each time
  /// `growth` cycles later than before.
  virtual void on_skip(const Step& loop, int64_t period, int64_t periods, int64_t growth);
  virtual void end_loop(const Step& loop);
};

}  // namespace accsim::hw
