/*
 * The second stage. The chip's bootrom copies these 256 bytes from flash to 0x20041f00, checks the CRC-32 in the last
 * four, and jumps to the first. They copy the image into RAM and start it. The flash is read with the command 03h, which
 * every flash knows. Nothing is read from flash afterwards.
 */
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .section .boot2, "ax"
    .global second_stage
    .thumb_func
second_stage:
    /* Start the crystal first and wait 10 ms. With the ring oscillator of 2 to 12 MHz, copying could take too long. */
    ldr r0, =0x40024000
    ldr r1, =470
    str r1, [r0, #0x0c]
    ldr r1, =0xfabaa0
    str r1, [r0]
1:  ldr r1, [r0, #0x04]
    lsrs r1, #31
    beq 1b
    /* Connect clk_ref to the crystal and clk_sys to clk_ref. A reset by a debugger may have left clk_sys at 125 MHz. */
    ldr r0, =0x40008030
    movs r1, #2
    str r1, [r0]
2:  ldr r1, [r0, #0x08]
    lsrs r1, #2
    beq 2b
    movs r1, #0
    str r1, [r0, #0x0c]
3:  ldr r1, [r0, #0x14]
    lsrs r1, #1
    bcc 3b

    /* Read the flash at half the crystal's clock: command of 8 bits, address of 24 bits, data in words. */
    ldr r0, =0x18000000
    movs r1, #0
    str r1, [r0, #0x08]
    str r1, [r0, #0x04]
    movs r1, #2
    str r1, [r0, #0x14]
    ldr r1, =0x001f0300
    str r1, [r0]
    ldr r1, =0x18000000 + 0xf4
    ldr r2, =0x03000218
    str r2, [r1]
    movs r1, #1
    str r1, [r0, #0x08]

    ldr r0, =0x10000100
    ldr r1, =image_start
    ldr r2, =image_end
4:  ldm r0!, {r3}
    stm r1!, {r3}
    cmp r1, r2
    blo 4b

    ldr r0, =image_start
    ldr r1, =0xe000ed08
    str r0, [r1]
    ldm r0!, {r1, r2}
    msr msp, r1
    bx r2
    .ltorg
