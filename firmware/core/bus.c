/* The bus interrupt's part: receives frames, checks them when they end, and answers reads. */
#include "controller.h"

#define REFUSAL_SHOWN_MS 1000

struct frame {
    uint8_t place, bytes;
    bool readable, writable;
};

#define FRAME(name, readable, writable) { MOTOR_##name##_REGISTER, MOTOR_##name##_BYTES, readable, writable }
#define GAINS(slot) { MOTOR_GAINS_REGISTER(slot), MOTOR_GAINS_BYTES, true, true }
static const struct frame frames[] = {
    FRAME(IDENTITY, true, false),
    FRAME(STATUS, true, false),
    { MOTOR_TELEMETRY_REGISTER, MOTOR_GIMBAL_TELEMETRY_BYTES, true, false },
    FRAME(MODE, true, true),
    FRAME(STOP, true, true),
    FRAME(HEARTBEAT, false, true),
    FRAME(COMMIT, false, true),
    FRAME(EXCITATION, true, true),
    FRAME(GUARDED_EXCITATION, true, true),
    GAINS(0), GAINS(1), GAINS(2), GAINS(3), GAINS(4),
    FRAME(CAPTURE_SELECT, false, true),
    FRAME(CAPTURE, true, false),
    FRAME(CAPTURE_PAGE, true, false),
};
MOTOR_ASSERT(MOTOR_GIMBAL_TELEMETRY_BYTES == MOTOR_CHASSIS_TELEMETRY_BYTES, "one table serves both units");

