/* The part that runs in the bus interrupt. Receives frames, checks each at its end, and answers reads. */
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
    FRAME(BUILD, true, false),
    FRAME(MOTION, true, true),
};
MOTOR_ASSERT(MOTOR_GIMBAL_TELEMETRY_BYTES == MOTOR_CHASSIS_TELEMETRY_BYTES, "one table serves both units");

/* The frame that contains the register address `place`. Null if there is none. */
static const struct frame *frame_of(const struct motor *motor, uint8_t place)
{
    if (place >= MOTOR_GAINS_REGISTER(motor->unit->loop_count) && place < MOTOR_CAPTURE_SELECT_REGISTER)
        return 0;
    for (uint8_t i = 0; i < sizeof frames / sizeof *frames; i++)
        if ((uint8_t)(place - frames[i].place) < frames[i].bytes)
            return frames[i].place == MOTOR_BUILD_REGISTER && !motor->bus.has_build ? 0 : &frames[i];
    return 0;
}

/* Passes a frame to the loop. Returns false if the mailbox is full. A stop has the last place to itself, so it is never refused:
   if that place is taken, the last frame is a stop already. */
static bool post(struct motor *motor, uint8_t place, const void *content, size_t bytes)
{
    struct bus *bus = &motor->bus;
    struct mail *mail = &bus->mail[bus->mail_head % MOTOR_MAIL];
    uint32_t left = MOTOR_MAIL - (bus->mail_head - motor->loop.mail_tail);
    bool stops = place == MOTOR_STOP_REGISTER && *(const uint8_t *)content == MOTOR_STOP_STOPPED;
    if (left <= 1 && (left == 0 || !stops))
        return stops;
    mail->place = place;
    memcpy(&mail->value, content, bytes);
    /* The frame must be complete in memory before the loop sees the new head. */
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
           post(motor, MOTOR_EXCITATION_REGISTER, &wanted, sizeof wanted);
}

static int16_t limited(int16_t rate, int16_t greatest)
{
    return rate > greatest ? greatest : rate < -greatest ? (int16_t)-greatest : rate;
}

static bool take_motion(struct motor *motor, struct motion motion)
{
    bool moves = false;
    for (uint8_t axis = 0; axis < MOTOR_AXES; axis++) {
        motion.rate[axis] = limited(motion.rate[axis], motor->unit->greatest_rate[axis]);
        moves |= motion.rate[axis] != 0 && motion.hold_ms > 0;
    }
    if (motion.hold_ms > MOTOR_MAX_HOLD_MS)
        return false;
    if (!moves)
        motion = (struct motion){ 0 };
    return post(motor, MOTOR_MOTION_REGISTER, &motion, sizeof motion);
}

static bool stage(struct bus *bus, int slot, struct gains gains)
{
    if (!is_finite(gains.kp) || !is_finite(gains.ki) || !is_finite(gains.kd))
        return false;
    bus->staged[slot] = gains;
    bus->staged_bits |= (uint8_t)(1 << slot);
    return true;
}

/* Makes the staged set active in the next loop period, if the set is complete and has the host's checksum. */
static bool commit(struct motor *motor, uint32_t checksum)
{
    struct bus *bus = &motor->bus;
    uint8_t loops = motor->unit->loop_count;
    bus->commit_refused = bus->staged_bits != (1 << loops) - 1 ||
                          motor_crc32(0, bus->staged, loops * sizeof(struct gains)) != checksum;
    if (bus->commit_refused)
        return true;
    bus->staged_bits = 0;
    return post(motor, MOTOR_COMMIT_REGISTER, bus->staged, sizeof bus->staged);
}

/* Handles a frame whose length and CRC are right. Returns false to refuse it. */
static bool take(struct motor *motor, const struct frame *frame, union frame_data *data)
{
    struct bus *bus = &motor->bus;
    uint8_t value = data->bytes[0];
    switch (frame->place) {
    case MOTOR_MODE_REGISTER:
    case MOTOR_STOP_REGISTER:
        return value <= (frame->place == MOTOR_MODE_REGISTER ? MOTOR_MODE_DEBUG : MOTOR_STOP_STOPPED) &&
               post(motor, frame->place, &value, sizeof value);
    case MOTOR_HEARTBEAT_REGISTER:
        bus->silence_ms = data->heartbeat.silence_ms;
        bus->beats++;
        return true;
    case MOTOR_COMMIT_REGISTER:
        return commit(motor, data->commit.checksum);
    case MOTOR_EXCITATION_REGISTER:
        data->excitation.deviation = 0;
        /* fall through */
    case MOTOR_GUARDED_EXCITATION_REGISTER:
        return take_excitation(motor, (struct excitation){ data->excitation.slot, data->excitation.amplitude,
                                                           data->excitation.period_s, data->excitation.deviation });
    case MOTOR_MOTION_REGISTER:
        return take_motion(motor, data->motion);
    case MOTOR_CAPTURE_SELECT_REGISTER:
        bus->page = value;
        bus->selections++;
        return true;
    default:
        return stage(bus, (frame->place - MOTOR_GAINS_REGISTER(0)) / 0x10, (struct gains){ data->gains.kp, data->gains.ki, data->gains.kd });
    }
}

