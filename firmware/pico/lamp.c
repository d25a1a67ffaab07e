/* The lamp. Its pattern repeats every second. */
#include "pico.h"

#define STEP_MS 50
#define STEPS 20
/* Patterns: one bit for each step of 50 ms, the first step in bit 0. */
#define NO_TORQUE 0x00001u /* one short flash */
#define MANUAL 0xfffffu    /* on */
#define AUTO 0x003ffu      /* half a second on, half a second off */
#define DEBUG 0x00005u     /* two short flashes */
#define FAULT 0x55555u     /* flickers */

void lamp_start(void)
{
    REGISTER(SIO_GPIO_OE_SET) = BIT(LAMP_PIN);
    pin_set_up(LAMP_PIN, PIN_SIO, PAD_4_MA);
}

void lamp_show(uint8_t mode, bool torque, bool fault)
{
    static uint32_t ms;
    ms = (ms + 1) % (STEPS * STEP_MS);
    uint32_t steps = fault ? FAULT : !torque ? NO_TORQUE : mode == MOTOR_MODE_AUTO ? AUTO
                   : mode == MOTOR_MODE_DEBUG ? DEBUG : MANUAL;
    REGISTER(steps >> (ms / STEP_MS) & 1 ? SIO_GPIO_OUT_SET : SIO_GPIO_OUT_CLEAR) = BIT(LAMP_PIN);
}
