/* The part that runs in the loop. Applies accepted frames, runs the loops, guards the excitation, and publishes the result. */
#include "controller.h"

/* Faults that take torque off. */
#define TAKES_TORQUE \
    (MOTOR_FAULTS_SILENT | MOTOR_FAULTS_OVER_CURRENT | MOTOR_FAULTS_OVER_TEMPERATURE | \
     MOTOR_FAULTS_ENCODER_FAILED | MOTOR_FAULTS_SUPPLY_LOW)
#define SILENCE_AT_START_MS 500
#define OLD_MS 0xffff
/* A fault that takes torque off is shown for at least this long, so that a poll sees it. */
#define FAULT_SHOWN_MS 1000

static const struct motion no_motion;

static bool has_torque(const struct state *state)
{
    return !state->stopped && state->has_gains && !(state->faults & TAKES_TORQUE);
}

/* The mode may be the old one again before the loops run. */
static void enter(struct motor *motor, uint8_t mode)
{
    struct command *command = &motor->loop.state.command;
    if (mode == command->mode)
        return;
    motor->loop.ran_away = false;
    motor->unit->drop_excitation();
    command->motion = no_motion;
    if (mode == MOTOR_MODE_DEBUG)
        command->excitation.amplitude = 0;
    command->mode = mode;
}

/* Without torque, the unit keeps nothing that would move it when torque returns. */
static void rest(struct motor *motor)
{
    struct command *command = &motor->loop.state.command;
    motor->unit->drop_excitation();
    command->excitation.amplitude = 0;
    command->motion = no_motion;
}

static void take_mail(struct motor *motor)
{
    struct loop *loop = &motor->loop;
    struct state *state = &loop->state;
    while (loop->mail_tail != motor->bus.mail_head) {
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        const struct mail *mail = &motor->bus.mail[loop->mail_tail % MOTOR_MAIL];
        switch (mail->place) {
        case MOTOR_MODE_REGISTER:
            enter(motor, mail->value);
            break;
        case MOTOR_STOP_REGISTER:
            state->stopped = mail->value == MOTOR_STOP_STOPPED;
            break;
        case MOTOR_MOTION_REGISTER:
            if (state->command.mode == MOTOR_MODE_MANUAL)
                state->command.motion = mail->motion;
            break;
        case MOTOR_EXCITATION_REGISTER:
            state->command.excitation = mail->excitation;
            loop->ran_away = false;
            break;
        case MOTOR_COMMIT_REGISTER:
            memcpy(state->command.gains, mail->gains, sizeof mail->gains);
            state->checksum = motor_crc32(0, mail->gains, motor->unit->loop_count * sizeof *mail->gains);
            state->has_gains = true;
            break;
        }
        if (!has_torque(state))
            rest(motor);
        __atomic_thread_fence(__ATOMIC_RELEASE);
        loop->mail_tail++;
    }
}

static uint16_t older(uint16_t age_ms, bool again)
{
    return (uint16_t)(again ? 1 : age_ms < OLD_MS ? age_ms + 1 : OLD_MS);
}

/* Finds the faults of this period. Faults of sensors and drivers that take torque off share one age: all of them end 1 s
   after the last. */
static void sense_faults(struct motor *motor)
{
    struct loop *loop = &motor->loop;
    /* A heartbeat may come between two of these reads. If the silence were read last, it could be shorter than that of the last
       heartbeat that counts. */
    uint16_t silence_ms = motor->bus.silence_ms, now = port_faults();
    uint32_t beats = motor->bus.beats, refusals = motor->bus.refusals;
    loop->silence_age_ms = older(loop->silence_age_ms, beats != loop->beats);
    loop->state.refusal_age_ms = older(loop->state.refusal_age_ms, refusals != loop->state.refusals);
    loop->beats = beats;
    loop->state.refusals = refusals;
    loop->fault_age_ms = now & TAKES_TORQUE ? 0 : older(loop->fault_age_ms, false);
    if (loop->fault_age_ms >= FAULT_SHOWN_MS)
        loop->held_faults = 0;
    loop->held_faults |= now & TAKES_TORQUE;
    bool silent = silence_ms > 0 && loop->silence_age_ms >= silence_ms;
    loop->state.faults = (uint16_t)(now | loop->held_faults | (silent ? MOTOR_FAULTS_SILENT : 0));
}

/* The guard: ends the excitation if setpoint and measured value differ too much. A double holds the difference exactly. */
static void watch(struct motor *motor, struct reading reading)
{
    struct loop *loop = &motor->loop;
    double deviation = loop->state.command.excitation.deviation;
    double distance = (double)reading.setpoint - (double)reading.measured;
    if (deviation == 0 || (distance <= deviation && distance >= -deviation))
        return;
    loop->state.command.excitation.amplitude = 0;
    motor->unit->drop_excitation();
    loop->ran_away = true;
}

static int16_t *count(int16_t *counts, float value, uint16_t scale)
{
    *counts = (int16_t)scaled(value, scale, INT16_MAX);
    return counts + 1;
}

static void show(struct motor *motor)
{
    struct state *state = &motor->loop.state;
    int16_t *counts = state->telemetry;
    for (uint8_t slot = 0; slot < motor->unit->loop_count; slot++) {
        const struct reading *reading = &state->loops.reading[slot];
        const struct loop_scale *scale = &motor->unit->scale[slot];
        counts = count(counts, reading->setpoint, scale->counts);
        counts = count(counts, reading->measured, scale->counts);
        counts = count(counts, reading->output, scale->output_counts);
    }
    if (motor->unit->has_pose) {
        counts = count(counts, state->loops.x_m, 1000);
        counts = count(counts, state->loops.y_m, 1000);
        count(counts, state->loops.heading_rad, 10000);
    }
    motor->loop.shown[1 - motor->newest] = *state;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    motor->newest = (uint8_t)(1 - motor->newest);
}

void motor_start(struct motor *motor, const struct motor_unit *unit, uint32_t boot_id)
{
    motor->unit = unit;
    motor->boot_id = boot_id;
    motor->bus.silence_ms = SILENCE_AT_START_MS;
    motor->bus.has_build = port_build() != 0;
    struct state *state = &motor->loop.state;
    state->command.mode = MOTOR_MODE_MANUAL;
    state->command.excitation.period_s = 1;
    state->refusal_age_ms = OLD_MS;
    show(motor);
}

void motor_tick(struct motor *motor)
{
    struct loop *loop = &motor->loop;
    struct state *state = &loop->state;
    struct command *command = &state->command;
    take_mail(motor);
    sense_faults(motor);
    state->tick++;
    command->torque = has_torque(state);
    if (!command->torque)
        rest(motor);
    struct excitation excitation = command->excitation;
    struct reading before = state->loops.reading[excitation.slot];
    uint32_t edges = state->loops.edges;
    port_show(command->mode, command->torque);
    port_torque(command->torque);
    motor->unit->tick(command, &state->loops);
    if (command->motion.hold_ms > 0 && --command->motion.hold_ms == 0)
        command->motion = no_motion;
    struct reading after = state->loops.reading[excitation.slot];
    bool runs = command->mode == MOTOR_MODE_DEBUG && command->torque && excitation.amplitude != 0;
    if (runs)
        watch(motor, after);
    if (loop->ran_away)
        state->faults |= MOTOR_FAULTS_RAN_AWAY;
    bool edge = state->loops.edges != edges && after.setpoint != before.setpoint;
    capture_tick(motor, runs ? &excitation : 0, before, after, edge);
    show(motor);
}
