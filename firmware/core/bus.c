/* The interrupt's half: takes frames, judges them when they end, and answers reads. */
#include "controller.h"

struct frame {
    uint8_t place, bytes;
    bool readable, writable;
};

static const struct frame frames[] = {
    { MOTOR_IDENTITY_REGISTER, MOTOR_IDENTITY_BYTES, true, false },
    { MOTOR_STATUS_REGISTER, MOTOR_STATUS_BYTES, true, false },
    { MOTOR_TELEMETRY_REGISTER, MOTOR_GIMBAL_TELEMETRY_BYTES, true, false },
    { MOTOR_MODE_REGISTER, MOTOR_MODE_BYTES, true, true },
    { MOTOR_STOP_REGISTER, MOTOR_STOP_BYTES, true, true },
    { MOTOR_HEARTBEAT_REGISTER, MOTOR_HEARTBEAT_BYTES, false, true },
    { MOTOR_COMMIT_REGISTER, MOTOR_COMMIT_BYTES, false, true },
    { MOTOR_EXCITATION_REGISTER, MOTOR_EXCITATION_BYTES, true, true },
    { MOTOR_GUARDED_EXCITATION_REGISTER, MOTOR_GUARDED_EXCITATION_BYTES, true, true },
    { MOTOR_GAINS_REGISTER(0), MOTOR_GAINS_BYTES, true, true },
    { MOTOR_GAINS_REGISTER(1), MOTOR_GAINS_BYTES, true, true },
    { MOTOR_GAINS_REGISTER(2), MOTOR_GAINS_BYTES, true, true },
    { MOTOR_GAINS_REGISTER(3), MOTOR_GAINS_BYTES, true, true },
    { MOTOR_GAINS_REGISTER(4), MOTOR_GAINS_BYTES, true, true },
    { MOTOR_CAPTURE_SELECT_REGISTER, MOTOR_CAPTURE_SELECT_BYTES, false, true },
    { MOTOR_CAPTURE_REGISTER, MOTOR_CAPTURE_BYTES, true, false },
    { MOTOR_CAPTURE_PAGE_REGISTER, MOTOR_CAPTURE_PAGE_BYTES, true, false },
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

static void refuse(struct motor *motor)
{
    motor->bus.refusals++;
}

static void post(struct motor *motor, struct mail mail)
{
    struct bus *bus = &motor->bus;
    if (bus->mail_head - motor->loop.mail_tail >= MOTOR_MAIL) {
        refuse(motor);
        return;
    }
    bus->mail[bus->mail_head % MOTOR_MAIL] = mail;
    /* The loop sees the frame from here on, whole. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    bus->mail_head++;
}

static void take_excitation(struct motor *motor, struct excitation wanted)
{
    const struct motor_unit *unit = motor->unit;
    if (!is_finite(wanted.amplitude) || !is_finite(wanted.period_s) || !is_finite(wanted.deviation) ||
        wanted.slot >= unit->loop_count || wanted.amplitude < 0 ||
        wanted.amplitude > unit->scale[wanted.slot].max_amplitude ||
        wanted.period_s < MOTOR_EXCITATION_MIN_PERIOD_S || wanted.period_s > MOTOR_EXCITATION_MAX_PERIOD_S ||
        wanted.deviation < 0) {
        refuse(motor);
        return;
    }
    post(motor, (struct mail){ .kind = MAIL_EXCITATION, .excitation = wanted });
}

static void stage(struct motor *motor, uint8_t slot, struct gains gains)
{
    if (!is_finite(gains.kp) || !is_finite(gains.ki) || !is_finite(gains.kd)) {
        refuse(motor);
        return;
    }
    motor->bus.staged[slot] = gains;
    motor->bus.staged_bits |= (uint8_t)(1 << slot);
}

/* The staged set becomes active in the next loop period, if it is whole and its checksum is the host's. */
static void commit(struct motor *motor, uint32_t checksum)
{
    struct bus *bus = &motor->bus;
    uint8_t loops = motor->unit->loop_count;
    bus->commit_refused = bus->staged_bits != (1 << loops) - 1 ||
                          crc32(bus->staged, loops * sizeof(struct gains)) != checksum;
    if (bus->commit_refused)
        return;
    struct mail mail = { .kind = MAIL_GAINS, .gains.checksum = checksum };
    memcpy(mail.gains.set, bus->staged, sizeof bus->staged);
    bus->staged_bits = 0;
    post(motor, mail);
}

/* A frame whose length and CRC are right. */
static void take(struct motor *motor, uint8_t place, const uint8_t *data)
{
    struct bus *bus = &motor->bus;
    if (place >= MOTOR_GAINS_REGISTER(0) && place < MOTOR_CAPTURE_SELECT_REGISTER) {
        struct gains gains;
        memcpy(&gains, data, sizeof gains);
        stage(motor, (uint8_t)((place - MOTOR_GAINS_REGISTER(0)) / 0x10), gains);
        return;
    }
    switch (place) {
    case MOTOR_MODE_REGISTER:
        if (data[0] > MOTOR_MODE_DEBUG)
            refuse(motor);
        else
            post(motor, (struct mail){ .kind = MAIL_MODE, .value = data[0] });
        return;
    case MOTOR_STOP_REGISTER:
        if (data[0] > MOTOR_STOP_STOPPED)
            refuse(motor);
        else
            post(motor, (struct mail){ .kind = MAIL_STOP, .value = data[0] });
        return;
    case MOTOR_HEARTBEAT_REGISTER:
        bus->silence_ms = (uint16_t)(data[1] | data[2] << 8);
        bus->beats++;
        return;
    case MOTOR_COMMIT_REGISTER: {
        uint32_t checksum;
        memcpy(&checksum, data, sizeof checksum);
        commit(motor, checksum);
        return;
    }
    case MOTOR_EXCITATION_REGISTER: {
        struct motor_excitation asked;
        memcpy(&asked, data, sizeof asked);
        take_excitation(motor, (struct excitation){ asked.slot, asked.amplitude, asked.period_s, 0 });
        return;
    }
    case MOTOR_GUARDED_EXCITATION_REGISTER: {
        struct motor_guarded_excitation asked;
        memcpy(&asked, data, sizeof asked);
        take_excitation(motor,
                        (struct excitation){ asked.slot, asked.amplitude, asked.period_s, asked.deviation });
        return;
    }
    case MOTOR_CAPTURE_SELECT_REGISTER:
        bus->page = data[0];
        bus->selections++;
        return;
    }
}

static uint8_t frame_crc(const struct motor *motor, uint8_t place, const uint8_t *data, uint8_t bytes)
{
    const uint8_t begin[2] = { motor->unit->address, place };
    return crc8(crc8(0, begin, sizeof begin), data, bytes);
}

/* Judges a write: its stop or a repeated start has come. A register byte alone is no write. */
static void judge(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    uint8_t bytes = bus->count, place = bus->place;
    if (!bus->writing || bytes == 0)
        return;
    bus->count = 0;
    const struct frame *frame = frame_of(motor->unit, place);
    if (frame != 0 && frame->writable && frame->place == place && frame->bytes == bytes &&
        frame_crc(motor, place, bus->received, bytes - 1) == bus->received[bytes - 1])
        take(motor, place, bus->received);
    else
        refuse(motor);
}

static const struct shown *shown_of(const struct motor *motor)
{
    return &motor->loop.shown[motor->newest];
}

static bool is_silent(const struct motor *motor)
{
    const struct shown *shown = shown_of(motor);
    uint16_t age_ms = shown->beats == motor->bus.beats ? shown->silence_age_ms : 0;
    return motor->bus.silence_ms > 0 && age_ms >= motor->bus.silence_ms;
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
    const struct shown *shown = shown_of(motor);
    const struct bus *bus = &motor->bus;
    bool silent = is_silent(motor);
    bool torque = !shown->stopped && shown->has_gains && !silent && !(shown->faults & TAKES_TORQUE);
    uint16_t refusal_age_ms = shown->refusals == bus->refusals ? shown->refusal_age_ms : 0;
    return (struct motor_status){
        .boot_id = motor->boot_id,
        .mode = shown->mode,
        .flags = (uint8_t)((shown->stopped ? MOTOR_FLAGS_STOPPED : 0) | (torque ? MOTOR_FLAGS_TORQUE : 0) |
                           (shown->has_gains ? MOTOR_FLAGS_GAINS_COMMITTED : 0) |
                           (shown->target_visible ? MOTOR_FLAGS_TARGET_VISIBLE : 0) |
                           MOTOR_FLAGS_GUARDED_EXCITATION),
        .faults = (uint16_t)((silent ? MOTOR_FAULTS_SILENT : 0) | shown->faults |
                             (bus->commit_refused ? MOTOR_FAULTS_COMMIT_REFUSED : 0) |
                             (refusal_age_ms < 1000 ? MOTOR_FAULTS_FRAME_REFUSED : 0) |
                             (shown->ran_away ? MOTOR_FAULTS_RAN_AWAY : 0)),
        .active_checksum = shown->checksum,
        .staged = bus->staged_bits,
        .refused = (uint8_t)bus->refusals,
        .capture = shown->capture == 0 ? 0 : shown->capture->number,
    };
}

static void telemetry(struct motor *motor, uint8_t *data)
{
    const struct shown *shown = shown_of(motor);
    struct bus *bus = &motor->bus;
    if (bus->snapshot_tick != shown->tick)
        bus->sequence++;
    bus->snapshot_tick = shown->tick;
    data[0] = bus->sequence;
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

/* Loads the whole frame, so that all of its bytes belong together. */
static void load(struct motor *motor, const struct frame *frame)
{
    struct bus *bus = &motor->bus;
    const struct shown *shown = shown_of(motor);
    const struct excitation *excitation = &shown->excitation;
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
        data[0] = shown->mode;
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
    data[bytes] = frame_crc(motor, frame->place, data, bytes);
    bus->loaded = frame;
}

void motor_write_begins(struct motor *motor)
{
    judge(motor);
    motor->bus.writing = false;
    motor->bus.count = 0;
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

void motor_read_begins(struct motor *motor)
{
    judge(motor);
    motor->bus.writing = false;
    motor->bus.loaded = 0;
}

uint8_t motor_byte_to_send(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    /* A long read continues with the next frame, and past 255 with the first. */
    uint8_t place = bus->place++;
    const struct frame *frame = frame_of(motor->unit, place);
    if (frame == 0 || !frame->readable)
        return 0;
    if (frame != bus->loaded)
        load(motor, frame);
    return bus->data[place - frame->place];
}

void motor_transfer_ends(struct motor *motor)
{
    judge(motor);
    motor->bus.writing = false;
}
