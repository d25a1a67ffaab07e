/* The gimbal: two axes, each with a visual loop outside and an angle loop inside. */
#include "loops.h"
#include <robot.h>

/* After this many loop periods without a target, `auto` sweeps to find one. */
#define SEARCH_AFTER 1000
#define SEARCH_RAD 1.8f
#define SEARCH_RAD_S 0.8f
/* The setpoints keep this distance from the end stops. */
#define MARGIN_RAD 0.05f
/* The change of a motion's rate. */
#define CHANGE_RAD_S2 10.0f

struct axis {
    enum motor_name motor;
    uint8_t visual_slot, angle_slot;
    float count_rad;
    struct pid_shape visual_shape, angle_shape;
    struct pid visual, angle;
    /* The setpoint of the angle, without the excitation. */
    struct sum aim_rad;
    struct moved moved;
};

#define AXIS(name) \
    { .motor = MOTOR_##name, .visual_slot = MOTOR_GIMBAL_VISUAL_##name##_SLOT, .angle_slot = MOTOR_GIMBAL_ANGLE_##name##_SLOT, \
      .count_rad = 2 * PI / (name##_ENCODER_COUNTS * name##_GEAR), \
      .visual_shape = { SMOOTHING(0.03f), name##_MIN_RAD + MARGIN_RAD, name##_MAX_RAD - MARGIN_RAD }, \
      .angle_shape = { SMOOTHING(0.002f), -SUPPLY_V, SUPPLY_V } }

static struct axis yaw = AXIS(YAW), pitch = AXIS(PITCH);
static struct activity activity;
static struct signal signal;
static uint32_t unseen;
static float side = 1;

static void aim_at(struct axis *axis, float angle_rad)
{
    sum_set(&axis->aim_rad, clamped(angle_rad, axis->visual_shape.min, axis->visual_shape.max));
}

/* Aims where the axis is. An axis that an obstacle holds back must not keep pushing. */
static void enter(struct axis *axis, float angle_rad)
{
    aim_at(axis, angle_rad);
    if (axis->moved.blocked)
        pid_follow(&axis->angle, &axis->angle_shape, 0, angle_rad);
    axis->moved = (struct moved){ 0 };
}

static float angle_of(const struct axis *axis)
{
    return (float)port_encoder(axis->motor) * axis->count_rad;
}

static void drop(void)
{
    signal_end(&signal);
    yaw.angle.joining = true;
    pitch.angle.joining = true;
}

/* The visual loop only measures. Its output does not change. */
static void watch(struct axis *axis, struct loops *loops, float offset_rad)
{
    pid_follow(&axis->visual, &axis->visual_shape, axis->aim_rad.value, -offset_rad);
    loops->reading[axis->visual_slot] = (struct reading){ 0, offset_rad, axis->aim_rad.value };
}

static void turn_axis(struct axis *axis, const struct command *command, struct loops *loops, float angle_rad, float excitation)
{
    float setpoint = clamped(axis->aim_rad.value + excitation, axis->visual_shape.min, axis->visual_shape.max);
    float volts = pid_update(&axis->angle, &axis->angle_shape, setpoint, angle_rad, command->gains[axis->angle_slot]);
    loops->reading[axis->angle_slot] = (struct reading){ setpoint, angle_rad, volts };
    port_drive(axis->motor, volts);
}

static void tick_axis(struct axis *axis, const struct command *command, struct loops *loops, float angle_rad,
                      float offset_rad, bool visible)
{
    if (!command->torque) {
        aim_at(axis, angle_rad);
        pid_follow(&axis->angle, &axis->angle_shape, 0, angle_rad);
        watch(axis, loops, offset_rad);
        loops->reading[axis->angle_slot] = (struct reading){ angle_rad, angle_rad, 0 };
        port_drive(axis->motor, 0);
        return;
    }
    float setpoint_rad = excited(command, &signal, axis->visual_slot);
    if (visible && ((command->mode == MOTOR_MODE_AUTO && port_auto_moves()) || setpoint_rad != 0)) {
        /* The offset falls when the axis turns towards the target, so both signs are reversed. */
        sum_set(&axis->aim_rad, pid_update(&axis->visual, &axis->visual_shape, -setpoint_rad, -offset_rad,
                                           command->gains[axis->visual_slot]));
        loops->reading[axis->visual_slot] = (struct reading){ setpoint_rad, offset_rad, axis->aim_rad.value };
        turn_axis(axis, command, loops, angle_rad, 0);
        return;
    }
    if (moved_tick(&axis->moved, &axis->aim_rad, angle_rad, rate_of(command, axis->motor), CHANGE_RAD_S2))
        pid_follow(&axis->angle, &axis->angle_shape, 0, angle_rad);
    if (axis->aim_rad.value > axis->visual_shape.max || axis->aim_rad.value < axis->visual_shape.min)
        aim_at(axis, axis->aim_rad.value);
    watch(axis, loops, offset_rad);
    turn_axis(axis, command, loops, angle_rad, excited(command, &signal, axis->angle_slot));
}

static void search(bool visible)
{
    unseen = visible ? 0 : unseen + 1;
    if (unseen < SEARCH_AFTER || !port_auto_moves())
        return;
    float step = SEARCH_RAD_S * PERIOD_S;
    if (yaw.aim_rad.value * side >= SEARCH_RAD)
        side = -side;
    sum_add(&yaw.aim_rad, side * step);
    sum_add(&pitch.aim_rad, clamped(-pitch.aim_rad.value, -step, step));
}

static void tick(const struct command *command, struct loops *loops)
{
    float yaw_rad = angle_of(&yaw), pitch_rad = angle_of(&pitch);
    enum turn turn = activity_turn(&activity, command);
    struct picture picture = port_picture();
    if (turn != SAME)
        drop();
    if (turn == ENTERED) {
        enter(&yaw, yaw_rad);
        enter(&pitch, pitch_rad);
        unseen = 0;
    }
    signal_tick(&signal, excitation_of(command));
    if (command->mode == MOTOR_MODE_AUTO && command->torque)
        search(picture.visible);
    tick_axis(&yaw, command, loops, yaw_rad, picture.yaw_rad, picture.visible);
    tick_axis(&pitch, command, loops, pitch_rad, picture.pitch_rad, picture.visible);
    loops->edges = signal.edges;
    loops->target_visible = picture.visible;
}

const struct motor_unit motor_gimbal = {
    .address = MOTOR_GIMBAL_ADDRESS,
    .kind = MOTOR_GIMBAL_KIND,
    .loop_count = MOTOR_GIMBAL_LOOPS,
    .scale = {
        [MOTOR_GIMBAL_VISUAL_YAW_SLOT] = LOOP_SCALE(GIMBAL_VISUAL_YAW),
        [MOTOR_GIMBAL_VISUAL_PITCH_SLOT] = LOOP_SCALE(GIMBAL_VISUAL_PITCH),
        [MOTOR_GIMBAL_ANGLE_YAW_SLOT] = LOOP_SCALE(GIMBAL_ANGLE_YAW),
        [MOTOR_GIMBAL_ANGLE_PITCH_SLOT] = LOOP_SCALE(GIMBAL_ANGLE_PITCH),
    },
    .greatest_rate = {
        (int16_t)(DRIVE_YAW_RAD_S * MOTOR_RATE_COUNTS),
        (int16_t)(DRIVE_PITCH_RAD_S * MOTOR_RATE_COUNTS),
    },
    .tick = tick,
    .drop_excitation = drop,
};
