#include "controller.h"

uint8_t crc8(uint8_t crc, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (uint8_t)(crc & 0x80 ? crc << 1 ^ 0x07 : crc << 1);
    }
    return crc;
}

/* Uses a table for half bytes, because the interrupt has a few microseconds for a whole set of gains. */
uint32_t crc32(const void *data, uint32_t bytes)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
        0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *byte = data;
    uint32_t crc = 0xffffffff;
    for (uint32_t i = 0; i < bytes; i++) {
        crc ^= byte[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

static uint32_t bits_of(float value)
{
    union {
        float value;
        uint32_t bits;
    } both = { .value = value };
    return both.bits;
}

bool is_finite(float value)
{
    return (bits_of(value) >> 23 & 0xff) != 0xff;
}

int32_t scaled(float value, uint16_t scale, int32_t limit)
{
    uint32_t bits = bits_of(value);
    int exponent = (int)(bits >> 23 & 0xff);
    bool negative = bits >> 31;
    uint64_t product = (uint64_t)((bits & 0x7fffff) | (exponent > 0 ? 0x800000 : 0)) * scale;
    /* The magnitude is product / 2^shift. */
    int shift = 150 - (exponent > 0 ? exponent : 1);
    uint64_t magnitude;
    if (shift > 62)
        magnitude = 0;
    else if (shift > 0)
        magnitude = (product + (UINT64_C(1) << (shift - 1)) - negative) >> shift;
    else
        magnitude = product == 0 ? 0 : (uint64_t)limit;
    if (magnitude > (uint64_t)limit)
        magnitude = (uint64_t)limit;
    return negative ? -(int32_t)magnitude : (int32_t)magnitude;
}

/* The compiler calls these two for structs, and there is no C library. */
void *memcpy(void *to, const void *from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    while (bytes-- > 0)
        *target++ = *source++;
    return to;
}

void *memset(void *what, int value, size_t bytes)
{
    uint8_t *target = what;
    while (bytes-- > 0)
        *target++ = (uint8_t)value;
    return what;
}
