/* Checks robot.h while it is compiled. Each message begins with the wrong name, so that scripts/firmware/image can find its
   line. */
#include "pico.h"

#define CHECK(name, holds, text) _Static_assert(holds, #name " " text)

/* The Pico's header has no 23, 24 and 29. */
#define IS_PIN(pin) ((pin) >= 0 && (pin) <= 28 && (pin) != 23 && (pin) != 24)
#define USES(pin) ((pin) < 0 ? 0 : UINT64_C(1) << (pin))
#define FREE(name, others) \
    _Static_assert(IS_PIN(name), #name " is not a pin of the Pico"); \
    _Static_assert(!((others) & USES(name)), #name " is a pin that is used already")

#define BUS (USES(SDA_PIN) | USES(SCL_PIN))
#define MOTOR_A (BUS | USES(MOTOR_A_FORWARD_PIN) | USES(MOTOR_A_REVERSE_PIN) | USES(MOTOR_A_ENABLE_PIN))
#define MOTOR_B (MOTOR_A | USES(MOTOR_B_FORWARD_PIN) | USES(MOTOR_B_REVERSE_PIN) | USES(MOTOR_B_ENABLE_PIN))
#define ENCODER_A (MOTOR_B | USES(ENCODER_A_PIN) | USES(ENCODER_A_PIN + 1))
#define ENCODER_B (ENCODER_A | USES(ENCODER_B_PIN) | USES(ENCODER_B_PIN + 1))
#define LAMP (ENCODER_B | USES(LAMP_PIN))
#define CAMERA (LAMP | USES(CAMERA_PIN))

CHECK(SDA_PIN, IS_PIN(SDA_PIN) && SDA_PIN % 4 == 0, "is not a pin for SDA of I2C0");
CHECK(SCL_PIN, IS_PIN(SCL_PIN) && SCL_PIN % 4 == 1, "is not a pin for SCL of I2C0");
CHECK(GIMBAL_ADDRESS, GIMBAL_ADDRESS == MOTOR_GIMBAL_ADDRESS, "is not where the host asks");
CHECK(CHASSIS_ADDRESS, CHASSIS_ADDRESS == MOTOR_CHASSIS_ADDRESS, "is not where the host asks");
FREE(MOTOR_A_FORWARD_PIN, BUS);
FREE(MOTOR_A_REVERSE_PIN, BUS);
FREE(MOTOR_A_ENABLE_PIN, BUS | USES(MOTOR_A_FORWARD_PIN) | USES(MOTOR_A_REVERSE_PIN));
FREE(MOTOR_B_FORWARD_PIN, MOTOR_A);
FREE(MOTOR_B_REVERSE_PIN, MOTOR_A);
FREE(MOTOR_B_ENABLE_PIN, MOTOR_A | USES(MOTOR_B_FORWARD_PIN) | USES(MOTOR_B_REVERSE_PIN));
#define IS_SLICE(forward, reverse) ((forward) % 2 == 0 && (reverse) == (forward) + 1)
CHECK(MOTOR_A_REVERSE_PIN, IS_SLICE(MOTOR_A_FORWARD_PIN, MOTOR_A_REVERSE_PIN), "must follow an even forward pin");
CHECK(MOTOR_B_REVERSE_PIN, IS_SLICE(MOTOR_B_FORWARD_PIN, MOTOR_B_REVERSE_PIN), "must follow an even forward pin");
CHECK(MOTOR_B_FORWARD_PIN, (MOTOR_B_FORWARD_PIN - MOTOR_A_FORWARD_PIN) % 16 != 0, "shares the PWM of motor A");
FREE(ENCODER_A_PIN, MOTOR_B);
FREE(ENCODER_B_PIN, ENCODER_A);
CHECK(ENCODER_A_PIN, IS_PIN(ENCODER_A_PIN + 1) && !(MOTOR_B & USES(ENCODER_A_PIN + 1)), "is followed by no free pin");
CHECK(ENCODER_B_PIN, IS_PIN(ENCODER_B_PIN + 1) && !(ENCODER_A & USES(ENCODER_B_PIN + 1)), "is followed by no free pin");
FREE(LAMP_PIN, ENCODER_B);
FREE(CAMERA_PIN, LAMP);
CHECK(CAMERA_PIN, CAMERA_PIN == 1 || CAMERA_PIN == 13 || CAMERA_PIN == 17, "does not receive for UART0");
#define IS_ANALOG(pin, others) ((pin) == -1 || ((pin) >= 26 && (pin) <= 28 && !((others) & USES(pin))))
CHECK(SUPPLY_PIN, IS_ANALOG(SUPPLY_PIN, CAMERA), "is not a free analogue input");
CHECK(CURRENT_A_PIN, IS_ANALOG(CURRENT_A_PIN, CAMERA | USES(SUPPLY_PIN)), "is not a free analogue input");
CHECK(CURRENT_B_PIN, IS_ANALOG(CURRENT_B_PIN, CAMERA | USES(SUPPLY_PIN) | USES(CURRENT_A_PIN)), "is not a free analogue input");

#define FLAG(name) _Static_assert((name) == 0 || (name) == 1, #name " must be 0 or 1")
#define RANGE(name, low, high) _Static_assert((name) >= (low) && (name) <= (high), #name " must be from " #low " to " #high)
FLAG(MOTOR_A_REVERSED);
FLAG(MOTOR_B_REVERSED);
FLAG(ENCODER_A_REVERSED);
FLAG(ENCODER_B_REVERSED);
FLAG(AUTO_MOVES);
RANGE(MOTOR_MAX_DUTY, 1, 100);
RANGE(CAMERA_BAUD, 9600, 230400);
RANGE(SUPPLY_FULL_SCALE_MV, 1000 * SUPPLY_V, 60000);
RANGE(SUPPLY_MIN_MV, 250 * SUPPLY_V, 1000 * SUPPLY_V);
RANGE(CURRENT_ZERO_MV, 0, 3300);
RANGE(CURRENT_MV_PER_A, 1, 3300);
RANGE(CURRENT_MAX_MA, 1, 200000);
RANGE(SUPPLY_V, 3, 60);
RANGE(YAW_ENCODER_COUNTS, 1, 1000000);
RANGE(PITCH_ENCODER_COUNTS, 1, 1000000);
RANGE(WHEEL_ENCODER_COUNTS, 1, 1000000);
RANGE(YAW_GEAR, 1, 1000);
RANGE(PITCH_GEAR, 1, 1000);
RANGE(WHEEL_GEAR, 1, 1000);
RANGE(YAW_MIN_RAD, -3.2f, -0.1f);
RANGE(YAW_MAX_RAD, 0.1f, 3.2f);
RANGE(PITCH_MIN_RAD, -3.2f, -0.1f);
RANGE(PITCH_MAX_RAD, 0.1f, 3.2f);
RANGE(WHEEL_RADIUS_M, 0.005f, 1);
RANGE(TRACK_MM, 20, 5000);
RANGE(DRIVING_V, 1, SUPPLY_V);
RANGE(DRIVE_YAW_RAD_S, 0, 32);
RANGE(DRIVE_PITCH_RAD_S, 0, 32);
RANGE(DRIVE_SPEED_M_S, 0, 32);
RANGE(DRIVE_TURN_RAD_S, 0, 32);
CHECK(TURNING_V, TURNING_V >= 1 && DRIVING_V + TURNING_V <= SUPPLY_V, "and DRIVING_V are together more than SUPPLY_V");
CHECK(CURRENT_MAX_MA, CURRENT_MAX_MA / 1000.0 * CURRENT_MV_PER_A + CURRENT_ZERO_MV < 3298, "is more than the input can measure");
CHECK(MAX_RAD_S, MAX_RAD_S > 0 && MAX_RAD_S / 6.2832 * MAX_COUNTS_PER_TURN <= 1000000, "gives more than a million counts a second");

/* Values that can never act. */
#ifdef ENCODER_SILENT_V
CHECK(ENCODER_SILENT_V, 0, "is not used any more: the test of the encoders begins at a quarter of the smallest output limit");
#endif
CHECK(ENCODER_SILENT_MS, ENCODER_SILENT_MS == 0 || (ENCODER_SILENT_MS >= 100 && ENCODER_SILENT_MS <= 60000), "must be 0, or from 100 to 60000");
CHECK(CURRENT_ZERO_MV, CURRENT_ZERO_MV == 0 || CURRENT_ZERO_MV > CURRENT_MAX_MA / 1000.0 * CURRENT_MV_PER_A,
      "must be 0 if both directions add to it, or else high enough to measure CURRENT_MAX_MA in the other direction");
