#include "controller.h"

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

typedef uint32_t __attribute__((may_alias)) word;
#define ALIGNED(address) ((uintptr_t)(address) % sizeof(word) == 0)

/* The compiler calls memcpy and memset for structs, and there is no C library. They copy words where they can, because
   the interrupt has no time to copy single bytes. */
void *memcpy(void *to, const void *from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if (ALIGNED(to) && ALIGNED(from))
        for (; bytes >= sizeof(word); bytes -= sizeof(word), target += sizeof(word), source += sizeof(word))
            *(word *)target = *(const word *)source;
    while (bytes-- > 0)
        *target++ = *source++;
    return to;
}

void *memset(void *what, int value, size_t bytes)
{
    uint8_t *target = what;
    if (ALIGNED(what))
        for (; bytes >= sizeof(word); bytes -= sizeof(word), target += sizeof(word))
            *(word *)target = 0x01010101u * (uint8_t)value;
    while (bytes-- > 0)
        *target++ = (uint8_t)value;
    return what;
}
