/* Drives two H-bridges by PWM. For another type of bridge, rewrite these four functions. */
#include "pico.h"

#define PWM_HZ 20000
#define STEPS (CLOCK_HZ / PWM_HZ)
#define MAX_STEPS (STEPS * MOTOR_MAX_DUTY / 100)
/* Two neighbouring pins share a slice. Its compare register holds the steps of both, so they change together. */
#define SLICE(pin) ((pin) / 2 % 8)

static const struct {
    uint8_t forward, reverse, enable;
    bool reversed;
} motors[MOTORS] = {
    { MOTOR_A_FORWARD_PIN, MOTOR_A_REVERSE_PIN, MOTOR_A_ENABLE_PIN, MOTOR_A_REVERSED },
    { MOTOR_B_FORWARD_PIN, MOTOR_B_REVERSE_PIN, MOTOR_B_ENABLE_PIN, MOTOR_B_REVERSED },
};

void bridge_start(void)
{
    bridge_enable(false);
    for (uint32_t i = 0; i < MOTORS; i++) {
        uint32_t slice = SLICE(motors[i].forward);
        PWM_TOP(slice) = STEPS - 1;
        PWM_CC(slice) = 0;
        pin_set_up(motors[i].forward, PIN_PWM, PAD_4_MA);
        pin_set_up(motors[i].reverse, PIN_PWM, PAD_4_MA);
        REGISTER(SIO_GPIO_OE_SET) = BIT(motors[i].enable);
        pin_set_up(motors[i].enable, PIN_SIO, PAD_4_MA);
    }
}

void bridge_run(void)
{
    PWM_CSR(SLICE(MOTOR_A_FORWARD_PIN)) = 1;
    PWM_CSR(SLICE(MOTOR_B_FORWARD_PIN)) = 1;
}

void bridge_enable(bool on)
{
    REGISTER(on ? SIO_GPIO_OUT_SET : SIO_GPIO_OUT_CLEAR) = BIT(MOTOR_A_ENABLE_PIN) | BIT(MOTOR_B_ENABLE_PIN);
}

void bridge_drive(uint32_t motor, float part)
{
    bool backwards = part < 0;
    float wanted = (backwards ? -part : part) * STEPS;
    uint32_t steps = wanted < MAX_STEPS ? (uint32_t)wanted : MAX_STEPS;
    PWM_CC(SLICE(motors[motor].forward)) = backwards != motors[motor].reversed ? steps << 16 : steps;
}
