/*
 * Register map of Trunnion's motor controllers, for their firmware: C11 or C++11, nothing but the standard headers.
 * motor-protocol.md says what the registers mean. Licence: MIT.
 *
 * "npm run generate" writes what stands between "generated" and "end", from src/protocol/registers.ts and
 * src/core/units.ts; the rest is written by hand, here.
 */

#ifndef MOTOR_REGISTERS_H
#define MOTOR_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define MOTOR_ASSERT(holds, what) static_assert(holds, what)
#else
#define MOTOR_ASSERT(holds, what) _Static_assert(holds, what)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the frames are little-endian: on this machine they cannot be structs"
#endif
MOTOR_ASSERT(sizeof(float) == 4, "gains are IEEE 754 single precision");

/* generated: registers */

/* The map */

#define MOTOR_PROTOCOL_VERSION 1
#define MOTOR_MAGIC UINT32_C(0x4E555254) /* "TRUN" on the wire */
#define MOTOR_SPACE_BYTES 256
#define MOTOR_MAX_FRAME_BYTES 32 /* with the CRC */
#define MOTOR_LOOP_SLOTS 5
#define MOTOR_CAPTURE_SAMPLES 256
#define MOTOR_CAPTURE_PAGE_SAMPLES 7
#define MOTOR_EXCITATION_MIN_PERIOD_S 0.1f
#define MOTOR_EXCITATION_MAX_PERIOD_S 20.0f
#define MOTOR_RATE_COUNTS 1000 /* per m/s or rad/s */
#define MOTOR_MAX_HOLD_MS 500 /* of a motion */
#define MOTOR_TAKES_EFFECT_MS 20 /* from a frame until its effect shows */

/* Registers and the bytes of their frames */

#define MOTOR_IDENTITY_REGISTER 0x00 /* read */
#define MOTOR_IDENTITY_BYTES 13
#define MOTOR_STATUS_REGISTER 0x10 /* read */
#define MOTOR_STATUS_BYTES 16
#define MOTOR_BUILD_REGISTER 0x20 /* read */
#define MOTOR_BUILD_BYTES 8
#define MOTOR_MODE_REGISTER 0x50 /* read, write */
#define MOTOR_MODE_BYTES 2
#define MOTOR_STOP_REGISTER 0x54 /* read, write */
#define MOTOR_STOP_BYTES 2
#define MOTOR_HEARTBEAT_REGISTER 0x58 /* write */
#define MOTOR_HEARTBEAT_BYTES 4
#define MOTOR_COMMIT_REGISTER 0x60 /* write */
#define MOTOR_COMMIT_BYTES 5
#define MOTOR_EXCITATION_REGISTER 0x68 /* read, write */
#define MOTOR_EXCITATION_BYTES 10
#define MOTOR_GUARDED_EXCITATION_REGISTER 0x72 /* read, write */
#define MOTOR_GUARDED_EXCITATION_BYTES 14
#define MOTOR_CAPTURE_SELECT_REGISTER 0xD0 /* write */
#define MOTOR_CAPTURE_SELECT_BYTES 2
#define MOTOR_CAPTURE_REGISTER 0xD4 /* read */
#define MOTOR_CAPTURE_BYTES 9
#define MOTOR_CAPTURE_PAGE_REGISTER 0xE0 /* read */
#define MOTOR_CAPTURE_PAGE_BYTES 31
#define MOTOR_TELEMETRY_REGISTER 0x30 /* read */
#define MOTOR_MOTION_REGISTER 0x28 /* read, write */
#define MOTOR_MOTION_BYTES 7
#define MOTOR_GAINS_REGISTER(slot) (0x80 + 0x10 * (slot)) /* read, write */
#define MOTOR_GAINS_BYTES 13

/* Values and bits */

