/* Records the response of the excited loop to each edge. */
#include "controller.h"

#define KEPT_MS 1000

static struct capture *unused(struct loop *loop)
{
    struct capture *capture = loop->captures;
    while (capture == loop->next || capture == loop->state.capture)
        capture++;
    return capture;
}

static void finish(struct loop *loop)
{
    if (loop->recording == 0)
        return;
    loop->capture_count = (uint8_t)(loop->capture_count % 255 + 1);
    loop->recording->number = loop->capture_count;
    loop->next = loop->recording;
    loop->recording = 0;
}

static void record(struct motor *motor, struct reading reading)
{
    struct capture *capture = motor->loop.recording;
    uint16_t counts = motor->unit->scale[capture->slot].counts;
    capture->sample[capture->samples].setpoint = (int16_t)scaled(reading.setpoint, counts, INT16_MAX);
    capture->sample[capture->samples].measured = (int16_t)scaled(reading.measured, counts, INT16_MAX);
    motor->loop.wait = capture->decimation;
    if (++capture->samples == MOTOR_CAPTURE_SAMPLES)
        finish(&motor->loop);
}

static void begin(struct motor *motor, const struct excitation *excitation, struct reading before)
{
    struct capture *capture = unused(&motor->loop);
    int32_t half_period = scaled(excitation->period_s, MOTOR_LOOP_RATE_HZ / 2, INT16_MAX);
    capture->slot = excitation->slot;
    capture->decimation = (uint16_t)((half_period + MOTOR_CAPTURE_SAMPLES - 1) / MOTOR_CAPTURE_SAMPLES);
    capture->samples = 0;
    motor->loop.recording = capture;
    record(motor, before);
}

/* Runs one loop period. `excitation` is null if none runs. `edge` is true if this period's setpoint is the first after an
   edge. If an excitation ends or moves to another loop, its last edge has no capture. */
void capture_tick(struct motor *motor, const struct excitation *excitation, struct reading before, struct reading after,
                  bool edge)
{
    struct loop *loop = &motor->loop;
    if (loop->recording != 0 && (excitation == 0 || excitation->slot != loop->recording->slot))
        loop->recording = 0;
    if (edge && excitation != 0) {
        finish(loop);
        begin(motor, excitation, before);
    }
    if (loop->recording != 0 && --loop->wait == 0)
        record(motor, after);
    /* Each page that the host selects keeps the shown capture for another second. Meanwhile a newer capture waits. */
    uint32_t selections = motor->bus.selections;
    if (loop->selections != selections)
        loop->kept_ms = KEPT_MS;
    loop->selections = selections;
    if (loop->kept_ms > 0)
        loop->kept_ms--;
    if (loop->kept_ms == 0 && loop->next != 0) {
        loop->state.capture = loop->next;
        loop->next = 0;
    }
}
