/* The simulated robot: the numbers of sim/physics/robot-body.ts and src/core/loop-controllers.ts. */
#ifndef ROBOT_H
#define ROBOT_H

#define SUPPLY_V 24.0f
#define YAW_ENCODER_COUNTS 4096
#define YAW_GEAR 15
#define PITCH_ENCODER_COUNTS 4096
#define PITCH_GEAR 15
#define YAW_MIN_RAD -2.9f
#define YAW_MAX_RAD 2.9f
#define PITCH_MIN_RAD -0.55f
#define PITCH_MAX_RAD 0.75f
#define WHEEL_ENCODER_COUNTS 4096
#define WHEEL_GEAR 14
#define WHEEL_RADIUS_M 0.05f
#define DRIVING_V 16.0f
#define TURNING_V 8.0f

#endif
