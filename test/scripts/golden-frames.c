/* Prints frames as firmware would send them, one per line. Then reads frames, and prints their values. */
#include "motor_registers.h"
#include <stdio.h>

static void show(const char *name, const void *frame, size_t bytes)
{
    printf("%s:", name);
    for (size_t at = 0; at < bytes; at++)
        printf(" %02x", ((const uint8_t *)frame)[at]);
    printf("\n");
}

int main(void)
{
    const uint8_t address = MOTOR_GIMBAL_ADDRESS;

    struct motor_identity identity = {
        .magic = MOTOR_MAGIC, .kind = MOTOR_GIMBAL_KIND, .protocol = MOTOR_PROTOCOL_VERSION,
        .firmware_major = 1, .firmware_minor = 2, .firmware_patch = 3,
        .loops = MOTOR_GIMBAL_LOOPS, .loop_rate_hz = 1000,
    };
    motor_seal(address, MOTOR_IDENTITY_REGISTER, &identity, MOTOR_IDENTITY_BYTES);
    show("identity", &identity, sizeof identity);

    struct motor_status status = {
        .boot_id = UINT32_C(0x11223344), .mode = MOTOR_MODE_DEBUG,
        .flags = MOTOR_FLAGS_STOPPED | MOTOR_FLAGS_TORQUE | MOTOR_FLAGS_GAINS_COMMITTED,
        .faults = MOTOR_FAULTS_SILENT, .active_checksum = UINT32_C(0xdeadbeef),
        .staged = 1u << MOTOR_GIMBAL_VISUAL_PITCH_SLOT | 1u << MOTOR_GIMBAL_ANGLE_PITCH_SLOT,
        .refused = 7, .capture = 9,
    };
    status.faults |= 0x0100;
    motor_seal(address, MOTOR_STATUS_REGISTER, &status, MOTOR_STATUS_BYTES);
    show("status", &status, sizeof status);

    struct motor_gains gains = { .kp = 1.0f, .ki = 0.5f, .kd = -2.0f };
    motor_seal(address, MOTOR_GAINS_REGISTER(MOTOR_GIMBAL_ANGLE_YAW_SLOT), &gains, MOTOR_GAINS_BYTES);
    show("gains", &gains, sizeof gains);

    struct motor_chassis_telemetry telemetry = {
        .sequence = 200,
        .speed = { 0, -1000, 2000 }, .angle = { -3000, 4000, -5000 }, .position = { 6000, -7000, 8000 },
        .pose = { -9000, 10000, -11000 },
    };
    motor_seal(MOTOR_CHASSIS_ADDRESS, MOTOR_TELEMETRY_REGISTER, &telemetry, MOTOR_CHASSIS_TELEMETRY_BYTES);
    show("telemetry", &telemetry, sizeof telemetry);

    const struct motor_gains set[MOTOR_CHASSIS_LOOPS] = {
        [MOTOR_CHASSIS_SPEED_SLOT] = { .kp = 5, .ki = 20 },
        [MOTOR_CHASSIS_ANGLE_SLOT] = { .kp = 10, .ki = 5, .kd = 0.5f },
        [MOTOR_CHASSIS_POSITION_SLOT] = { .kp = 2 },
    };
    printf("gains checksum: %08x\n", (unsigned)motor_gains_checksum(set, MOTOR_CHASSIS_LOOPS));
    printf("crc32 of 123456789: %08x\n", (unsigned)motor_crc32(0, "123456789", 9));
    printf("crc8 of 123456789: %02x\n", (unsigned)motor_crc8('1', '2', "3456789", 7));

    uint8_t mode[] = { MOTOR_MODE_DEBUG, 0x41 };
    printf("sealed: %d", motor_is_sealed(address, MOTOR_MODE_REGISTER, mode, sizeof mode));
    mode[0] ^= 1;
    printf(" %d\n", motor_is_sealed(address, MOTOR_MODE_REGISTER, mode, sizeof mode));
    return 0;
}