enum { MOTOR_MODE_AUTO = 0, MOTOR_MODE_MANUAL = 1, MOTOR_MODE_DEBUG = 2 };
#define MOTOR_FLAGS_STOPPED 0x01
#define MOTOR_FLAGS_TORQUE 0x02
#define MOTOR_FLAGS_GAINS_COMMITTED 0x04
#define MOTOR_FLAGS_TARGET_VISIBLE 0x08
#define MOTOR_FLAGS_WITHDRAWN_GUARD 0x10
#define MOTOR_FLAGS_GUARDED_EXCITATION 0x20
#define MOTOR_FLAGS_BUILD 0x40
#define MOTOR_FLAGS_MOTION 0x80
#define MOTOR_FAULTS_SILENT 0x01
#define MOTOR_FAULTS_OVER_CURRENT 0x02
#define MOTOR_FAULTS_OVER_TEMPERATURE 0x04
#define MOTOR_FAULTS_ENCODER_FAILED 0x08
#define MOTOR_FAULTS_SUPPLY_LOW 0x10
#define MOTOR_FAULTS_CAMERA_LOST 0x20
#define MOTOR_FAULTS_COMMIT_REFUSED 0x40
#define MOTOR_FAULTS_FRAME_REFUSED 0x80
#define MOTOR_FAULTS_RAN_AWAY 0x100
enum { MOTOR_RESET_CAUSE_OTHER = 0, MOTOR_RESET_CAUSE_POWER = 1, MOTOR_RESET_CAUSE_RESET_PIN = 2, MOTOR_RESET_CAUSE_WATCHDOG = 3 };
enum { MOTOR_STOP_RELEASED = 0, MOTOR_STOP_STOPPED = 1 };

/* Units */

#define MOTOR_GIMBAL_ADDRESS 0x20 /* 7 bits */
#define MOTOR_GIMBAL_KIND 1
#define MOTOR_GIMBAL_LOOPS 4
#define MOTOR_GIMBAL_TELEMETRY_BYTES 26
#define MOTOR_GIMBAL_VISUAL_YAW_SLOT 0
#define MOTOR_GIMBAL_VISUAL_YAW_COUNTS 10000 /* per rad */
#define MOTOR_GIMBAL_VISUAL_YAW_OUTPUT_COUNTS 10000 /* per rad */
#define MOTOR_GIMBAL_VISUAL_YAW_MAX_AMPLITUDE 0.2f /* rad */
#define MOTOR_GIMBAL_VISUAL_PITCH_SLOT 1
#define MOTOR_GIMBAL_VISUAL_PITCH_COUNTS 10000 /* per rad */
#define MOTOR_GIMBAL_VISUAL_PITCH_OUTPUT_COUNTS 10000 /* per rad */
#define MOTOR_GIMBAL_VISUAL_PITCH_MAX_AMPLITUDE 0.2f /* rad */
#define MOTOR_GIMBAL_ANGLE_YAW_SLOT 2
#define MOTOR_GIMBAL_ANGLE_YAW_COUNTS 10000 /* per rad */
#define MOTOR_GIMBAL_ANGLE_YAW_OUTPUT_COUNTS 1000 /* per V */
#define MOTOR_GIMBAL_ANGLE_YAW_MAX_AMPLITUDE 0.5f /* rad */
#define MOTOR_GIMBAL_ANGLE_PITCH_SLOT 3
#define MOTOR_GIMBAL_ANGLE_PITCH_COUNTS 10000 /* per rad */
#define MOTOR_GIMBAL_ANGLE_PITCH_OUTPUT_COUNTS 1000 /* per V */
#define MOTOR_GIMBAL_ANGLE_PITCH_MAX_AMPLITUDE 0.3f /* rad */
#define MOTOR_CHASSIS_ADDRESS 0x21 /* 7 bits */
#define MOTOR_CHASSIS_KIND 2
#define MOTOR_CHASSIS_LOOPS 3
#define MOTOR_CHASSIS_TELEMETRY_BYTES 26
#define MOTOR_CHASSIS_SPEED_SLOT 0
#define MOTOR_CHASSIS_SPEED_COUNTS 1000 /* per m/s */
#define MOTOR_CHASSIS_SPEED_OUTPUT_COUNTS 1000 /* per V */
#define MOTOR_CHASSIS_SPEED_MAX_AMPLITUDE 1.0f /* m/s */
#define MOTOR_CHASSIS_ANGLE_SLOT 1
#define MOTOR_CHASSIS_ANGLE_COUNTS 10000 /* per rad */
#define MOTOR_CHASSIS_ANGLE_OUTPUT_COUNTS 1000 /* per V */
#define MOTOR_CHASSIS_ANGLE_MAX_AMPLITUDE 1.0f /* rad */
#define MOTOR_CHASSIS_POSITION_SLOT 2
#define MOTOR_CHASSIS_POSITION_COUNTS 1000 /* per m */
#define MOTOR_CHASSIS_POSITION_OUTPUT_COUNTS 1000 /* per m/s */
#define MOTOR_CHASSIS_POSITION_MAX_AMPLITUDE 1.0f /* m */

/* Frames */

#pragma pack(push, 1)

