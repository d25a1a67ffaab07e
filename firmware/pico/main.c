/* The loop of 1 kHz, and the functions of port.h for this board. */
#include "pico.h"
#include "loops.h"

#define LOWEST_PRIORITY (UINT32_C(3) << 30)
#define SYSTICK_RUNS 7

static struct motor motor;
static volatile bool is_due;
static uint32_t longest_us;
static struct motor_build build;

/* The readings of the board at the start of this period, and the volts of the period before it. */
static uint16_t faults;
static float part_per_volt;
static uint32_t counts[MOTORS], changes[MOTORS], first_counts[MOTORS];
static float volts[MOTORS];

/* A reset by the watchdog restarts the counts at 0, but angles are measured from the power-up. So the last counts are kept in
   the scratch registers. Motion during the reset is lost. */
static void restore_counts(void)
{
    for (uint32_t i = 0; i < MOTORS; i++) {
        uint32_t now = (uint32_t)encoder_counts(i);
        counts[i] = watchdog_cause() == MOTOR_RESET_CAUSE_WATCHDOG ? WATCHDOG_SCRATCH(1 + i) : now;
        first_counts[i] = counts[i] - now;
        changes[i] = encoder_changes(i);
    }
}

/* Returns whether the encoder has failed. */
static bool sense_encoder(uint32_t i)
{
    uint32_t last = counts[i], last_change = changes[i];
    counts[i] = (uint32_t)encoder_counts(i) + first_counts[i];
    changes[i] = encoder_changes(i);
    WATCHDOG_SCRATCH(1 + i) = counts[i];
    return encoder_fails(i, volts[i], (int32_t)(counts[i] - last), changes[i] - last_change);
}

static void sense(void)
{
    analog_read();
    faults = analog_supply_mv() < SUPPLY_MIN_MV ? MOTOR_FAULTS_SUPPLY_LOW : 0;
    part_per_volt = 1000.0f / (float)(analog_supply_mv() + 1);
    for (uint32_t i = 0; i < MOTORS; i++) {
        if (sense_encoder(i))
            faults |= MOTOR_FAULTS_ENCODER_FAILED;
        if (analog_current_ma(i) > CURRENT_MAX_MA)
            faults |= MOTOR_FAULTS_OVER_CURRENT;
    }
#ifdef GIMBAL
    camera_read();
    if (camera_is_lost())
        faults |= MOTOR_FAULTS_CAMERA_LOST;
#endif
}

int32_t port_encoder(enum motor_name name)
{
    return (int32_t)counts[name % MOTORS];
}

/* Computed from the distances that the two wheels have covered, so it is wrong if a wheel slips. */
int32_t port_heading(void)
{
    const float count = 2 * PI * WHEEL_RADIUS_M * 1e7f / (1.0f * WHEEL_ENCODER_COUNTS * WHEEL_GEAR * TRACK_MM);
    return (int32_t)((int32_t)(counts[B] - counts[A]) * (int64_t)(count * (1 << 24)) >> 24);
}

struct picture port_picture(void)
{
    return camera_picture();
}

void port_drive(enum motor_name name, float wanted_volts)
{
    uint32_t motor = name % MOTORS;
    volts[motor] = wanted_volts;
    bridge_drive(motor, encoder_drive(motor, wanted_volts * part_per_volt));
}

void port_torque(bool on)
{
    bridge_enable(on);
}

uint16_t port_faults(void)
{
    return faults;
}

void port_show(uint8_t mode, bool torque)
{
    lamp_show(mode, torque, faults != 0);
}

bool port_auto_moves(void)
{
    return AUTO_MOVES;
}

const struct motor_build *port_build(void)
{
    build.longest_loop_us = (uint16_t)(longest_us < UINT16_MAX ? longest_us : UINT16_MAX);
    return &build;
}

void period_interrupt(void)
{
    is_due = true;
}

static void wait_for_period(void)
{
    /* If the interrupt comes between the test and `wfe`, its event stays set and `wfe` returns at once. */
    while (!is_due)
        __asm__ volatile("wfe");
    is_due = false;
}

static void start_periods(void)
{
    SYSTICK_PRIORITY = LOWEST_PRIORITY;
    SYSTICK_RELOAD = CLOCK_HZ / MOTOR_LOOP_RATE_HZ - 1;
    SYSTICK_NOW = 0;
    bridge_run();
    SYSTICK_CSR = SYSTICK_RUNS;
}

int main(void)
{
    bridge_start();
    watchdog_start();
    lamp_start();
    encoder_start();
    restore_counts();
    analog_start();
#ifdef GIMBAL
    camera_start();
#endif
    build = (struct motor_build){ .image_crc = image_facts()->crc, .reset_cause = watchdog_cause() };
    motor_start(&motor, &UNIT, watchdog_boot_id());
    target_start(&motor);
    start_periods();
    for (;;) {
        wait_for_period();
        uint32_t began_us = TIMER_US;
        sense();
        motor_tick(&motor);
        target_watch();
        watchdog_feed();
        uint32_t us = TIMER_US - began_us;
        longest_us = us > longest_us ? us : longest_us;
    }
}
