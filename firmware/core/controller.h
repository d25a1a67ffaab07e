/*
 * One motor controller, as docs/motor-protocol.md describes it. The core needs no operating system, no C library and no
 * heap. Two contexts use it: the bus interrupt calls the functions of "The bus", the loop calls motor_tick. Every
 * variable has one writer. The interrupt may preempt the loop; the loop never preempts the interrupt.
 */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include "port.h"

#define MOTOR_LOOP_RATE_HZ 1000
#define MOTOR_BUFFERS 3

struct gains {
    float kp, ki, kd;
};

struct excitation {
    uint8_t slot;
    float amplitude, period_s, deviation;
};

/* The readings of a loop, in the quantities of its unit. */
struct reading {
    float setpoint, measured, output;
};

#define MOTOR_AXES 2

/* A motion: the rates of the axes in counts, and the loop periods for which they still hold. */
struct motion {
    int16_t rate[MOTOR_AXES];
    uint16_t hold_ms;
};

/* The protocol's command to the loops for one period. */
struct command {
    uint8_t mode;
    bool torque;
    struct gains gains[MOTOR_LOOP_SLOTS];
    struct excitation excitation;
    /* All 0 without a motion. */
    struct motion motion;
};

/* The result of the loops for one period. */
struct loops {
    struct reading reading[MOTOR_LOOP_SLOTS];
    /* Place and heading on the floor; unused by a unit without a pose. */
    float x_m, y_m, heading_rad;
    /* Counts the edges of the excitation. The setpoint is new in the same period in which the count increases. */
    uint32_t edges;
    bool target_visible;
};

struct loop_scale {
    uint16_t counts, output_counts;
    float max_amplitude;
};
/* The scale of a loop, from motor_registers.h. */
#define LOOP_SCALE(name) { MOTOR_##name##_COUNTS, MOTOR_##name##_OUTPUT_COUNTS, MOTOR_##name##_MAX_AMPLITUDE }

/* The declaration of a unit and its loops. */
struct motor_unit {
    uint8_t address, kind, loop_count;
    bool has_pose;
    struct loop_scale scale[MOTOR_LOOP_SLOTS];
    /* The greatest rate of each axis, in counts. */
    int16_t greatest_rate[MOTOR_AXES];
    /* One loop period: sensors, loops, motor voltages. */
    void (*tick)(const struct command *command, struct loops *loops);
    /* Ends the excitation at once. The outputs continue without a jump. */
    void (*drop_excitation)(void);
};

extern const struct motor_unit motor_gimbal, motor_chassis;

/* An accepted frame on its way from the interrupt to the loop. `place` is its register. */
struct mail {
    uint8_t place;
    union {
        uint8_t value;
        struct excitation excitation;
        struct gains gains[MOTOR_LOOP_SLOTS];
        struct motion motion;
    };
};

/* The bus may carry 10 frames in one loop period. One place is kept for a stop. */
#define MOTOR_MAIL 32

/* One byte longer than the longest frame, so that a frame that is too long can be detected. */
union frame_data {
    uint8_t bytes[MOTOR_MAX_FRAME_BYTES + 1];
    struct motor_identity identity;
    struct motor_status status;
    struct motor_build build;
    struct motor_heartbeat heartbeat;
    struct motor_commit commit;
    struct motor_guarded_excitation excitation;
    struct motor_gains gains;
    struct motor_capture capture;
    struct motion motion;
};

/* Written by the interrupt only. The loop reads the volatile members, each once a period, in the order of the program. */
struct bus {
    union frame_data received;
    uint8_t count;
    bool writing;
    uint8_t place;
    /* The frame that is being sent. */
    union frame_data sent;
    const struct frame *loaded;
    struct gains staged[MOTOR_LOOP_SLOTS];
    uint8_t staged_bits;
    bool commit_refused, has_build;
    volatile uint32_t refusals, beats, selections;
    volatile uint16_t silence_ms;
    uint8_t page, sequence;
    /* The snapshot of telemetry that was read last, and the one in `sent`. */
    uint32_t snapshot_tick, loaded_tick;
    volatile uint32_t mail_head;
    struct mail mail[MOTOR_MAIL];
};

struct capture {
    uint8_t number, slot;
    uint16_t decimation, samples;
    struct {
        int16_t setpoint, measured;
    } sample[MOTOR_CAPTURE_SAMPLES];
};

/* The part of the loop's state that the host can see. */
struct state {
    struct command command;
    struct loops loops;
    bool stopped, has_gains;
    /* The faults that are shown, except refused frames and commits. */
    uint16_t faults;
    uint16_t refusal_age_ms;
    uint32_t tick, refusals, checksum;
    /* Null before the first capture. */
    const struct capture *capture;
    int16_t telemetry[3 * MOTOR_LOOP_SLOTS];
};

/* Written by the loop only. */
struct loop {
    struct state state;
    bool ran_away;
    uint32_t mail_tail, beats, selections;
    uint16_t silence_age_ms, fault_age_ms, kept_ms;
    /* Faults of sensors and drivers that take torque off. They are kept for a second. */
    uint16_t held_faults;
    struct capture captures[MOTOR_BUFFERS];
    /* The capture being recorded, and the complete one that is shown next. Each is null if there is none. */
    struct capture *recording, *next;
    uint16_t wait;
    uint8_t capture_count;
    /* Copies of `state` for the interrupt. Each is written completely at the end of a period. */
    struct state shown[2];
};

struct motor {
    const struct motor_unit *unit;
    uint32_t boot_id;
    struct bus bus;
    struct loop loop;
    /* The index of the newest complete `loop.shown`. */
    volatile uint8_t newest;
};

/* Starts as after power-up: manual, no torque, no gains. The program's memory must be as it was loaded. `boot_id`
   must differ from the one of the last start. */
void motor_start(struct motor *motor, const struct motor_unit *unit, uint32_t boot_id);

/* Runs one loop period. */
void motor_tick(struct motor *motor);

/* The bus. Call these functions from its interrupt, in the order of the wire. Call motor_frame_ends at each start,
   repeated start and stop. */
void motor_frame_ends(struct motor *motor);
void motor_byte_received(struct motor *motor, uint8_t byte);
/* The next byte of a read. The chip may fetch the byte before the host asks for it, but not before the start of the read. Only
   motor_byte_sent advances to the byte after it. */
uint8_t motor_byte_to_send(struct motor *motor);
void motor_byte_sent(struct motor *motor);

/* Functions that the files of the core share. */
bool is_finite(float value);
/* value * scale, rounded to the nearest whole number, halves upwards, and limited to +-limit. Exact for all finite
   values. */
int32_t scaled(float value, uint16_t scale, int32_t limit);
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *what, int value, size_t bytes);
void capture_tick(struct motor *motor, const struct excitation *excitation, struct reading before, struct reading after, bool edge);

#endif
