/* The functions that the core needs from a chip. Implement them for each chip. The loops call each once per period,
   except port_build: motor_start and the bus interrupt call it. */
#ifndef PORT_H
#define PORT_H

#include <stdbool.h>
#include <stdint.h>
#include "../../docs/motor_registers.h"

enum motor_name { MOTOR_YAW, MOTOR_PITCH, MOTOR_LEFT, MOTOR_RIGHT };

struct picture {
    /* False if the newest picture does not show the target, or the camera is lost. The offsets are then those of the last
       picture that did. */
    bool visible;
    /* Offset of the target from the boresight, to the left and upwards, in rad. */
    float yaw_rad, pitch_rad;
};

/* Counts of the motor's encoder since power-up; positive in the direction of a positive voltage. */
int32_t port_encoder(enum motor_name motor);
/* Heading since power-up in 0.0001 rad, positive to the left; a full turn adds 2 pi. */
int32_t port_heading(void);
struct picture port_picture(void);
/* Volts on a motor. A motor without torque coasts. */
void port_drive(enum motor_name motor, float volts);
void port_torque(bool on);
/* Fault bits of motor_registers.h that sensors and drivers show now. */
uint16_t port_faults(void);
/* Reports the period's mode and torque, for a lamp. */
void port_show(uint8_t mode, bool torque);
/* Whether `auto` may search for a target or drive the course. If not, `auto` holds. */
bool port_auto_moves(void);
/* The register `build`. Null if this firmware has none. */
const struct motor_build *port_build(void);

#endif