/* Identifies the controller. The host refuses one whose magic, kind, protocol or loops differ. */
struct motor_identity {
    uint32_t magic;
    uint8_t kind;
    uint8_t protocol;
    uint8_t firmware_major;
    uint8_t firmware_minor;
    uint8_t firmware_patch;
    uint8_t loops;
    uint16_t loop_rate_hz;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_identity, magic) == 0, "identity.magic");
MOTOR_ASSERT(offsetof(struct motor_identity, kind) == 4, "identity.kind");
MOTOR_ASSERT(offsetof(struct motor_identity, protocol) == 5, "identity.protocol");
MOTOR_ASSERT(offsetof(struct motor_identity, firmware_major) == 6, "identity.firmware_major");
MOTOR_ASSERT(offsetof(struct motor_identity, firmware_minor) == 7, "identity.firmware_minor");
MOTOR_ASSERT(offsetof(struct motor_identity, firmware_patch) == 8, "identity.firmware_patch");
MOTOR_ASSERT(offsetof(struct motor_identity, loops) == 9, "identity.loops");
MOTOR_ASSERT(offsetof(struct motor_identity, loop_rate_hz) == 10, "identity.loop_rate_hz");
MOTOR_ASSERT(offsetof(struct motor_identity, crc) == 12, "identity.crc");
MOTOR_ASSERT(sizeof(struct motor_identity) == 13, "identity");

/* The state of the controller, from one snapshot. */
struct motor_status {
    uint32_t boot_id;
    uint8_t mode;
    uint8_t flags;
    uint16_t faults;
    uint32_t active_checksum;
    uint8_t staged;
    uint8_t refused;
    uint8_t capture;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_status, boot_id) == 0, "status.boot_id");
MOTOR_ASSERT(offsetof(struct motor_status, mode) == 4, "status.mode");
MOTOR_ASSERT(offsetof(struct motor_status, flags) == 5, "status.flags");
MOTOR_ASSERT(offsetof(struct motor_status, faults) == 6, "status.faults");
MOTOR_ASSERT(offsetof(struct motor_status, active_checksum) == 8, "status.active_checksum");
MOTOR_ASSERT(offsetof(struct motor_status, staged) == 12, "status.staged");
MOTOR_ASSERT(offsetof(struct motor_status, refused) == 13, "status.refused");
MOTOR_ASSERT(offsetof(struct motor_status, capture) == 14, "status.capture");
MOTOR_ASSERT(offsetof(struct motor_status, crc) == 15, "status.crc");
MOTOR_ASSERT(sizeof(struct motor_status) == 16, "status");

/* Identifies the firmware image, and shows the cause of the last reset and the longest work of one loop period. Optional: the flag `build` says that the register exists. */
struct motor_build {
    uint32_t image_crc;
    uint16_t longest_loop_us;
    uint8_t reset_cause;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_build, image_crc) == 0, "build.image_crc");
MOTOR_ASSERT(offsetof(struct motor_build, longest_loop_us) == 4, "build.longest_loop_us");
MOTOR_ASSERT(offsetof(struct motor_build, reset_cause) == 6, "build.reset_cause");
MOTOR_ASSERT(offsetof(struct motor_build, crc) == 7, "build.crc");
MOTOR_ASSERT(sizeof(struct motor_build) == 8, "build");

/* Write: switch to this mode. Read: the mode in force. Entering `debug` sets the amplitude to 0. */
struct motor_mode {
    uint8_t mode;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_mode, mode) == 0, "mode.mode");
MOTOR_ASSERT(offsetof(struct motor_mode, crc) == 1, "mode.crc");
MOTOR_ASSERT(sizeof(struct motor_mode) == 2, "mode");

/* Write `stopped`: torque off at once, latched. Write `released`: the latch ends. Read: the latch. */
struct motor_stop {
    uint8_t stop;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_stop, stop) == 0, "stop.stop");
MOTOR_ASSERT(offsetof(struct motor_stop, crc) == 1, "stop.crc");
MOTOR_ASSERT(sizeof(struct motor_stop) == 2, "stop");

/* Says that the host is alive. Without a heartbeat for `silence_ms`, the controller takes torque off and shows `silent`. */
struct motor_heartbeat {
    uint8_t count;
    uint16_t silence_ms;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_heartbeat, count) == 0, "heartbeat.count");
MOTOR_ASSERT(offsetof(struct motor_heartbeat, silence_ms) == 1, "heartbeat.silence_ms");
MOTOR_ASSERT(offsetof(struct motor_heartbeat, crc) == 3, "heartbeat.crc");
MOTOR_ASSERT(sizeof(struct motor_heartbeat) == 4, "heartbeat");

