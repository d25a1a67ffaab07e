/* The parts of the image. Each driver has at most six functions. For your own hardware, rewrite them. */
#ifndef PICO_H
#define PICO_H

#include "controller.h"
#include <robot.h>
#include "rp2040.h"

#ifdef GIMBAL
#define UNIT motor_gimbal
#define YAW_COUNTS (YAW_ENCODER_COUNTS * YAW_GEAR)
#define PITCH_COUNTS (PITCH_ENCODER_COUNTS * PITCH_GEAR)
#define MAX_COUNTS_PER_TURN (YAW_COUNTS > PITCH_COUNTS ? YAW_COUNTS : PITCH_COUNTS)
#else
#define UNIT motor_chassis
#define MAX_COUNTS_PER_TURN (WHEEL_ENCODER_COUNTS * WHEEL_GEAR)
#endif

/* Motor A is yaw or left, motor B is pitch or right. */
enum { A, B, MOTORS };

int main(void);

/* pin.c */
void pin_set_up(uint32_t pin, enum pin_function function, uint32_t pad);

/* start.c */
struct image_facts {
    /* Length in RAM, and CRC-32 over that length with 0 as CRC. */
    const void *bytes;
    uint32_t crc;
};
const struct image_facts *image_facts(void);

/* main.c */
void period_interrupt(void);

/* target.c: the controller on the bus. */
void target_start(struct motor *motor);
void target_interrupt(void);
/* Releases the bus if a line has been low for 25 ms. Call it once per loop period. */
void target_watch(void);

/* watchdog.c: resets the chip if watchdog_feed has not been called for 20 ms. */
void watchdog_start(void);
void watchdog_feed(void);
/* MOTOR_RESET_CAUSE_... */
uint8_t watchdog_cause(void);
/* Differs at every start. */
uint32_t watchdog_boot_id(void);

/* bridge.c: two motors. */
void bridge_start(void);
/* Switches torque on or off. Without torque the motors coast. */
void bridge_enable(bool on);
/* Starts the PWM. Call it at the start of a loop period, so that every loop period begins with a PWM period. */
void bridge_run(void);
/* The voltage on a motor as a part of the supply, from -1 to 1. */
void bridge_drive(uint32_t motor, float part);

/* encoder.c */
void encoder_start(void);
/* Counts since the start; positive in the direction of a positive voltage. Wraps. */
int32_t encoder_counts(uint32_t motor);
/* Changes of the encoder's two pins since the start, whatever their direction. Wraps. */
uint32_t encoder_changes(uint32_t motor);

/* encoder_check.c */
/* Compares one period of the encoder with the voltage on its motor. Returns whether the encoder has failed. */
bool encoder_fails(uint32_t motor, float volts, int32_t counts, uint32_t changes);
/* The voltage that the motor gets, as a part of the supply, if its loop wants `part`. It differs while the encoder is doubted. */
float encoder_drive(uint32_t motor, float part);

/* analog.c */
void analog_start(void);
/* Measures supply and currents. Call it once per loop period. */
void analog_read(void);
/* The supply voltage. Its nominal value, if SUPPLY_PIN is -1. */
int32_t analog_supply_mv(void);
int32_t analog_current_ma(uint32_t motor);

/* camera.c */
void camera_start(void);
/* Processes the bytes that have arrived. Call it once per loop period. */
void camera_read(void);
struct picture camera_picture(void);
/* Whether no picture has arrived for 200 ms. */
bool camera_is_lost(void);

/* lamp.c */
void lamp_start(void);
/* Call it once per loop period. */
void lamp_show(uint8_t mode, bool torque, bool fault);

#endif
