/* The watchdog, the cause of the last reset, and the boot id. */
#include "pico.h"

#define TIMEOUT_US 20000
/* The counter goes down by two each microsecond (erratum RP2040-E1). */
#define LOAD (2 * TIMEOUT_US)
#define ENABLE BIT(30)
#define HAD_RUN_PIN BIT(16)
#define HAD_DEBUGGER BIT(20)
#define RANDOM_BITS 24

static uint32_t boot_id;

/* Bits of the ring oscillator. Time passes between two bits, so that they do not depend on each other. */
static uint32_t random_bits(void)
{
    uint32_t bits = 0;
    for (int i = 0; i < RANDOM_BITS; i++) {
        for (int wait = 0; wait < 20; wait++)
            bits ^= ROSC_RANDOM_BIT & 1;
        bits = i < RANDOM_BITS - 1 ? bits << 1 : bits;
    }
    return bits;
}

/* The first scratch register keeps its value when the watchdog resets the chip, and counts the starts since power-up.
   The pauses for a debugger stay off: a halted processor must not leave its motors driven. */
void watchdog_start(void)
{
    uint32_t starts = WATCHDOG_SCRATCH(0) + 1;
    WATCHDOG_SCRATCH(0) = starts;
    boot_id = starts << RANDOM_BITS | random_bits();
    REGISTER(PSM_WDSEL) = 0x1ffff & ~PSM_OSCILLATORS;
    WATCHDOG_LOAD = LOAD;
    WATCHDOG_CTRL = ENABLE;
}

void watchdog_feed(void)
{
    WATCHDOG_LOAD = LOAD;
}

uint8_t watchdog_cause(void)
{
    /* The boot ROM ends with a watchdog reset after it has written a UF2. That is the first start since power-up. */
    if (WATCHDOG_REASON != 0)
        return WATCHDOG_SCRATCH(0) > 1 ? MOTOR_RESET_CAUSE_WATCHDOG : MOTOR_RESET_CAUSE_OTHER;
    if (CHIP_RESET & HAD_DEBUGGER)
        return MOTOR_RESET_CAUSE_OTHER;
    return CHIP_RESET & HAD_RUN_PIN ? MOTOR_RESET_CAUSE_RESET_PIN : MOTOR_RESET_CAUSE_POWER;
}

uint32_t watchdog_boot_id(void)
{
    return boot_id;
}