static const struct state *shown_of(const struct motor *motor)
{
    return &motor->loop.shown[motor->newest];
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
                           MOTOR_FLAGS_GUARDED_EXCITATION | MOTOR_FLAGS_MOTION |
                           (bus->has_build ? MOTOR_FLAGS_BUILD : 0)),
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
    memset(data + 2, 0, MOTOR_CAPTURE_PAGE_BYTES - 3);
    int first = motor->bus.page * MOTOR_CAPTURE_PAGE_SAMPLES, left = capture == 0 ? 0 : capture->samples - first;
    if (left > 0)
        memcpy(data + 2, &capture->sample[first],
               sizeof *capture->sample * (left < MOTOR_CAPTURE_PAGE_SAMPLES ? left : MOTOR_CAPTURE_PAGE_SAMPLES));
}

/* Copies the whole frame at once, so that all its bytes come from the same loop period. */
static void load(struct motor *motor, const struct frame *frame)
{
    struct bus *bus = &motor->bus;
    const struct state *shown = shown_of(motor);
    const struct excitation *excitation = &shown->command.excitation;
    const struct capture *capture = shown->capture;
    switch (frame->place) {
    case MOTOR_IDENTITY_REGISTER:
        bus->sent.identity = (struct motor_identity){
            .magic = MOTOR_MAGIC,
            .kind = motor->unit->kind,
            .protocol = MOTOR_PROTOCOL_VERSION,
            .firmware_major = 1,
            .loops = motor->unit->loop_count,
            .loop_rate_hz = MOTOR_LOOP_RATE_HZ,
        };
        break;
    case MOTOR_STATUS_REGISTER:
        bus->sent.status = status(motor);
        break;
    case MOTOR_BUILD_REGISTER:
        bus->sent.build = *port_build();
        break;
    case MOTOR_TELEMETRY_REGISTER:
        telemetry(motor, bus->sent.bytes);
        break;
    case MOTOR_MODE_REGISTER:
        bus->sent.bytes[0] = shown->command.mode;
        break;
    case MOTOR_STOP_REGISTER:
        bus->sent.bytes[0] = shown->stopped ? MOTOR_STOP_STOPPED : MOTOR_STOP_RELEASED;
        break;
    case MOTOR_EXCITATION_REGISTER:
    case MOTOR_GUARDED_EXCITATION_REGISTER:
        bus->sent.excitation = (struct motor_guarded_excitation){ excitation->slot, excitation->amplitude,
                                                                  excitation->period_s, excitation->deviation, 0 };
        break;
    case MOTOR_MOTION_REGISTER:
        bus->sent.motion = shown->command.motion;
        break;
    case MOTOR_CAPTURE_REGISTER:
        bus->sent.capture = capture == 0
            ? (struct motor_capture){ .rate_hz = MOTOR_LOOP_RATE_HZ, .decimation = 1 }
            : (struct motor_capture){ capture->number, capture->slot, MOTOR_LOOP_RATE_HZ, capture->decimation, capture->samples, 0 };
        break;
    case MOTOR_CAPTURE_PAGE_REGISTER:
        capture_page(motor, bus->sent.bytes);
        break;
    default:
        memcpy(bus->sent.bytes, &bus->staged[(frame->place - MOTOR_GAINS_REGISTER(0)) / 0x10], sizeof(struct gains));
    }
    motor_seal(motor->unit->address, frame->place, bus->sent.bytes, frame->bytes);
    bus->loaded = frame;
}

void motor_byte_received(struct motor *motor, uint8_t byte)
{
    struct bus *bus = &motor->bus;
    if (!bus->writing) {
        bus->writing = true;
        bus->place = byte;
    } else if (bus->count < sizeof bus->received.bytes) {
        bus->received.bytes[bus->count++] = byte;
    }
}

uint8_t motor_byte_to_send(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    const struct frame *frame = frame_of(motor, bus->place);
    if (frame == 0 || !frame->readable)
        return 0;
    if (frame != bus->loaded)
        load(motor, frame);
    return bus->sent.bytes[bus->place - frame->place];
}

void motor_byte_sent(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    if (bus->loaded != 0 && bus->loaded->place == MOTOR_TELEMETRY_REGISTER) {
        bus->sequence = bus->sent.bytes[0];
        bus->snapshot_tick = bus->loaded_tick;
    }
    /* A read past the end of the frame continues with the next frame. After address 255 it continues at 0. */
    bus->place++;
}

/* Ends the current write, if there is one: accepts or refuses its frame. A register byte without data is not a write. */
void motor_frame_ends(struct motor *motor)
{
    struct bus *bus = &motor->bus;
    uint8_t bytes = bus->count;
    bus->writing = false;
    bus->count = 0;
    bus->loaded = 0;
    if (bytes == 0)
        return;
    const struct frame *frame = frame_of(motor, bus->place);
    if (frame == 0 || !frame->writable || frame->place != bus->place || frame->bytes != bytes ||
        !motor_is_sealed(motor->unit->address, frame->place, bus->received.bytes, bytes) ||
        !take(motor, frame, &bus->received))
        bus->refusals++;
}
