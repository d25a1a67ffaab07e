/* The core as a WebAssembly module, with one instance per unit. The host provides the functions of the port. */
#include "../../firmware/core/controller.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

static struct motor motor;
static struct motor_unit unit;

/* Loops that run on the host instead of the core's own loops. */
void host_tick(const struct command *command, struct loops *loops);
void host_drop_excitation(void);
/* Writes the register `build`. Returns whether there is one. */
bool host_build(struct motor_build *build);

const struct motor_build *port_build(void)
{
    static struct motor_build build;
    return host_build(&build) ? &build : 0;
}

void EXPORT(start)(uint32_t kind, uint32_t boot_id, bool hosted)
{
    unit = kind == MOTOR_GIMBAL_KIND ? motor_gimbal : motor_chassis;
    if (hosted) {
        unit.tick = host_tick;
        unit.drop_excitation = host_drop_excitation;
    }
    motor_start(&motor, &unit, boot_id);
}

void EXPORT(tick)(void)
{
    motor_tick(&motor);
}

const struct command *EXPORT(command)(void)
{
    return &motor.loop.state.command;
}

void EXPORT(frame_ends)(void)
{
    motor_frame_ends(&motor);
}

void EXPORT(byte_received)(uint32_t byte)
{
    motor_byte_received(&motor, (uint8_t)byte);
}

uint32_t EXPORT(byte_to_send)(void)
{
    return motor_byte_to_send(&motor);
}

void EXPORT(byte_sent)(void)
{
    motor_byte_sent(&motor);
}
