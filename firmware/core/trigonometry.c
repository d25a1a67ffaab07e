/* Sines, arctangents and roots without a C library, to about 1e-7. */
#include "loops.h"

static int32_t nearest(float value)
{
    return (int32_t)(value < 0 ? value - 0.5f : value + 0.5f);
}

float wrapped(float angle_rad)
{
    int32_t turns = nearest(angle_rad * (1 / (2 * PI)));
    /* 2 pi in two parts, so that many turns lose no digits. */
    return angle_rad - (float)turns * 6.28125f - (float)turns * 1.9353071795864769e-3f;
}

/* Taylor's series, for angles up to a quarter of pi. */
static float sine_near(float x)
{
    float s = x * x;
    return x * (1 + s * (-1 / 6.0f + s * (1 / 120.0f + s * (-1 / 5040.0f + s * (1 / 362880.0f)))));
}

static float cosine_near(float x)
{
    float s = x * x;
    return 1 + s * (-0.5f + s * (1 / 24.0f + s * (-1 / 720.0f + s * (1 / 40320.0f - s * (1 / 3628800.0f)))));
}

float sine(float angle_rad)
{
    float angle = wrapped(angle_rad);
    int32_t quarter = nearest(angle * (2 / PI));
    float rest = angle - (float)quarter * (PI / 2);
    float value = quarter & 1 ? cosine_near(rest) : sine_near(rest);
    return quarter & 2 ? -value : value;
}

float cosine(float angle_rad)
{
    return sine(angle_rad + PI / 2);
}

/* Euler's series after halving the angle twice. */
float arctangent(float value)
{
    bool negative = value < 0, steep;
    float x = negative ? -value : value;
    steep = x > 1;
    if (steep)
        x = 1 / x;
    /* atan(x) = pi/8 + atan((x - t) / (1 + x t)) with t = tan(pi/8). */
    const float tangent = 0.41421356f;
    float z = (x - tangent) / (1 + x * tangent), s = z * z;
    float angle = PI / 8 + z * (1 + s * (-1 / 3.0f + s * (1 / 5.0f + s * (-1 / 7.0f + s * (1 / 9.0f - s * (1 / 11.0f))))));
    if (steep)
        angle = PI / 2 - angle;
    return negative ? -angle : angle;
}

/* Newton's method. Halving the exponent gives a first value within 6 %. Each step doubles the number of right digits. */
float square_root(float value)
{
    union {
        float value;
        uint32_t bits;
    } root = { .value = value };
    root.bits = (root.bits >> 1) + 0x1fc00000;
    for (int turn = 0; turn < 3; turn++)
        root.value = (root.value + value / root.value) / 2;
    return root.value;
}
