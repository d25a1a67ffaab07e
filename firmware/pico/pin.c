/* Connects a pin with a block of the chip. */
#include "pico.h"

void pin_set_up(uint32_t pin, enum pin_function function, uint32_t pad)
{
    REGISTER(PAD(pin)) = pad | PAD_SCHMITT | PAD_INPUT;
    REGISTER(IO_CTRL(pin)) = function;
}
