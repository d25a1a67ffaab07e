/*
 * Two quadrature encoders, counted by state machines of the PIO blocks without the processor. PIO0 counts up and down. PIO1
 * counts each change of the pins, whatever its direction: a broken channel has many changes, and its count stays. A state
 * machine looks at its pins 3 million times a second, so it can count a million steps a second.
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

enum block { COUNTS, CHANGES, BLOCKS };

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

static void start_one(enum block block, uint32_t machine, uint32_t pin)
{
    PIO(block, SM_CLKDIV(machine)) = CLOCK_DIVIDER << 16;
    PIO(block, SM_EXECCTRL(machine)) = DOWN << 12 | SAMPLE << 7;
    /* The shift registers shift to the left. */
    PIO(block, SM_SHIFTCTRL(machine)) = 0;
    PIO(block, SM_PINCTRL(machine)) = pin << 15;
    PIO(block, SM_INSTR(machine)) = 0xe040; /* set y, 0 */
    PIO(block, SM_INSTR(machine)) = 0xa020; /* mov x, pins */
    PIO(block, SM_INSTR(machine)) = JMP(SAMPLE);
}

void encoder_start(void)
{
    static const uint8_t pins[MOTORS] = { ENCODER_A_PIN, ENCODER_B_PIN };
    for (enum block block = COUNTS; block < BLOCKS; block++) {
        for (uint32_t i = 0; i < sizeof program / sizeof *program; i++)
            PIO(block, INSTR_MEM(i)) = block == COUNTS || i >= UP ? program[i] : i >> 2 == (i & 3) ? JMP(SAMPLE) : JMP(UP);
        for (uint32_t motor = 0; motor < MOTORS; motor++) {
            /* Encoders with open collectors need the pull-up. It does not disturb other encoders. */
            pin_set_up(pins[motor], PIN_PIO0, PAD_PULL_UP);
            pin_set_up(pins[motor] + 1, PIN_PIO0, PAD_PULL_UP);
            start_one(block, motor, pins[motor]);
        }
        PIO(block, CTRL) = BIT(A) | BIT(B);
    }
}

static uint32_t newest(enum block block, uint32_t motor)
{
    /* The FIFO is full of old counts. Empty it. A new count follows within half a microsecond. */
    for (uint32_t old = PIO(block, FLEVEL) >> (8 * motor + 4) & 15; old > 0; old--)
        (void)PIO(block, RXF(motor));
    while (PIO(block, FSTAT) & RX_EMPTY(motor)) {
    }
    return PIO(block, RXF(motor));
}

int32_t encoder_counts(uint32_t motor)
{
    uint32_t counts = newest(COUNTS, motor);
    return (int32_t)((motor == A ? ENCODER_A_REVERSED : ENCODER_B_REVERSED) ? -counts : counts);
}

uint32_t encoder_changes(uint32_t motor)
{
    return newest(CHANGES, motor);
}
