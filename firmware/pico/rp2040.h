/* The registers of the RP2040 that the image uses, as the chip's datasheet names them. */
#ifndef RP2040_H
#define RP2040_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define BIT(n) (UINT32_C(1) << (n))
/* Writes to these addresses set or clear bits of a register in one step, so an interrupt cannot come between. The
   processor's own registers have no such addresses. */
#define SET(address) REGISTER((address) + 0x2000)
#define CLEAR(address) REGISTER((address) + 0x3000)

#define CLOCK_HZ 125000000
#define CRYSTAL_HZ 12000000

/* The image in RAM, where boot2.S puts it. */
#define IMAGE_ADDRESS 0x20000000

#define CLK_SYS_CTRL 0x4000803c
#define CLK_SYS_SELECTED 0x40008044
#define CLK_PERI_CTRL 0x40008048
#define CLK_ADC_CTRL 0x40008060
#define CLK_ENABLE BIT(11)

#define RESETS_RESET 0x4000c000
#define RESETS_DONE 0x4000c008
#define RESET_ADC BIT(0)
#define RESET_I2C0 BIT(3)
#define RESET_IO_BANK0 BIT(5)
#define RESET_PADS_BANK0 BIT(8)
#define RESET_PIO0 BIT(10)
#define RESET_PIO1 BIT(11)
#define RESET_PLL_SYS BIT(12)
#define RESET_PLL_USB BIT(13)
#define RESET_PWM BIT(14)
#define RESET_TIMER BIT(21)
#define RESET_UART0 BIT(22)

#define PSM_WDSEL 0x40010008
#define PSM_OSCILLATORS 3

#define IO_CTRL(pin) (0x40014004 + 8 * (pin))
#define PAD(pin) (0x4001c004 + 4 * (pin))
enum pin_function { PIN_UART = 2, PIN_I2C = 3, PIN_PWM = 4, PIN_SIO = 5, PIN_PIO0 = 6, PIN_NONE = 31 };
#define PAD_SCHMITT BIT(1)
#define PAD_PULL_DOWN BIT(2)
#define PAD_PULL_UP BIT(3)
#define PAD_4_MA BIT(4)
#define PAD_INPUT BIT(6)
#define PAD_NO_OUTPUT BIT(7)

#define SIO_GPIO_IN 0xd0000004
#define SIO_GPIO_OUT_SET 0xd0000014
#define SIO_GPIO_OUT_CLEAR 0xd0000018
#define SIO_GPIO_OE_SET 0xd0000024

#define PLL_SYS 0x40028000
#define PLL_USB 0x4002c000
#define PLL_CS 0x0
#define PLL_PWR 0x4
#define PLL_FBDIV 0x8
#define PLL_PRIM 0xc

#define UART0(offset) REGISTER(0x40034000 + (offset))

#define ADC_CS REGISTER(0x4004c000)
#define ADC_RESULT REGISTER(0x4004c004)

#define PWM_CSR(slice) REGISTER(0x40050000 + 0x14 * (slice))
#define PWM_CC(slice) REGISTER(0x4005000c + 0x14 * (slice))
#define PWM_TOP(slice) REGISTER(0x40050010 + 0x14 * (slice))

#define TIMER_US REGISTER(0x40054028)

#define WATCHDOG_CTRL REGISTER(0x40058000)
#define WATCHDOG_LOAD REGISTER(0x40058004)
#define WATCHDOG_REASON REGISTER(0x40058008)
#define WATCHDOG_SCRATCH(n) REGISTER(0x4005800c + 4 * (n))
#define WATCHDOG_TICK REGISTER(0x4005802c)

#define ROSC_RANDOM_BIT REGISTER(0x4006001c)
#define CHIP_RESET REGISTER(0x40064008)

/* Both blocks read the pins, whichever block a pin belongs to. */
#define PIO(block, offset) REGISTER(0x50200000 + 0x100000 * (block) + (offset))

/* The processor's own registers. */
#define SYSTICK_CSR REGISTER(0xe000e010)
#define SYSTICK_RELOAD REGISTER(0xe000e014)
#define SYSTICK_NOW REGISTER(0xe000e018)
#define NVIC_ENABLE REGISTER(0xe000e100)
#define NVIC_DISABLE REGISTER(0xe000e180)
#define SYSTICK_PRIORITY REGISTER(0xe000ed20)
#define I2C0_INTERRUPT 23

#endif
