/* Starts the program, from the first instruction to main: memory, resets, clocks. Also handles exceptions. */
#include "pico.h"

extern uint32_t zero_start[], zero_end[];
extern const char stack_top[], image_bytes[];

#define PERIPHERALS \
    (RESET_ADC | RESET_I2C0 | RESET_IO_BANK0 | RESET_PADS_BANK0 | RESET_PIO0 | RESET_PIO1 | RESET_PLL_SYS | \
     RESET_PLL_USB | RESET_PWM | RESET_TIMER | RESET_UART0)

/* Switches the bridges off at once. Then nothing feeds the watchdog, so it resets the chip within 20 ms. */
static void fail(void)
{
    bridge_enable(false);
    for (;;) {
    }
}

/* The output is 12 MHz * feedback / divider_1 / divider_2. */
static void start_pll(uint32_t pll, uint32_t feedback, uint32_t divider_1, uint32_t divider_2)
{
    REGISTER(pll + PLL_CS) = 1;
    REGISTER(pll + PLL_FBDIV) = feedback;
    /* Power on the PLL without its delta-sigma modulator. When it has locked, power on the dividers. */
    CLEAR(pll + PLL_PWR) = BIT(0) | BIT(5);
    while (!(REGISTER(pll + PLL_CS) & BIT(31))) {
    }
    REGISTER(pll + PLL_PRIM) = divider_1 << 16 | divider_2 << 12;
    CLEAR(pll + PLL_PWR) = BIT(3);
}

/* boot2.S has started the crystal, and has connected clk_ref and clk_sys to it. */
static void start_clocks(void)
{
    start_pll(PLL_SYS, 125, 6, 2);
    start_pll(PLL_USB, 100, 5, 5);
    /* Switch clk_sys from clk_ref to PLL_SYS. */
    REGISTER(CLK_SYS_CTRL) = 1;
    while (!(REGISTER(CLK_SYS_SELECTED) & BIT(1))) {
    }
    REGISTER(CLK_PERI_CTRL) = CLK_ENABLE;
    REGISTER(CLK_ADC_CTRL) = CLK_ENABLE;
    /* One tick a microsecond, for the timer and the watchdog. */
    WATCHDOG_TICK = BIT(9) | CRYSTAL_HZ / 1000000;
}

/* Ends the reset of these blocks. */
static void release(uint32_t blocks)
{
    CLEAR(RESETS_RESET) = blocks;
    while ((REGISTER(RESETS_DONE) & blocks) != blocks) {
    }
}

static void start(void)
{
    for (uint32_t *word = zero_start; word < zero_end; word++)
        *word = 0;
    /* After a reset by a debugger some peripherals still run, so reset all. */
    SET(RESETS_RESET) = PERIPHERALS;
    release(RESET_PLL_SYS | RESET_PLL_USB);
    start_clocks();
    /* UART and ADC leave their reset only while their own clocks run. */
    release(PERIPHERALS);
    main();
}

/* The table of vectors, followed by facts about the image. */
struct image {
    const void *stack;
    void (*exceptions[15])(void);
    void (*interrupts[32])(void);
    struct image_facts facts;
};

__attribute__((section(".vectors"), used)) static const struct image image = {
    .stack = stack_top,
    .exceptions = { [0] = start, [1] = fail, [2] = fail, [10] = fail, [13] = fail, [14] = period_interrupt },
    .interrupts = { [I2C0_INTERRUPT] = target_interrupt },
    .facts = { .bytes = image_bytes },
};

const struct image_facts *image_facts(void)
{
    /* scripts/firmware/uf2.ts changes these words, so the compiler must not treat them as constants. */
    return (const struct image_facts *)(IMAGE_ADDRESS + offsetof(struct image, facts));
}
