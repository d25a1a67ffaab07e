#include "loops.h"

/* exp(-1 ms / 100 ms). A jump of the output fades by this factor in each loop period. */
#define FADING 0.99004983f
/* Products are limited to this magnitude, so that sums of them stay finite. */
#define HUGE 1e37f

float clamped(float value, float min, float max)
{
    return value < min ? min : value > max ? max : value;
}

float towards(float from, float to, float most)
{
    return from + clamped(to - from, -most, most);
}

void sum_add(struct sum *sum, float part)
{
    float corrected = part - sum->lost;
    float value = sum->value + corrected;
    sum->lost = (value - sum->value) - corrected;
    sum->value = value;
}

void sum_set(struct sum *sum, float value)
{
    *sum = (struct sum){ value, 0 };
}

static float product(float a, float b)
{
    return clamped(a * b, -HUGE, HUGE);
}

static void differentiate(struct pid *pid, const struct pid_shape *shape, float measured)
{
    float slope = pid->has_measured ? (pid->measured - measured) * MOTOR_LOOP_RATE_HZ : 0;
    pid->derivative += shape->smoothing * (slope - pid->derivative);
    pid->measured = measured;
    pid->has_measured = true;
}

float pid_update(struct pid *pid, const struct pid_shape *shape, float setpoint, float measured, struct gains gains)
{
    float error = setpoint - measured;
    differentiate(pid, shape, measured);
    bool joining = pid->joining || gains.kp != pid->gains.kp || gains.ki != pid->gains.ki || gains.kd != pid->gains.kd;
    if (joining) {
        pid->gains = gains;
        if (gains.ki == 0)
            sum_set(&pid->integral, 0);
    }
    float direct = product(gains.kp, error) + product(gains.kd, pid->derivative);
    pid->bridge = joining ? pid->output - direct - pid->integral.value : pid->bridge * FADING;
    pid->joining = false;
    float increment = product(gains.ki, error) * PERIOD_S;
    float wanted = direct + pid->integral.value + increment + pid->bridge;
    bool pushes_out = (wanted > shape->max && increment > 0) || (wanted < shape->min && increment < 0);
    if (!pushes_out) {
        sum_add(&pid->integral, increment);
        if (pid->integral.value > shape->max || pid->integral.value < shape->min)
            sum_set(&pid->integral, clamped(pid->integral.value, shape->min, shape->max));
    }
    pid->output = clamped(direct + pid->integral.value + pid->bridge, shape->min, shape->max);
    return pid->output;
}

void pid_follow(struct pid *pid, const struct pid_shape *shape, float output, float measured)
{
    differentiate(pid, shape, measured);
    sum_set(&pid->integral, output);
    pid->output = output;
    pid->joining = true;
}

void pid_start(struct pid *pid)
{
    *pid = (struct pid){ .gains = pid->gains, .joining = true };
}

/* A moving setpoint stays this close to the measured value, in m or rad. A blocked axis therefore stores no way. */
#define LEASH 0.25f

bool moved_tick(struct moved *moved, struct sum *setpoint, float measured, float wanted, float change)
{
    moved->moves |= wanted != 0;
    float step = change * PERIOD_S;
    moved->rate = towards(moved->rate, wanted, step);
    /* What rounding leaves of the rate must not cost a further period. */
    if (wanted == 0 && moved->rate < step / 4 && moved->rate > -step / 4)
        moved->rate = 0;
    sum_add(setpoint, moved->rate * PERIOD_S);
    if (!moved->moves)
        return false;
    if (wanted == 0 && (moved->rate == 0 || moved->blocked)) {
        bool was_blocked = moved->blocked;
        sum_set(setpoint, measured);
        *moved = (struct moved){ 0 };
        return was_blocked;
    }
    moved->blocked = setpoint->value > measured + LEASH || setpoint->value < measured - LEASH;
    if (moved->blocked)
        sum_set(setpoint, clamped(setpoint->value, measured - LEASH, measured + LEASH));
    return false;
}

float rate_of(const struct command *command, int axis)
{
    return (float)command->motion.rate[axis] / MOTOR_RATE_COUNTS;
}

static void edge(struct signal *signal, float value, float period_s)
{
    signal->value = value;
    signal->height = value < 0 ? -value : value;
    signal->edges++;
    signal->since = 0;
    signal->half = scaled(period_s, MOTOR_LOOP_RATE_HZ / 2, INT32_MAX);
}

void signal_tick(struct signal *signal, const struct excitation *excitation)
{
    if (excitation == 0 || excitation->amplitude == 0) {
        signal->half = 0;
        signal->value = towards(signal->value, 0, signal->height * PERIOD_S);
        return;
    }
    if (signal->half == 0)
        edge(signal, excitation->amplitude, excitation->period_s);
    else if (++signal->since >= signal->half)
        edge(signal, signal->value > 0 ? -excitation->amplitude : excitation->amplitude, excitation->period_s);
}

void signal_end(struct signal *signal)
{
    signal->half = 0;
    signal->value = 0;
}

enum turn activity_turn(struct activity *activity, const struct command *command)
{
    bool entered = !activity->known || command->mode != activity->mode || command->torque != activity->torque;
    bool redirected = command->mode == MOTOR_MODE_DEBUG && command->excitation.slot != activity->slot;
    *activity = (struct activity){ true, command->torque, command->mode, command->excitation.slot };
    return entered ? ENTERED : redirected ? REDIRECTED : SAME;
}

const struct excitation *excitation_of(const struct command *command)
{
    return command->mode == MOTOR_MODE_DEBUG && command->torque ? &command->excitation : 0;
}

float excited(const struct command *command, const struct signal *signal, uint8_t slot)
{
    const struct excitation *excitation = excitation_of(command);
    return excitation != 0 && excitation->slot == slot ? signal->value : 0;
}
