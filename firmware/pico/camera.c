/*
 * The camera's link: a UART, 8 data bits, no parity. Each picture is one frame of 8 bytes, whether it shows the target
 * or not. Send more than 5 frames a second.
 *
 *   byte 0    0xa5
 *        1    bit 0: the picture shows the target; other bits 0
 *        2-3  offset of the target from the boresight to the left, in 0.0001 rad, int16, little-endian
 *        4-5  the same upwards
 *        6    any value, such as a count of pictures
 *        7    CRC-8 of bytes 0 to 6: polynomial 0x07, start 0, as in the registers
 *
 * A frame with a wrong CRC is dropped.
 */
#include "pico.h"

#define DATA 0x00
#define FLAGS 0x18
#define DIVISOR 0x24
#define FRACTION 0x28
#define LINE 0x2c
#define CONTROL 0x30
#define NOTHING_RECEIVED BIT(4)
#define FIFOS BIT(4)
#define EIGHT_BITS (3 << 5)
#define ENABLE BIT(0)
#define RECEIVE BIT(9)

#define FRAME_BYTES 8
#define FRAME_BEGINS 0xa5
#define SHOWS_TARGET 1
#define LOST_MS 200

/* The last bytes received. A frame may begin at any byte, so the window is checked after each byte. */
static uint8_t window[FRAME_BYTES];
static struct picture picture;
static uint32_t age_ms;

void camera_start(void)
{
    /* The divisor gives 16 times the baud rate. It has 6 binary places. */
    uint32_t divisor = (CLOCK_HZ * UINT64_C(4) + CAMERA_BAUD / 2) / CAMERA_BAUD;
    UART0(DIVISOR) = divisor >> 6;
    UART0(FRACTION) = divisor & 63;
    UART0(LINE) = FIFOS | EIGHT_BITS;
    UART0(CONTROL) = ENABLE | RECEIVE;
    pin_set_up(CAMERA_PIN, PIN_UART, PAD_PULL_UP);
}

static float offset_rad(const uint8_t *bytes)
{
    return (float)(int16_t)(bytes[0] | bytes[1] << 8) * 1e-4f;
}

static void take(uint8_t byte)
{
    for (int i = 1; i < FRAME_BYTES; i++)
        window[i - 1] = window[i];
    window[FRAME_BYTES - 1] = byte;
    /* motor_crc8 takes address and register first. A frame of the camera has none, so its first two bytes take their place. */
    if (window[0] != FRAME_BEGINS || motor_crc8(window[0], window[1], window + 2, FRAME_BYTES - 3) != byte)
        return;
    picture.visible = window[1] & SHOWS_TARGET;
    if (picture.visible) {
        picture.yaw_rad = offset_rad(window + 2);
        picture.pitch_rad = offset_rad(window + 4);
    }
    age_ms = 0;
    window[0] = 0;
}

void camera_read(void)
{
    while (!(UART0(FLAGS) & NOTHING_RECEIVED))
        take((uint8_t)UART0(DATA));
    age_ms = age_ms < LOST_MS ? age_ms + 1 : LOST_MS;
    if (camera_is_lost())
        picture.visible = false;
}

struct picture camera_picture(void)
{
    return picture;
}

bool camera_is_lost(void)
{
    return age_ms >= LOST_MS;
}