/* Make the staged gains active, all at once, if every loop is staged and the checksum matches. */
struct motor_commit {
    uint32_t checksum;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_commit, checksum) == 0, "commit.checksum");
MOTOR_ASSERT(offsetof(struct motor_commit, crc) == 4, "commit.crc");
MOTOR_ASSERT(sizeof(struct motor_commit) == 5, "commit");

/* The square wave of debug mode, added to the setpoint of one loop. Without torque, the amplitude reads as 0. Writing sets `deviation` to 0. */
struct motor_excitation {
    uint8_t slot;
    float amplitude;
    float period_s;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_excitation, slot) == 0, "excitation.slot");
MOTOR_ASSERT(offsetof(struct motor_excitation, amplitude) == 1, "excitation.amplitude");
MOTOR_ASSERT(offsetof(struct motor_excitation, period_s) == 5, "excitation.period_s");
MOTOR_ASSERT(offsetof(struct motor_excitation, crc) == 9, "excitation.crc");
MOTOR_ASSERT(sizeof(struct motor_excitation) == 10, "excitation");

/* The square wave of `excitation` with its guard: if `deviation` is exceeded, the controller ends the excitation. Optional: the flag `guarded_excitation` says that the register exists. */
struct motor_guarded_excitation {
    uint8_t slot;
    float amplitude;
    float period_s;
    float deviation;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_guarded_excitation, slot) == 0, "guarded_excitation.slot");
MOTOR_ASSERT(offsetof(struct motor_guarded_excitation, amplitude) == 1, "guarded_excitation.amplitude");
MOTOR_ASSERT(offsetof(struct motor_guarded_excitation, period_s) == 5, "guarded_excitation.period_s");
MOTOR_ASSERT(offsetof(struct motor_guarded_excitation, deviation) == 9, "guarded_excitation.deviation");
MOTOR_ASSERT(offsetof(struct motor_guarded_excitation, crc) == 13, "guarded_excitation.crc");
MOTOR_ASSERT(sizeof(struct motor_guarded_excitation) == 14, "guarded_excitation");

/* Choose the page that `capture_page` shows. The capture is kept for 1 s after each selection. */
struct motor_capture_select {
    uint8_t page;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_capture_select, page) == 0, "capture_select.page");
MOTOR_ASSERT(offsetof(struct motor_capture_select, crc) == 1, "capture_select.crc");
MOTOR_ASSERT(sizeof(struct motor_capture_select) == 2, "capture_select");

/* The newest complete step capture, or the capture that is kept for reading. */
struct motor_capture {
    uint8_t number;
    uint8_t slot;
    uint16_t rate_hz;
    uint16_t decimation;
    uint16_t samples;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_capture, number) == 0, "capture.number");
MOTOR_ASSERT(offsetof(struct motor_capture, slot) == 1, "capture.slot");
MOTOR_ASSERT(offsetof(struct motor_capture, rate_hz) == 2, "capture.rate_hz");
MOTOR_ASSERT(offsetof(struct motor_capture, decimation) == 4, "capture.decimation");
MOTOR_ASSERT(offsetof(struct motor_capture, samples) == 6, "capture.samples");
MOTOR_ASSERT(offsetof(struct motor_capture, crc) == 8, "capture.crc");
MOTOR_ASSERT(sizeof(struct motor_capture) == 9, "capture");

/* Staged gains of one loop. */
struct motor_gains {
    float kp;
    float ki;
    float kd;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_gains, kp) == 0, "gains.kp");
MOTOR_ASSERT(offsetof(struct motor_gains, ki) == 4, "gains.ki");
MOTOR_ASSERT(offsetof(struct motor_gains, kd) == 8, "gains.kd");
MOTOR_ASSERT(offsetof(struct motor_gains, crc) == 12, "gains.crc");
MOTOR_ASSERT(sizeof(struct motor_gains) == 13, "gains");

/* Seven samples of the capture, in the counts of the loop's telemetry. */
struct motor_capture_page {
    uint8_t number;
    uint8_t page;
    int16_t setpoint_0;
    int16_t measured_0;
    int16_t setpoint_1;
    int16_t measured_1;
    int16_t setpoint_2;
    int16_t measured_2;
    int16_t setpoint_3;
    int16_t measured_3;
    int16_t setpoint_4;
    int16_t measured_4;
    int16_t setpoint_5;
    int16_t measured_5;
    int16_t setpoint_6;
    int16_t measured_6;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_capture_page, number) == 0, "capture_page.number");