/* The frame that `place` lies in, or null. */
static const struct frame *frame_of(const struct motor_unit *unit, uint8_t place)
{
    if (place >= MOTOR_GAINS_REGISTER(unit->loop_count) && place < MOTOR_CAPTURE_SELECT_REGISTER)
        return 0;
    for (uint8_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if ((uint8_t)(place - frames[i].place) < frames[i].bytes)
            return &frames[i];
    return 0;
}

/* Passes a frame to the loop. Returns false if there is no room. */
static bool post(struct motor *motor, struct mail mail)
{
    struct bus *bus = &motor->bus;
    if (bus->mail_head - motor->loop.mail_tail >= MOTOR_MAIL)
        return false;
    bus->mail[bus->mail_head % MOTOR_MAIL] = mail;
    /* From here on the loop sees the whole frame. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    bus->mail_head++;
    return true;
}

static bool take_excitation(struct motor *motor, struct excitation wanted)
{
    const struct motor_unit *unit = motor->unit;
    return is_finite(wanted.amplitude) && is_finite(wanted.period_s) && is_finite(wanted.deviation) &&
           wanted.slot < unit->loop_count && wanted.amplitude >= 0 &&
           wanted.amplitude <= unit->scale[wanted.slot].max_amplitude &&
           wanted.period_s >= MOTOR_EXCITATION_MIN_PERIOD_S && wanted.period_s <= MOTOR_EXCITATION_MAX_PERIOD_S &&
           wanted.deviation >= 0 &&
           post(motor, (struct mail){ .place = MOTOR_EXCITATION_REGISTER, .excitation = wanted });
}

static bool stage(struct motor *motor, uint8_t slot, struct gains gains)
{
    if (!is_finite(gains.kp) || !is_finite(gains.ki) || !is_finite(gains.kd))
        return false;
    motor->bus.staged[slot] = gains;
    motor->bus.staged_bits |= (uint8_t)(1 << slot);
    return true;
}

/* The staged set becomes active in the next loop period if it is complete and its checksum is the host's. */
static bool commit(struct motor *motor, uint32_t checksum)
{
    struct bus *bus = &motor->bus;
    uint8_t loops = motor->unit->loop_count;
    bus->commit_refused = bus->staged_bits != (1 << loops) - 1 ||
                          motor_crc32(0, bus->staged, loops * sizeof(struct gains)) != checksum;
    if (bus->commit_refused)
        return true;
    struct mail mail = { .place = MOTOR_COMMIT_REGISTER, .gains.checksum = checksum };
    memcpy(mail.gains.set, bus->staged, sizeof bus->staged);
    bus->staged_bits = 0;
    return post(motor, mail);
}

/* Handles a frame whose length and CRC are right. Returns false to refuse it. */
static bool take(struct motor *motor, const struct frame *frame, const uint8_t *data)
{
    struct bus *bus = &motor->bus;
    switch (frame->place) {
    case MOTOR_MODE_REGISTER:
        return data[0] <= MOTOR_MODE_DEBUG && post(motor, (struct mail){ .place = frame->place, .value = data[0] });
    case MOTOR_STOP_REGISTER:
        return data[0] <= MOTOR_STOP_STOPPED && post(motor, (struct mail){ .place = frame->place, .value = data[0] });
    case MOTOR_HEARTBEAT_REGISTER:
        bus->silence_ms = (uint16_t)(data[1] | data[2] << 8);
        bus->beats++;
        return true;
    case MOTOR_COMMIT_REGISTER: {
        uint32_t checksum;
        memcpy(&checksum, data, sizeof checksum);
        return commit(motor, checksum);
    }
    case MOTOR_EXCITATION_REGISTER:
    case MOTOR_GUARDED_EXCITATION_REGISTER: {
        struct motor_guarded_excitation asked = { 0 };
        memcpy(&asked, data, frame->bytes - 1u);
        return take_excitation(motor, (struct excitation){ asked.slot, asked.amplitude, asked.period_s, asked.deviation });
    }
    case MOTOR_CAPTURE_SELECT_REGISTER:
        bus->page = data[0];
        bus->selections++;
        return true;
    default: {
        struct gains gains;
        memcpy(&gains, data, sizeof gains);
        return stage(motor, (uint8_t)((frame->place - MOTOR_GAINS_REGISTER(0)) / 0x10), gains);
    }
    }
}

static const struct state *shown_of(const struct motor *motor)
{
    return &motor->loop.shown[motor->newest];
}

static struct motor_identity identity(const struct motor *motor)
{
    return (struct motor_identity){
        .magic = MOTOR_MAGIC,
        .kind = motor->unit->kind,
        .protocol = MOTOR_PROTOCOL_VERSION,
        .firmware_major = 1,
        .loops = motor->unit->loop_count,
        .loop_rate_hz = MOTOR_LOOP_RATE_HZ,
    };
}

static struct motor_status status(const struct motor *motor)
{
    const struct state *shown = shown_of(motor);
    const struct bus *bus = &motor->bus;
    bool refused_now = shown->refusals != bus->refusals || shown->refusal_age_ms < REFUSAL_SHOWN_MS;
    return (struct motor_status){
        .boot_id = motor->boot_id,
        .mode = shown->command.mode,
        .flags = (uint8_t)((shown->stopped ? MOTOR_FLAGS_STOPPED : 0) |
                           (shown->command.torque ? MOTOR_FLAGS_TORQUE : 0) |
                           (shown->has_gains ? MOTOR_FLAGS_GAINS_COMMITTED : 0) |
                           (shown->loops.target_visible ? MOTOR_FLAGS_TARGET_VISIBLE : 0) |
                           MOTOR_FLAGS_GUARDED_EXCITATION),
        .faults = (uint16_t)(shown->faults | (bus->commit_refused ? MOTOR_FAULTS_COMMIT_REFUSED : 0) |
                             (refused_now ? MOTOR_FAULTS_FRAME_REFUSED : 0)),
        .active_checksum = shown->checksum,
        .staged = bus->staged_bits,
        .refused = (uint8_t)bus->refusals,
        .capture = shown->capture == 0 ? 0 : shown->capture->number,
    };
}

static void telemetry(struct motor *motor, uint8_t *data)
{
    const struct state *shown = shown_of(motor);
    struct bus *bus = &motor->bus;
    bus->loaded_tick = shown->tick;
    data[0] = (uint8_t)(bus->sequence + (bus->snapshot_tick != shown->tick));
    memcpy(data + 1, shown->telemetry, MOTOR_GIMBAL_TELEMETRY_BYTES - 2);
}

static void capture_page(const struct motor *motor, uint8_t *data)
{
    const struct capture *capture = shown_of(motor)->capture;
    data[0] = capture == 0 ? 0 : capture->number;
    data[1] = motor->bus.page;
    int16_t counts[2 * MOTOR_CAPTURE_PAGE_SAMPLES] = { 0 };
    for (uint32_t i = 0; i < MOTOR_CAPTURE_PAGE_SAMPLES; i++) {
        uint32_t sample = motor->bus.page * MOTOR_CAPTURE_PAGE_SAMPLES + i;
        if (capture == 0 || sample >= capture->samples)
            break;
        counts[2 * i] = capture->sample[sample].setpoint;
        counts[2 * i + 1] = capture->sample[sample].measured;
    }
    memcpy(data + 2, counts, sizeof counts);
}

/* Copies the whole frame, so that all of its bytes belong together. */
static void load(struct motor *motor, const struct frame *frame)
{
    struct bus *bus = &motor->bus;
    const struct state *shown = shown_of(motor);
    const struct excitation *excitation = &shown->command.excitation;
    uint8_t *data = bus->data, bytes = frame->bytes - 1;
    switch (frame->place) {
    case MOTOR_IDENTITY_REGISTER: {
        struct motor_identity answer = identity(motor);
        memcpy(data, &answer, bytes);
        break;
    }
    case MOTOR_STATUS_REGISTER: {
        struct motor_status answer = status(motor);
        memcpy(data, &answer, bytes);
        break;
    }
    case MOTOR_TELEMETRY_REGISTER:
        telemetry(motor, data);
        break;
    case MOTOR_MODE_REGISTER:
        data[0] = shown->command.mode;
        break;
    case MOTOR_STOP_REGISTER:
        data[0] = shown->stopped ? MOTOR_STOP_STOPPED : MOTOR_STOP_RELEASED;
        break;
    case MOTOR_EXCITATION_REGISTER:
    case MOTOR_GUARDED_EXCITATION_REGISTER: {
        struct motor_guarded_excitation answer = { excitation->slot, excitation->amplitude, excitation->period_s,
                                                   excitation->deviation, 0 };
        memcpy(data, &answer, bytes);
        break;
    }
    case MOTOR_CAPTURE_REGISTER: {
        const struct capture *capture = shown->capture;
        struct motor_capture answer = { .rate_hz = MOTOR_LOOP_RATE_HZ, .decimation = 1 };
        if (capture != 0)
            answer = (struct motor_capture){ capture->number, capture->slot, MOTOR_LOOP_RATE_HZ,
                                             capture->decimation, capture->samples, 0 };
        memcpy(data, &answer, bytes);
        break;
    }
    case MOTOR_CAPTURE_PAGE_REGISTER:
        capture_page(motor, data);
        break;
    default:
        memcpy(data, &bus->staged[(frame->place - MOTOR_GAINS_REGISTER(0)) / 0x10], bytes);
    }
    motor_seal(motor->unit->address, frame->place, data, frame->bytes);
    bus->loaded = frame;
}

void motor_byte_received(struct motor *motor, uint8_t byte)
{
    struct bus *bus = &motor->bus;
    if (!bus->writing) {
        bus->writing = true;
        bus->place = byte;
    } else if (bus->count < sizeof bus->received) {
        bus->received[bus->count++] = byte;
    }
}

uint8_t motor_byte_to_send(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    uint8_t place = bus->place;
    const struct frame *frame = frame_of(motor->unit, place);
    if (frame == 0 || !frame->readable)
        return 0;
    if (frame != bus->loaded)
        load(motor, frame);
    return bus->data[place - frame->place];
}

void motor_byte_sent(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    if (bus->loaded != 0 && bus->loaded->place == MOTOR_TELEMETRY_REGISTER) {
        bus->sequence = bus->data[0];
        bus->snapshot_tick = bus->loaded_tick;
    }
    /* A long read continues with the next frame, and past 255 with the first. */
    bus->place++;
}

/* Checks a write if one has come. A register byte alone is not a write. */
void motor_frame_ends(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    uint8_t bytes = bus->count;
    bus->writing = false;
    bus->count = 0;
    bus->loaded = 0;
    if (bytes == 0)
        return;
    const struct frame *frame = frame_of(motor->unit, bus->place);
    if (frame == 0 || !frame->writable || frame->place != bus->place || frame->bytes != bytes ||
        !motor_is_sealed(motor->unit->address, frame->place, bus->received, bytes) ||
        !take(motor, frame, bus->received))
        bus->refusals++;
}
