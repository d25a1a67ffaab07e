/* Records the answer of the excited loop to each edge. */
#include "controller.h"

#define KEPT_MS 1000

static int8_t unused(const struct loop *loop)
{
    int8_t buffer = 0;
    while (buffer == loop->next || buffer == loop->newest)
        buffer++;
    return buffer;
}

static void record(struct motor *motor, struct reading reading)
{
    struct loop *loop = &motor->loop;
    struct capture *capture = &loop->captures[loop->recording];
    uint16_t counts = motor->unit->scale[capture->slot].counts;
    capture->sample[capture->samples].setpoint = (int16_t)scaled(reading.setpoint, counts, INT16_MAX);
    capture->sample[capture->samples].measured = (int16_t)scaled(reading.measured, counts, INT16_MAX);
    capture->samples++;
}

static void finish(struct loop *loop)
{
    if (loop->recording < 0)
        return;
    loop->capture_count = (uint8_t)(loop->capture_count % 255 + 1);
    loop->captures[loop->recording].number = loop->capture_count;
    loop->next = loop->recording;
    loop->recording = -1;
}

static void begin(struct motor *motor, const struct excitation *excitation, struct reading before)
{
    struct loop *loop = &motor->loop;
    int32_t half_period = scaled(excitation->period_s, MOTOR_LOOP_RATE_HZ / 2, INT16_MAX);
    int32_t decimation = (half_period + MOTOR_CAPTURE_SAMPLES - 1) / MOTOR_CAPTURE_SAMPLES;
    loop->recording = unused(loop);
    struct capture *capture = &loop->captures[loop->recording];
    capture->slot = excitation->slot;
    capture->decimation = (uint16_t)(decimation > 0 ? decimation : 1);
    capture->samples = 0;
    record(motor, before);
    loop->wait = capture->decimation;
}

/*
 * One loop period. `excitation` is null unless it runs. `edge` says that the setpoint of this period is the first after
 * an edge. An excitation that ends or moves to another loop leaves no capture of its last edge.
 */
void capture_tick(struct motor *motor, const struct excitation *excitation, struct reading before, struct reading after,
                  bool edge)
{
    struct loop *loop = &motor->loop;
    if (loop->recording >= 0 && (excitation == 0 || excitation->slot != loop->captures[loop->recording].slot))
        loop->recording = -1;
    if (edge && excitation != 0) {
        finish(loop);
        begin(motor, excitation, before);
    }
    if (loop->recording >= 0 && --loop->wait == 0) {
        loop->wait = loop->captures[loop->recording].decimation;
        record(motor, after);
        if (loop->captures[loop->recording].samples == MOTOR_CAPTURE_SAMPLES)
            finish(loop);
    }
    /* The host is reading the newest capture; a newer one waits until a second after its last selection. */
    if (loop->selections != motor->bus.selections)
        loop->kept_ms = KEPT_MS;
    loop->selections = motor->bus.selections;
    if (loop->kept_ms > 0)
        loop->kept_ms--;
    if (loop->kept_ms == 0 && loop->next >= 0) {
        loop->newest = loop->next;
        loop->next = -1;
    }
}
