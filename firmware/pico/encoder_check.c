/*
 * Finds a failed encoder by comparing it with the voltage that its motor must follow. There are four signs:
 *
 *   - It counts faster than the fastest motor can turn.
 *   - Its pins change, but the changes add up to nothing: one channel is dead, or both channels are connected.
 *   - It goes faster and faster against the voltage: it is reversed.
 *   - It stands still. A motor at a wall or an end stop looks the same, so the motor is driven backwards with the same voltage for
 *     the same time. A motor that is only blocked turns back, and that ends the doubt. Otherwise the motor gets no voltage, because
 *     its encoder may be dead. A motor may also be clamped for a moment, so before the fault it is tried once more.
 */
#include "pico.h"
#include "loops.h"

/* The voltage that must turn a motor: a quarter of the smallest output limit. */
#ifdef GIMBAL
#define PUSH_V (SUPPLY_V / 4.0f)
#else
#define PUSH_V (TURNING_V / 4.0f)
#endif
/* Counts of the fastest motor in one period. */
#define FASTEST (MAX_RAD_S / (2 * PI * MOTOR_LOOP_RATE_HZ) * MAX_COUNTS_PER_TURN)
/* A quarter is added, because interrupts may delay a period. */
#define MAX_COUNTS (int32_t)(1.25f * FASTEST + 2)
/* Changes that add up to nothing. Vibration may cause a few, at the edge of a count. */
#define MAX_WASTE (int32_t)(16 + MAX_COUNTS_PER_TURN / 1024)
/* The speed that a motor may gain against its voltage because something pushes it. */
#define MAX_GAIN (FASTEST / 3)
/* An encoder that stands still for this time is doubted. A coarse encoder takes longer to show a slow start. */
#define DOUBT_MS (int32_t)(28 + 60000 / MAX_COUNTS_PER_TURN)
/* How long a motor is tried in each direction, with full voltage, before the fault. */
#define TRY_MS 20
#define SHORTEST_MS (2 * DOUBT_MS + 2 * TRY_MS)
#define FAIL_MS (ENCODER_SILENT_MS > SHORTEST_MS ? ENCODER_SILENT_MS : SHORTEST_MS)
/* So many counts against the voltage are not what is left of an earlier motion. */
#define WRONG_WAY 8
/* An encoder that moved while it was doubted is not doubted again for this time. */
#define TRUST_MS 500

static struct check {
    /* The direction of the voltage: 1, -1, or 0 if it is too low to tell. */
    int32_t push;
    /* How long the count has stood still under the same push; negative while it is trusted. */
    int32_t still_ms;
    /* Counts since the count last moved by more than one. */
    int32_t moved;
    int32_t waste;
    /* Counts in one period: the mean, and the lowest mean against the voltage under the same push. */
    float speed, lowest;
    bool failed;
} checks[MOTORS];

static int32_t distance(int32_t counts)
{
    return counts < 0 ? -counts : counts;
}

static bool is_doubted(const struct check *check)
{
    return ENCODER_SILENT_MS > 0 && check->still_ms >= DOUBT_MS;
}

float encoder_drive(uint32_t motor, float part)
{
    const struct check *check = &checks[motor];
    int32_t left_ms = FAIL_MS - check->still_ms;
    if (!is_doubted(check))
        return part;
    if (check->still_ms < 2 * DOUBT_MS)
        return -part;
    return left_ms > 2 * TRY_MS ? 0 : (float)(left_ms > TRY_MS ? check->push : -check->push);
}

bool encoder_fails(uint32_t motor, float volts, int32_t counts, uint32_t changes)
{
    struct check *check = &checks[motor];
    int32_t push = volts > PUSH_V ? 1 : volts < -PUSH_V ? -1 : 0;
    check->speed += ((float)counts - check->speed) / 8;
    float against = clamped(-(float)push * check->speed, 0, FASTEST);
    if (push == 0 || push != check->push) {
        check->still_ms = 0;
        check->waste = 0;
        check->lowest = against;
    }
    check->push = push;
    check->lowest = against < check->lowest ? against : check->lowest;
    check->waste += (int32_t)changes - 2 * distance(counts);
    if (check->waste < 0)
        check->waste = 0;
    bool doubted = is_doubted(check), goes_back = doubted && check->still_ms < 2 * DOUBT_MS;
    check->still_ms++;
    check->moved += counts;
    int32_t onwards = check->moved * push;
    if (goes_back && onwards > WRONG_WAY) {
        check->failed = true;
    } else if (distance(check->moved) > 1 && !(goes_back && onwards > 0)) {
        check->failed = false;
        check->still_ms = doubted ? -TRUST_MS : check->still_ms > 0 ? 0 : check->still_ms;
        check->moved = 0;
    } else if (check->still_ms == DOUBT_MS) {
        check->moved = 0;
    }
    bool is_still = is_doubted(check) && check->still_ms >= FAIL_MS;
    if (push != 0 && (is_still || check->waste > MAX_WASTE || against - check->lowest > MAX_GAIN))
        check->failed = true;
    return check->failed || distance(counts) > MAX_COUNTS;
}
