/* The loop of 1 kHz, and the functions of port.h for this board. */
#include "pico.h"
#include "loops.h"

#define LOWEST_PRIORITY (UINT32_C(3) << 30)
#define SYSTICK_RUNS 7

static struct motor motor;
static volatile bool is_due;
static uint32_t longest_us;
static struct motor_build build;

/* The readings of the board at the start of this period. */
static uint16_t faults;
static float part_per_volt;
static int32_t counts[MOTORS], first_counts[MOTORS];
static struct {
    bool known, silent;
    int32_t silent_ms;
    float volts;
} driven[MOTORS];

/* The most counts that a motor can turn in one period. A quarter is added, because interrupts may delay a period. */
#define MAX_COUNTS (int32_t)(1.25f * MAX_RAD_S / (2 * PI * MOTOR_LOOP_RATE_HZ) * MAX_COUNTS_PER_TURN + 2)

/* A reset by the watchdog restarts the counts at 0, but angles are measured from the power-up. So the last counts are kept in
   the scratch registers. Motion during the reset is lost. */
static void restore_counts(void)
{
    for (uint32_t i = 0; i < MOTORS; i++)
        if (watchdog_cause() == MOTOR_RESET_CAUSE_WATCHDOG)
            first_counts[i] = (int32_t)WATCHDOG_SCRATCH(1 + i) - encoder_counts(i);
}

/* Returns whether the encoder has failed. An encoder that failed because it was silent must count before the fault ends. */
static bool sense_encoder(uint32_t i)
{
    int32_t now = encoder_counts(i) + first_counts[i], change = now - counts[i];
    bool jumped = driven[i].known && (change > MAX_COUNTS || change < -MAX_COUNTS);
    bool hard = driven[i].volts > ENCODER_SILENT_V || driven[i].volts < -ENCODER_SILENT_V;
    counts[i] = now;
    WATCHDOG_SCRATCH(1 + i) = (uint32_t)now;
    driven[i].known = true;
    driven[i].silent_ms = hard && change == 0 ? driven[i].silent_ms + 1 : 0;
    if (change != 0)
        driven[i].silent = false;
    else if (ENCODER_SILENT_MS > 0 && driven[i].silent_ms >= ENCODER_SILENT_MS)
        driven[i].silent = true;
    return jumped || driven[i].silent;
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
    return counts[name % MOTORS];
}

/* Computed from the distances that the two wheels have covered, so it is wrong if a wheel slips. */
int32_t port_heading(void)
{
    const float count = 2 * PI * WHEEL_RADIUS_M * 1e7f / (1.0f * WHEEL_ENCODER_COUNTS * WHEEL_GEAR * TRACK_MM);
    return (int32_t)((counts[B] - counts[A]) * (int64_t)(count * (1 << 24)) >> 24);
}

struct picture port_picture(void)
{
    return camera_picture();
}

void port_drive(enum motor_name name, float volts)
{
    driven[name % MOTORS].volts = volts;
    bridge_drive(name % MOTORS, volts * part_per_volt);
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
