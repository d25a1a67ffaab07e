/*
 * Your robot: copy this file, change it, and build with "npm run firmware -- --robot FILE". The build checks all of it.
 *
 * Each unit has its own Pico. Both are wired alike: motor A is yaw or left, motor B is pitch or right. If your
 * boards differ, put "#ifdef GIMBAL … #else … #endif" around the lines that do. Pins are GP numbers, not those of the header.
 */
#ifndef ROBOT_H
#define ROBOT_H

/* The bus to the Raspberry Pi. SDA: 0, 4, 8, 12, 16 or 20. SCL: 1, 5, 9, 13, 17 or 21. */
#define SDA_PIN 4
#define SCL_PIN 5
/* The addresses that the host uses. The build refuses any others. */
#define GIMBAL_ADDRESS 0x20
#define CHASSIS_ADDRESS 0x21

/*
 * Two H-bridges. Forward is an even pin and reverse the next one. Each carries PWM of 20 kHz while the other is low.
 * Enable is high while the motor has torque. It needs a resistor of 10 kOhm to ground: the pin floats during a reset.
 */
#define MOTOR_A_FORWARD_PIN 6
#define MOTOR_A_REVERSE_PIN 7
#define MOTOR_A_ENABLE_PIN 8
#define MOTOR_B_FORWARD_PIN 10
#define MOTOR_B_REVERSE_PIN 11
#define MOTOR_B_ENABLE_PIN 12
/* 1 if a positive voltage must turn the motor the other way. Positive: to the left, upwards, ahead. */
#define MOTOR_A_REVERSED 0
#define MOTOR_B_REVERSED 0
/* The largest part of a PWM period in which a bridge may be on, in percent. Some bridges need a pause to charge. */
#define MOTOR_MAX_DUTY 97

/* Two quadrature encoders, 3.3 V. Channel B is the next pin after channel A. */
#define ENCODER_A_PIN 14
#define ENCODER_B_PIN 16
/* 1 if the encoder counts down while its motor turns in the positive direction. */
#define ENCODER_A_REVERSED 0
#define ENCODER_B_REVERSED 0
/*
 * How long an encoder may stand still while its motor is driven with more than a quarter of the smallest output limit. Then it
 * has failed. After 56 ms the motor gets no voltage. 0: an encoder may stand still for ever.
 */
#define ENCODER_SILENT_MS 340
/* The fastest that an axis or a wheel can turn at the nominal supply, in rad/s. Faster counts are a failed encoder. */
#define MAX_RAD_S 60

/* The camera's UART, 115200 baud, receiving: 1, 13 or 17. Only the gimbal has a camera. */
#define CAMERA_PIN 1
#define CAMERA_BAUD 115200

/* Analogue inputs: pins 26 to 28, or -1 for none. */
#define SUPPLY_PIN 26
#define CURRENT_A_PIN 27
#define CURRENT_B_PIN 28
/* The supply in mV at 3.3 V on the pin: here a divider of 100 kOhm and 11 kOhm. */
#define SUPPLY_FULL_SCALE_MV 33300
/* The pin's voltage without current, in mV, and how many mV an ampere adds in either direction. */
#define CURRENT_ZERO_MV 0
#define CURRENT_MV_PER_A 140
/* Torque goes off if the supply is lower, or a current is higher. */
#define SUPPLY_MIN_MV 18000
#define CURRENT_MAX_MA 15000

/* The lamp; 25 is the green one on the Pico. */
#define LAMP_PIN 25

/* Nominal supply in V. It limits the voltage on the gimbal's motors. If the supply is not measured, this value is used. */
#define SUPPLY_V 24.0f

/* Gimbal. An encoder with 1024 lines gives 4096 counts per turn. The gear, such as 15 or 19.2f, is the number of turns of the
   encoder for one turn of the axis. */
#define YAW_ENCODER_COUNTS 4096
#define YAW_GEAR 15
#define PITCH_ENCODER_COUNTS 4096
#define PITCH_GEAR 15
/* End stops in rad. 0 is the angle of an axis when its Pico gets power, so switch it on with the gimbal straight and level.
   The loops keep 0.05 rad away from the end stops. */
#define YAW_MIN_RAD -2.9f
#define YAW_MAX_RAD 2.9f
#define PITCH_MIN_RAD -0.55f
#define PITCH_MAX_RAD 0.75f

/* Chassis. Voltages for driving and for turning are added, so together they are at most the supply. */
#define WHEEL_ENCODER_COUNTS 4096
#define WHEEL_GEAR 14
#define WHEEL_RADIUS_M 0.05f
/* Between the middles of the left and the right wheels, in mm. */
#define TRACK_MM 360
#define DRIVING_V 16.0f
#define TURNING_V 8.0f

/* The greatest rates at which a person may move the gimbal, the chassis ahead, and the chassis to the side. */
#define DRIVE_YAW_RAD_S 3.0f
#define DRIVE_PITCH_RAD_S 2.0f
#define DRIVE_SPEED_M_S 1.5f
#define DRIVE_TURN_RAD_S 3.0f

/* 1: in `auto` the gimbal searches for its target and the chassis drives its course. 0: they only hold. */
#define AUTO_MOVES 0

#endif