MOTOR_ASSERT(offsetof(struct motor_capture_page, page) == 1, "capture_page.page");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_0) == 2, "capture_page.setpoint_0");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_0) == 4, "capture_page.measured_0");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_1) == 6, "capture_page.setpoint_1");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_1) == 8, "capture_page.measured_1");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_2) == 10, "capture_page.setpoint_2");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_2) == 12, "capture_page.measured_2");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_3) == 14, "capture_page.setpoint_3");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_3) == 16, "capture_page.measured_3");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_4) == 18, "capture_page.setpoint_4");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_4) == 20, "capture_page.measured_4");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_5) == 22, "capture_page.setpoint_5");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_5) == 24, "capture_page.measured_5");
MOTOR_ASSERT(offsetof(struct motor_capture_page, setpoint_6) == 26, "capture_page.setpoint_6");
MOTOR_ASSERT(offsetof(struct motor_capture_page, measured_6) == 28, "capture_page.measured_6");
MOTOR_ASSERT(offsetof(struct motor_capture_page, crc) == 30, "capture_page.crc");
MOTOR_ASSERT(sizeof(struct motor_capture_page) == 31, "capture_page");

/* The state of all loops, from one snapshot. Values beyond the range of int16 saturate. */
struct motor_gimbal_telemetry {
    uint8_t sequence;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } visual_yaw;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } visual_pitch;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } angle_yaw;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } angle_pitch;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, sequence) == 0, "gimbal_telemetry.sequence");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, visual_yaw.setpoint) == 1, "gimbal_telemetry.visual_yaw.setpoint");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, visual_yaw.measured) == 3, "gimbal_telemetry.visual_yaw.measured");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, visual_yaw.output) == 5, "gimbal_telemetry.visual_yaw.output");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, visual_pitch.setpoint) == 7, "gimbal_telemetry.visual_pitch.setpoint");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, visual_pitch.measured) == 9, "gimbal_telemetry.visual_pitch.measured");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, visual_pitch.output) == 11, "gimbal_telemetry.visual_pitch.output");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, angle_yaw.setpoint) == 13, "gimbal_telemetry.angle_yaw.setpoint");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, angle_yaw.measured) == 15, "gimbal_telemetry.angle_yaw.measured");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, angle_yaw.output) == 17, "gimbal_telemetry.angle_yaw.output");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, angle_pitch.setpoint) == 19, "gimbal_telemetry.angle_pitch.setpoint");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, angle_pitch.measured) == 21, "gimbal_telemetry.angle_pitch.measured");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, angle_pitch.output) == 23, "gimbal_telemetry.angle_pitch.output");
MOTOR_ASSERT(offsetof(struct motor_gimbal_telemetry, crc) == 25, "gimbal_telemetry.crc");
MOTOR_ASSERT(sizeof(struct motor_gimbal_telemetry) == 26, "gimbal_telemetry");

/* Write: move at these rates in `manual`. Read: the rates in force and the time left. Optional: the flag `motion` says that the register exists. */
struct motor_gimbal_motion {
    int16_t yaw;
    int16_t pitch;
    uint16_t hold_ms;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_gimbal_motion, yaw) == 0, "gimbal_motion.yaw");
MOTOR_ASSERT(offsetof(struct motor_gimbal_motion, pitch) == 2, "gimbal_motion.pitch");
MOTOR_ASSERT(offsetof(struct motor_gimbal_motion, hold_ms) == 4, "gimbal_motion.hold_ms");
MOTOR_ASSERT(offsetof(struct motor_gimbal_motion, crc) == 6, "gimbal_motion.crc");
MOTOR_ASSERT(sizeof(struct motor_gimbal_motion) == 7, "gimbal_motion");

/* The state of all loops, from one snapshot. Values beyond the range of int16 saturate. */
struct motor_chassis_telemetry {
    uint8_t sequence;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } speed;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } angle;
    struct {
        int16_t setpoint;
        int16_t measured;
        int16_t output;
    } position;
    struct {
        int16_t x;
        int16_t y;
        int16_t heading;
    } pose;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, sequence) == 0, "chassis_telemetry.sequence");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, speed.setpoint) == 1, "chassis_telemetry.speed.setpoint");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, speed.measured) == 3, "chassis_telemetry.speed.measured");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, speed.output) == 5, "chassis_telemetry.speed.output");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, angle.setpoint) == 7, "chassis_telemetry.angle.setpoint");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, angle.measured) == 9, "chassis_telemetry.angle.measured");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, angle.output) == 11, "chassis_telemetry.angle.output");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, position.setpoint) == 13, "chassis_telemetry.position.setpoint");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, position.measured) == 15, "chassis_telemetry.position.measured");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, position.output) == 17, "chassis_telemetry.position.output");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, pose.x) == 19, "chassis_telemetry.pose.x");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, pose.y) == 21, "chassis_telemetry.pose.y");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, pose.heading) == 23, "chassis_telemetry.pose.heading");
