/* The control loops and what they share. Docs: "The loops" in docs/motor-protocol.md. */
#ifndef LOOPS_H
#define LOOPS_H

#include "controller.h"

#define PERIOD_S (1.0f / MOTOR_LOOP_RATE_HZ)
#define PI 3.14159265358979f
/* The weight of a new value in a first-order filter with this time constant. */
#define SMOOTHING(filter_s) (PERIOD_S / ((filter_s) + PERIOD_S))

/* A sum of many small parts, without loss of digits by rounding (Kahan). The sum is `value`. */
struct sum {
    float value, lost;
};
void sum_add(struct sum *sum, float part);
void sum_set(struct sum *sum, float value);

struct pid_shape {
    /* The weight of a new value in the filter on the derivative. */
    float smoothing;
    /* Limits of the output and of the integrator. */
    float min, max;
};

struct pid {
    struct gains gains;
    struct sum integral;
    float derivative, measured, bridge, output;
    bool has_measured;
    /* Set this before the setpoint jumps. The output then continues without a jump. */
    bool joining;
};

/* Runs one period of the loop. If the gains are finite, the output is within the limits. */
float pid_update(struct pid *pid, const struct pid_shape *shape, float setpoint, float measured, struct gains gains);
/* Call this instead of pid_update in a period in which something else sets the output. pid_update then continues from that
   output. */
void pid_follow(struct pid *pid, const struct pid_shape *shape, float output, float measured);
/* Forgets everything but the gains. Call this if the measured value jumps. */
void pid_start(struct pid *pid);

/* A setpoint that a motion moves. The rate changes by at most `change` a second. */
struct moved {
    float rate;
    /* Whether a motion moves the setpoint or moved it and still slows down; whether an obstacle holds the axis back. */
    bool moves, blocked;
};
/* Runs one loop period at the rate that a motion asks for. When a motion has slowed down, the setpoint is the measured value. An
   axis that is held back has nothing to slow down: its motion ends at once. This returns true, and the loop must forget what it has
   summed up. */
bool moved_tick(struct moved *moved, struct sum *setpoint, float measured, float wanted, float change);
/* The rate of an axis in its quantity. */
float rate_of(const struct command *command, int axis);

/* The excitation on the setpoint. */
struct signal {
    float value, height;
    uint32_t edges;
    /* Loop periods since the last edge, and from the last edge to the next. `half` is 0 without an excitation. */
    int32_t since, half;
};

/* `excitation` is null if none runs. When an excitation ends, it fades within a second. */
void signal_tick(struct signal *signal, const struct excitation *excitation);
void signal_end(struct signal *signal);

/* Mode, torque and excited loop of the last period. */
struct activity {
    bool known, torque;
    uint8_t mode, slot;
};
enum turn { SAME, REDIRECTED, ENTERED };
/* Compares the command with the last period. ENTERED: mode or torque changed. REDIRECTED: another loop is excited. */
enum turn activity_turn(struct activity *activity, const struct command *command);

/* Returns the command's excitation if it may move a loop, otherwise null. */
const struct excitation *excitation_of(const struct command *command);
/* The excitation on the setpoint of one loop now; 0 if another loop or none is excited. */
float excited(const struct command *command, const struct signal *signal, uint8_t slot);

float clamped(float value, float min, float max);
float towards(float from, float to, float most);
/* The same direction, in the range from -pi to pi. */
float wrapped(float angle_rad);
float sine(float angle_rad);
float cosine(float angle_rad);
float arctangent(float value);
float square_root(float value);

/* The course of the chassis in `auto`. */
struct course_point {
    float x_m, y_m, heading_rad;
};
/* The place in the lap, from the distance driven since the lap's beginning. It takes the same time after any number of laps. */
float course_place(float driven_m);
struct course_point course_at(float driven_m);
/* The search for the place where the chassis best joins the course: near, and with nearly the same heading. Set it to zeros.
   Each call compares one place, because a chip has no time for more in a period. The call returns whether the search has
   ended. */
struct course_search {
    float next_m, best_m, least;
};
bool course_join(struct course_search *search, float x_m, float y_m, float heading_rad);

#endif
