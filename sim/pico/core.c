/* The core as a WebAssembly module, with one instance per unit. The host provides the functions of the port. */
#include "../../firmware/core/controller.h"

#define EXPORT(name) __attribute__((export_name(#name))) name
#define BUFFER_BYTES 512

static struct motor motor;
static struct motor_unit unit;
static uint8_t buffer[BUFFER_BYTES];

/* Loops that run on the host instead of the core's own loops. */
void host_tick(const struct command *command, struct loops *loops);
void host_drop_excitation(void);

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

uint8_t *EXPORT(bytes)(void)
{
    return buffer;
}

const struct command *EXPORT(command)(void)
{
    return &motor.loop.state.command;
}

/* One write: the register byte and `count` further bytes of the buffer. */
void EXPORT(write)(uint32_t place, uint32_t count)
{
    motor_frame_ends(&motor);
    motor_byte_received(&motor, (uint8_t)place);
    for (uint32_t i = 0; i < count; i++)
        motor_byte_received(&motor, buffer[i]);
    motor_frame_ends(&motor);
}

/* One combined read into the buffer. */
void EXPORT(read)(uint32_t place, uint32_t count)
{
    motor_frame_ends(&motor);
    motor_byte_received(&motor, (uint8_t)place);
    motor_frame_ends(&motor);
    for (uint32_t i = 0; i < count; i++) {
        buffer[i] = motor_byte_to_send(&motor);
        motor_byte_sent(&motor);
    }
    motor_frame_ends(&motor);
}
