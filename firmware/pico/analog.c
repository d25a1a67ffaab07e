/* Measures supply and motor currents with the analogue inputs. */
#include "pico.h"

#define ENABLE BIT(0)
#define START BIT(2)
#define READY BIT(8)
#define FULL_SCALE_MV 3300
/* Conversions of each input in a loop period, 2 us each. They come at the start of a PWM period, because most bridges show a
   current only while they are on. */
#define CONVERSIONS 2

enum { CURRENT_A, CURRENT_B, SUPPLY, INPUTS };
static const int8_t pins[INPUTS] = { CURRENT_A_PIN, CURRENT_B_PIN, SUPPLY_PIN };
/* Means of the last analog_read, in mV at the pin. */
static int32_t means_mv[INPUTS];

void analog_start(void)
{
    ADC_CS = ENABLE;
    for (uint32_t i = 0; i < INPUTS; i++)
        if (pins[i] >= 0) {
            pin_set_up((uint32_t)pins[i], PIN_NONE, 0);
            REGISTER(PAD(pins[i])) = PAD_NO_OUTPUT;
        }
    while (!(ADC_CS & READY)) {
    }
}

void analog_read(void)
{
    int32_t sums[INPUTS] = { 0 };
    for (int turn = 0; turn < CONVERSIONS; turn++)
        for (uint32_t i = 0; i < INPUTS; i++) {
            if (pins[i] < 0)
                continue;
            ADC_CS = ENABLE | START | (uint32_t)(pins[i] - 26) << 12;
            while (!(ADC_CS & READY)) {
            }
            sums[i] += (int32_t)ADC_RESULT;
        }
    for (uint32_t i = 0; i < INPUTS; i++)
        means_mv[i] = sums[i] * FULL_SCALE_MV / (CONVERSIONS * 4096);
}

int32_t analog_supply_mv(void)
{
    return pins[SUPPLY] < 0 ? (int32_t)(SUPPLY_V * 1000) : means_mv[SUPPLY] * SUPPLY_FULL_SCALE_MV / FULL_SCALE_MV;
}

int32_t analog_current_ma(uint32_t motor)
{
    if (pins[CURRENT_A + motor] < 0)
        return 0;
    int32_t current = (means_mv[CURRENT_A + motor] - CURRENT_ZERO_MV) * 1000 / CURRENT_MV_PER_A;
    return current < 0 ? -current : current;
}
