/* The loop's half: applies accepted frames, runs the loops, guards the excitation and shows the result. */
#include "controller.h"

#define SILENCE_AT_START_MS 500
#define OLD_MS 0xffff
/* A fault that takes torque is shown for at least this long, so that a poll sees it. */
#define FAULT_SHOWN_MS 1000

static void enter(struct loop *loop, uint8_t mode)
{
    struct command *command = &loop->command;
    if (mode != command->mode)
        loop->ran_away = false;
    if (mode == MOTOR_MODE_DEBUG && command->mode != MOTOR_MODE_DEBUG)
        command->excitation.amplitude = 0;
    command->mode = mode;
}

static void take_mail(struct motor *motor)
{
    struct loop *loop = &motor->loop;
    while (loop->mail_tail != *(volatile uint32_t *)&motor->bus.mail_head) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        const struct mail *mail = &motor->bus.mail[loop->mail_tail % MOTOR_MAIL];
        switch (mail->kind) {
        case MAIL_MODE:
            enter(loop, mail->value);
            break;
        case MAIL_STOP:
            loop->stopped = mail->value == MOTOR_STOP_STOPPED;
            break;
        case MAIL_EXCITATION:
            loop->command.excitation = mail->excitation;
            loop->ran_away = false;
            break;
        case MAIL_GAINS:
            memcpy(loop->command.gains, mail->gains.set, sizeof mail->gains.set);
            loop->checksum = mail->gains.checksum;
            loop->has_gains = true;
            break;
        }
        __atomic_thread_fence(__ATOMIC_RELEASE);
        loop->mail_tail++;
    }
}

static uint16_t older(uint16_t age_ms, bool again)
{
    if (again)
        return 1;
    return (uint16_t)(age_ms < OLD_MS ? age_ms + 1 : OLD_MS);
}

static void age(struct motor *motor)
{
    struct loop *loop = &motor->loop;
    uint32_t beats = motor->bus.beats, refusals = motor->bus.refusals;
    loop->silence_age_ms = older(loop->silence_age_ms, beats != loop->beats);
    loop->refusal_age_ms = older(loop->refusal_age_ms, refusals != loop->refusals);
    loop->beats = beats;
    loop->refusals = refusals;
}

/* Keeps faults that take torque. The ages of two such faults are one: both end 1 s after the last of them. */
static void hold_faults(struct loop *loop)
{
    uint16_t now = loop->loops.faults;
    if (now & TAKES_TORQUE)
        loop->fault_age_ms = 0;
    else if (loop->fault_age_ms < FAULT_SHOWN_MS)
        loop->fault_age_ms++;
    if (loop->fault_age_ms >= FAULT_SHOWN_MS)
        loop->held_faults = 0;
    loop->held_faults |= now & TAKES_TORQUE;
    loop->faults = now | loop->held_faults;
}

static bool has_torque(const struct motor *motor)
{
    const struct loop *loop = &motor->loop;
    uint16_t silence_ms = motor->bus.silence_ms;
    bool silent = silence_ms > 0 && loop->silence_age_ms >= silence_ms;
    return !loop->stopped && loop->has_gains && !silent && !(loop->faults & TAKES_TORQUE);
}

/* The guard. The difference is taken in double, in which it is exact at the bound. */
static void watch(struct motor *motor, struct reading reading)
{
    struct loop *loop = &motor->loop;
    double deviation = loop->command.excitation.deviation;
    double distance = (double)reading.setpoint - (double)reading.measured;
    if (deviation == 0 || (distance <= deviation && distance >= -deviation))
        return;
    loop->command.excitation.amplitude = 0;
    motor->unit->drop_excitation();
    loop->ran_away = true;
}

static void show(struct motor *motor)
{
    const struct loop *loop = &motor->loop;
    const struct motor_unit *unit = motor->unit;
    struct shown *shown = &motor->loop.shown[1 - motor->newest];
    shown->tick = loop->tick;
    shown->mode = loop->command.mode;
    shown->stopped = loop->stopped;
    shown->has_gains = loop->has_gains;
    shown->ran_away = loop->ran_away;
    shown->silence_age_ms = loop->silence_age_ms;
    shown->refusal_age_ms = loop->refusal_age_ms;
    shown->beats = loop->beats;
    shown->refusals = loop->refusals;
    shown->checksum = loop->checksum;
    shown->excitation = loop->command.excitation;
    shown->capture = loop->newest < 0 ? 0 : &loop->captures[loop->newest];
    shown->target_visible = loop->loops.target_visible;
    shown->faults = loop->faults;
    int16_t *counts = shown->telemetry;
    for (uint8_t slot = 0; slot < unit->loop_count; slot++) {
        const struct reading *reading = &loop->loops.reading[slot];
        const struct loop_scale *scale = &unit->scale[slot];
        *counts++ = (int16_t)scaled(reading->setpoint, scale->counts, INT16_MAX);
        *counts++ = (int16_t)scaled(reading->measured, scale->counts, INT16_MAX);
        *counts++ = (int16_t)scaled(reading->output, scale->output_counts, INT16_MAX);
    }
    if (unit->has_pose) {
        *counts++ = (int16_t)scaled(loop->loops.x_m, 1000, INT16_MAX);
        *counts++ = (int16_t)scaled(loop->loops.y_m, 1000, INT16_MAX);
        *counts++ = (int16_t)scaled(loop->loops.heading_rad, 10000, INT16_MAX);
    }
    __atomic_thread_fence(__ATOMIC_RELEASE);
    motor->newest = (uint8_t)(1 - motor->newest);
}

void motor_start(struct motor *motor, const struct motor_unit *unit, uint32_t boot_id)
{
    memset(motor, 0, sizeof *motor);
    motor->unit = unit;
    motor->boot_id = boot_id;
    motor->bus.silence_ms = SILENCE_AT_START_MS;
    struct loop *loop = &motor->loop;
    loop->command.mode = MOTOR_MODE_MANUAL;
    loop->command.excitation.period_s = 1;
    loop->refusal_age_ms = OLD_MS;
    loop->recording = loop->next = loop->newest = -1;
    unit->reset();
    show(motor);
}

void motor_tick(struct motor *motor)
{
    struct loop *loop = &motor->loop;
    take_mail(motor);
    age(motor);
    loop->tick++;
    struct excitation excitation = loop->command.excitation;
    struct reading before = loop->loops.reading[excitation.slot];
    uint32_t edges = loop->loops.edges;
    loop->command.torque = has_torque(motor);
    motor->unit->tick(&loop->command, &loop->loops);
    hold_faults(loop);
    struct reading after = loop->loops.reading[excitation.slot];
    bool runs = loop->command.mode == MOTOR_MODE_DEBUG && loop->command.torque && excitation.amplitude != 0;
    if (runs)
        watch(motor, after);
    capture_tick(motor, runs ? &excitation : 0, before, after, loop->loops.edges != edges && after.setpoint != before.setpoint);
    show(motor);
}
