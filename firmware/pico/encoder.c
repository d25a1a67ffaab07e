/*
 * Two quadrature encoders, each counted by a state machine of PIO0 without the processor. A state machine looks at its
 * pins 3 million times a second, so it can count a million steps a second.
 */
#include "pico.h"

#define CLOCK_DIVIDER 4

#define CTRL 0x00
#define FSTAT 0x04
#define FLEVEL 0x0c
#define RXF(n) (0x20 + 4 * (n))
#define INSTR_MEM(n) (0x48 + 4 * (n))
#define SM_CLKDIV(n) (0xc8 + 0x18 * (n))
#define SM_EXECCTRL(n) (0xcc + 0x18 * (n))
#define SM_SHIFTCTRL(n) (0xd0 + 0x18 * (n))
#define SM_INSTR(n) (0xd8 + 0x18 * (n))
#define SM_PINCTRL(n) (0xdc + 0x18 * (n))
#define RX_EMPTY(n) BIT(8 + (n))

/*
 * Y holds the count, X the last state of the pins. The first 16 instructions are a jump table. Its index has the last state
 * in bits 3 and 2 and the new state in bits 1 and 0. If both pins changed at once, the count stays.
 */
enum { UP = 16, SAMPLE = 19, DOWN = 25 };
#define JMP(to) (to)
static const uint16_t program[] = {
    JMP(SAMPLE), JMP(UP), JMP(DOWN), JMP(SAMPLE),
    JMP(DOWN), JMP(SAMPLE), JMP(SAMPLE), JMP(UP),
    JMP(UP), JMP(SAMPLE), JMP(SAMPLE), JMP(DOWN),
    JMP(SAMPLE), JMP(DOWN), JMP(UP), JMP(SAMPLE),
    /* UP: counts up. No instruction adds, so the program subtracts from the complement. */
    0xa04a,          /* mov y, ~y */
    0x0080 | 18,     /* jmp y--, next */
    0xa04a,          /* mov y, ~y */
    /* SAMPLE: pushes the count into the FIFO. If the FIFO is full, this count is dropped. Then reads the pins. */
    0xa0c2,          /* mov isr, y */
    0x8000,          /* push noblock */
    0x4022,          /* in x, 2 */
    0x4002,          /* in pins, 2 */
    0xa026,          /* mov x, isr */
    0xa0a6,          /* mov pc, isr */
    /* DOWN: counts down. If Y was 0 there is no jump, but this is the last instruction and the program wraps to SAMPLE. */
    0x0080 | SAMPLE, /* jmp y--, SAMPLE */
};

static void start_one(uint32_t machine, uint32_t pin)
{
    /* Encoders with open collectors need the pull-up. It does not disturb other encoders. */
    pin_set_up(pin, PIN_PIO0, PAD_PULL_UP);
    pin_set_up(pin + 1, PIN_PIO0, PAD_PULL_UP);
    PIO0(SM_CLKDIV(machine)) = CLOCK_DIVIDER << 16;
    PIO0(SM_EXECCTRL(machine)) = DOWN << 12 | SAMPLE << 7;
    /* The shift registers shift to the left. */
    PIO0(SM_SHIFTCTRL(machine)) = 0;
    PIO0(SM_PINCTRL(machine)) = pin << 15;
    PIO0(SM_INSTR(machine)) = 0xe040; /* set y, 0 */
    PIO0(SM_INSTR(machine)) = 0xa020; /* mov x, pins */
    PIO0(SM_INSTR(machine)) = JMP(SAMPLE);
}

void encoder_start(void)
{
    for (uint32_t i = 0; i < sizeof program / sizeof *program; i++)
        PIO0(INSTR_MEM(i)) = program[i];
    start_one(A, ENCODER_A_PIN);
    start_one(B, ENCODER_B_PIN);
    PIO0(CTRL) = BIT(A) | BIT(B);
}

int32_t encoder_counts(uint32_t motor)
{
    /* The FIFO is full of old counts. Empty it. A new count follows within half a microsecond. */
    for (uint32_t old = PIO0(FLEVEL) >> (8 * motor + 4) & 15; old > 0; old--)
        (void)PIO0(RXF(motor));
    while (PIO0(FSTAT) & RX_EMPTY(motor)) {
    }
    int32_t counts = (int32_t)PIO0(RXF(motor));
    return (motor == A ? ENCODER_A_REVERSED : ENCODER_B_REVERSED) ? -counts : counts;
}
