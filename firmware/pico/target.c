/*
 * The controller on the bus: the chip's I2C block as a target. Its interrupt has the highest priority.
 *
 * One interrupt may report several events. They are handled in the order of the wire. The block marks the first byte of each
 * write, and this byte ends the write before it. Bytes are received before a stop or restart ends the frame, because the block
 * may report a stop while bytes of that frame are still in its FIFO.
 */
#include "pico.h"

struct i2c {
    uint32_t con, tar, sar, reserved_0, data_cmd, speeds[6], intr_stat, intr_mask, raw_intr_stat, rx_tl, tx_tl;
    uint32_t clr_intr, clr_rx_under, clr_rx_over, clr_tx_over, clr_rd_req, clr_tx_abrt, clr_rx_done, clr_activity;
    uint32_t clr_stop_det, clr_start_det, clr_gen_call, enable, status, txflr, rxflr, sda_hold, tx_abrt_source;
    uint32_t nack_only, dma[3], sda_setup, ack_general_call, enable_status, fs_spklen, reserved_1, clr_restart_det;
};
_Static_assert(offsetof(struct i2c, clr_restart_det) == 0xa8, "the block's registers");
#define I2C ((volatile struct i2c *)0x40044000)

#define FAST_MODE (2 << 1)
/* Holds SCL low while the receiving FIFO is full, instead of losing bytes. */
#define HOLD_IF_FULL BIT(9)
#define FIRST_BYTE BIT(11)
#define TARGET_ACTIVE BIT(6)
/* Interrupts. A restart may show as RESTART, as START, or as both. */
#define RX_FULL BIT(2)
#define RD_REQ BIT(5)
#define TX_ABRT BIT(6)
#define STOP BIT(9)
#define START BIT(10)
#define RESTART BIT(12)

#define STUCK_MS 25

static struct motor *controller;
/* The next byte of a read, ready before the host asks for it. */
static uint8_t ready;
static bool is_ready;
/* Counts events, so that the loop can tell a busy bus from a stuck one. */
static volatile uint32_t events;

static void prepare(void)
{
    ready = motor_byte_to_send(controller);
    is_ready = true;
}

/* SCL stays low until the byte is written, so no other event can come first. */
static void send(void)
{
    I2C->data_cmd = ready;
    (void)I2C->clr_rd_req;
    motor_byte_sent(controller);
    prepare();
}

/* Receives the bytes of the FIFO. Returns whether one of them began a write. */
static bool receive(void)
{
    bool began = false;
    while (I2C->rxflr > 0) {
        uint32_t data = I2C->data_cmd;
        if (data & FIRST_BYTE) {
            motor_frame_ends(controller);
            began = true;
        }
        motor_byte_received(controller, (uint8_t)data);
        is_ready = false;
    }
    return began;
}

/* Not inlined, so that target_interrupt saves fewer registers before it sends. */
__attribute__((noinline)) static void handle(uint32_t seen)
{
    if (seen & STOP)
        (void)I2C->clr_stop_det;
    if (seen & START)
        (void)I2C->clr_start_det;
    if (seen & RESTART)
        (void)I2C->clr_restart_det;
    if (seen & TX_ABRT)
        (void)I2C->clr_tx_abrt;
    bool began = receive();
    bool ended = seen & (STOP | START | RESTART);
    /* The stop or start may be older than the write that began. If that write is still active, its own end follows. */
    if (ended && began && !(seen & RD_REQ))
        ended = !(I2C->status & TARGET_ACTIVE);
    if (ended || ((seen & RD_REQ) && !is_ready)) {
        motor_frame_ends(controller);
        is_ready = false;
    }
    if (seen & RD_REQ) {
        if (!is_ready)
            prepare();
        send();
    } else if (ended && (seen & (START | RESTART))) {
        /* A read may follow. Its first byte must not wait until a snapshot is copied. */
        prepare();
    }
}

void target_interrupt(void)
{
    uint32_t seen = I2C->intr_stat;
    if (seen == RD_REQ && is_ready)
        send();
    else
        handle(seen);
    events++;
}

static void start_block(void)
{
    SET(RESETS_RESET) = RESET_I2C0;
    CLEAR(RESETS_RESET) = RESET_I2C0;
    while (!(REGISTER(RESETS_DONE) & RESET_I2C0)) {
    }
    is_ready = false;
    I2C->con = FAST_MODE | HOLD_IF_FULL;
    I2C->sar = UNIT.address;
    I2C->ack_general_call = 0;
    I2C->rx_tl = 0;
    /* In clock periods of 8 ns. SDA changes 320 ns after SCL falls, and is valid 104 ns before SCL is released. */
    I2C->sda_hold = 40;
    I2C->sda_setup = 14;
    /* Enable the interrupts first: a read request without an interrupt would hold SCL low for ever. */
    I2C->intr_mask = RX_FULL | RD_REQ | TX_ABRT | STOP | START | RESTART;
    I2C->enable = 1;
}

void target_start(struct motor *motor)
{
    controller = motor;
    pin_set_up(SDA_PIN, PIN_I2C, PAD_PULL_UP | PAD_4_MA);
    pin_set_up(SCL_PIN, PIN_I2C, PAD_PULL_UP | PAD_4_MA);
    start_block();
    NVIC_ENABLE = BIT(I2C0_INTERRUPT);
}

void target_watch(void)
{
    static uint32_t low_ms, last;
    bool low = (REGISTER(SIO_GPIO_IN) & (BIT(SDA_PIN) | BIT(SCL_PIN))) != (BIT(SDA_PIN) | BIT(SCL_PIN));
    low_ms = low && events == last ? low_ms + 1 : 0;
    last = events;
    if (low_ms < STUCK_MS)
        return;
    low_ms = 0;
    NVIC_DISABLE = BIT(I2C0_INTERRUPT);
    /* Drop the incomplete frame. The barrier keeps the compiler from moving these writes past the enabling. */
    controller->bus.count = 0;
    controller->bus.writing = false;
    start_block();
    __asm__ volatile("" ::: "memory");
    NVIC_ENABLE = BIT(I2C0_INTERRUPT);
}