MOTOR_ASSERT(offsetof(struct motor_chassis_telemetry, crc) == 25, "chassis_telemetry.crc");
MOTOR_ASSERT(sizeof(struct motor_chassis_telemetry) == 26, "chassis_telemetry");

/* Write: move at these rates in `manual`. Read: the rates in force and the time left. Optional: the flag `motion` says that the register exists. */
struct motor_chassis_motion {
    int16_t speed;
    int16_t turn;
    uint16_t hold_ms;
    uint8_t crc;
};
MOTOR_ASSERT(offsetof(struct motor_chassis_motion, speed) == 0, "chassis_motion.speed");
MOTOR_ASSERT(offsetof(struct motor_chassis_motion, turn) == 2, "chassis_motion.turn");
MOTOR_ASSERT(offsetof(struct motor_chassis_motion, hold_ms) == 4, "chassis_motion.hold_ms");
MOTOR_ASSERT(offsetof(struct motor_chassis_motion, crc) == 6, "chassis_motion.crc");
MOTOR_ASSERT(sizeof(struct motor_chassis_motion) == 7, "chassis_motion");

#pragma pack(pop)

/* end: registers */

/* Checksums */

/* CRC-8, polynomial 0x07: adds one byte. */
static inline uint32_t motor_crc8_add(uint32_t crc, uint8_t byte)
{
    static const uint8_t half_byte[16] = {
        0x00, 0x07, 0x0E, 0x09, 0x1C, 0x1B, 0x12, 0x15, 0x38, 0x3F, 0x36, 0x31, 0x24, 0x23, 0x2A, 0x2D,
    };
    crc ^= byte;
    crc = (crc << 4 & 0xff) ^ half_byte[crc >> 4];
    return (crc << 4 & 0xff) ^ half_byte[crc >> 4];
}

/* The CRC-8 of a frame: from 0, the 7-bit address, the register, the data. */
static inline uint8_t motor_crc8(uint8_t address, uint8_t reg, const void *data, size_t bytes)
{
    const uint8_t *next = (const uint8_t *)data;
    uint32_t crc = motor_crc8_add(motor_crc8_add(0, address), reg);
    while (bytes-- > 0)
        crc = motor_crc8_add(crc, *next++);
    return (uint8_t)crc;
}

/* Puts the CRC into the last byte of a frame that is about to be read by the host. */
static inline void motor_seal(uint8_t address, uint8_t reg, void *frame, size_t frame_bytes)
{
    ((uint8_t *)frame)[frame_bytes - 1] = motor_crc8(address, reg, frame, frame_bytes - 1);
}

/* Whether a frame arrived as it was sent: 1 or 0. */
static inline int motor_is_sealed(uint8_t address, uint8_t reg, const void *frame, size_t frame_bytes)
{
    return ((const uint8_t *)frame)[frame_bytes - 1] == motor_crc8(address, reg, frame, frame_bytes - 1);
}

/* CRC-32 as in zip (reflected polynomial 0xEDB88320, start and final exclusive-or 0xFFFFFFFF). Start with crc 0; give
   the last result to go on with more data. */
static inline uint32_t motor_crc32(uint32_t crc, const void *data, size_t bytes)
{
    static const uint32_t half_byte[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
        0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    const uint8_t *next = (const uint8_t *)data;
    crc = ~crc;
    while (bytes-- > 0) {
        crc ^= *next++;
        crc = crc >> 4 ^ half_byte[crc & 15];
        crc = crc >> 4 ^ half_byte[crc & 15];
    }
    return ~crc;
}

/* What status shows as active_checksum, and what a commit must carry: the staged frames in slot order. Loops fill the
   slots from 0; a unit that leaves one out goes over its frames itself. */
static inline uint32_t motor_gains_checksum(const struct motor_gains *gains, size_t loops)
{
    uint32_t crc = 0;
    for (size_t loop = 0; loop < loops; loop++)
        crc = motor_crc32(crc, &gains[loop], offsetof(struct motor_gains, crc));
    return crc;
}

#endif
