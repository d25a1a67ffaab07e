/* The chassis. The position loop sets the setpoint of the speed loop. In auto the course sets the setpoints of position and
   heading. Otherwise the chassis holds both. */
#include "loops.h"
#include <robot.h>

/* The largest speed that the position loop adds to the reference's own speed. */
#define CATCH_UP_M_S 1.2f
#define SPEED_FILTER_S 0.005f
#define COUNTS_PER_TURN (WHEEL_ENCODER_COUNTS * WHEEL_GEAR)
#define COURSE_M_S 0.5f
#define SPEED_UP_M_S2 1.0f
#define SLOW_DOWN_M_S2 2.0f
#define TURN_RAD_S 2.0f
/* The change of the rate at which a motion turns the chassis. */
#define TURN_RAD_S2 10.0f
/* Near the course, the wanted heading turns towards it by this many radians per metre of distance. */
#define STEER_RAD_M 2.0f
/* The reference waits if the chassis is this far from it. */
#define LEASH_M 0.3f

static const struct pid_shape speed_shape = { SMOOTHING(0.01f), -DRIVING_V, DRIVING_V };
static const struct pid_shape angle_shape = { SMOOTHING(0.005f), -TURNING_V, TURNING_V };
static const struct pid_shape position_shape = { SMOOTHING(0.01f), -CATCH_UP_M_S, CATCH_UP_M_S };

/* The motion, as wheel encoders and heading sensor show it. */
static struct {
    bool known;
    uint32_t left, right, start;
    struct sum x_m, y_m;
    float course_rad, speed_m_s, way_m;
} odometer;

/* The place of the chassis, and the place, speed and heading that it should have. Places are distances driven since the mode
   was entered. The chassis joins the course at `search.best_m`. */
static struct {
    struct sum place_m, aim_m, heading_rad;
    struct moved speed, turn;
    struct course_search search;
} reference;

static struct pid speed, angle, position;
static struct activity activity;
static struct signal signal;
static float speed_setpoint_m_s;
/* In debug mode, headings are measured from the heading at which debug mode was entered. */
static float entry_rad;

static void sense(void)
{
    /* Counts wrap. A difference of unsigned numbers stays right. */
    uint32_t left = (uint32_t)port_encoder(MOTOR_LEFT), right = (uint32_t)port_encoder(MOTOR_RIGHT);
    uint32_t heading = (uint32_t)port_heading();
    if (!odometer.known) {
        odometer.known = true;
        odometer.left = left;
        odometer.right = right;
        odometer.start = heading;
    }
    int32_t counts = (int32_t)(left - odometer.left + right - odometer.right);
    odometer.left = left;
    odometer.right = right;
    odometer.way_m = (float)counts * (float)(WHEEL_RADIUS_M * PI / COUNTS_PER_TURN);
    odometer.speed_m_s += SMOOTHING(SPEED_FILTER_S) * (odometer.way_m * MOTOR_LOOP_RATE_HZ - odometer.speed_m_s);
    odometer.course_rad = (float)(int32_t)(heading - odometer.start) * 1e-4f;
    sum_add(&odometer.x_m, odometer.way_m * cosine(odometer.course_rad));
    sum_add(&odometer.y_m, odometer.way_m * sine(odometer.course_rad));
}

static void drop(void)
{
    signal_end(&signal);
    speed.joining = true;
    angle.joining = true;
    position.joining = true;
}

/* The loops of a chassis that an obstacle holds back must not keep pushing. */
static void relax_driving(void)
{
    pid_follow(&speed, &speed_shape, 0, odometer.speed_m_s);
    pid_follow(&position, &position_shape, 0, reference.place_m.value);
}

static void relax_turning(void)
{
    pid_follow(&angle, &angle_shape, 0, odometer.course_rad);
}

/* The chassis slows down from the speed that it has, not from the one that it should have had. */
static void enter(const struct command *command)
{
    if (reference.speed.blocked)
        relax_driving();
    if (reference.turn.blocked)
        relax_turning();
    sum_set(&reference.place_m, 0);
    sum_set(&reference.aim_m, 0);
    pid_start(&position);
    reference.search = (struct course_search){ 0 };
    reference.speed = (struct moved){ .rate = odometer.speed_m_s };
    reference.turn = (struct moved){ 0 };
    sum_set(&reference.heading_rad, odometer.course_rad);
    entry_rad = command->mode == MOTOR_MODE_DEBUG ? odometer.course_rad : 0;
}

/* Follows the chassis while something else drives it. Nothing jumps when the reference drives again. */
static void yield(void)
{
    sum_add(&reference.place_m, odometer.way_m);
    reference.aim_m = reference.place_m;
    reference.speed = (struct moved){ 0 };
}

/* Moves at the rates of a motion. Without one, slows down and then holds. */
static void hold(const struct command *command)
{
    sum_add(&reference.place_m, odometer.way_m);
    if (moved_tick(&reference.speed, &reference.aim_m, reference.place_m.value, rate_of(command, 0), SLOW_DOWN_M_S2))
        relax_driving();
    /* The chassis may have been turned by hand, and turned on to the same heading. */
    float heading_rad = reference.heading_rad.value;
    float near_rad = heading_rad + wrapped(odometer.course_rad - heading_rad);
    if (moved_tick(&reference.turn, &reference.heading_rad, near_rad, rate_of(command, 1), TURN_RAD_S2))
        relax_turning();
}

/* Drives the course. Turns first if the chassis heads in another direction. */
static void drive(void)
{
    struct course_point point = course_at(reference.search.best_m + reference.place_m.value);
    float c = cosine(point.heading_rad), s = sine(point.heading_rad);
    float ahead = odometer.x_m.value - point.x_m, aside = odometer.y_m.value - point.y_m;
    sum_add(&reference.place_m, ahead * c + aside * s);
    float wanted_rad = point.heading_rad - arctangent(STEER_RAD_M * (aside * c - ahead * s));
    float step = TURN_RAD_S * PERIOD_S;
    sum_add(&reference.heading_rad, clamped(wrapped(wanted_rad - reference.heading_rad.value), -step, step));
    float share = cosine(wanted_rad - odometer.course_rad);
    float speed_m_s = COURSE_M_S * (share > 0 ? share : 0);
    reference.speed = (struct moved){ .rate = towards(reference.speed.rate, speed_m_s, SPEED_UP_M_S2 * PERIOD_S) };
    sum_add(&reference.aim_m, reference.speed.rate * PERIOD_S);
    float ahead_m = reference.aim_m.value - reference.place_m.value;
    float near_m = clamped(ahead_m, -LEASH_M, LEASH_M);
    reference.speed.blocked = near_m != ahead_m;
    sum_add(&reference.aim_m, near_m - ahead_m);
}

static void rest(struct loops *loops)
{
    yield();
    speed_setpoint_m_s = odometer.speed_m_s;
    relax_driving();
    relax_turning();
    float heading_rad = wrapped(odometer.course_rad - entry_rad);
    loops->reading[MOTOR_CHASSIS_SPEED_SLOT] = (struct reading){ odometer.speed_m_s, odometer.speed_m_s, 0 };
    loops->reading[MOTOR_CHASSIS_ANGLE_SLOT] = (struct reading){ heading_rad, heading_rad, 0 };
    loops->reading[MOTOR_CHASSIS_POSITION_SLOT] = (struct reading){ reference.place_m.value, reference.place_m.value, 0 };
    port_drive(MOTOR_LEFT, 0);
    port_drive(MOTOR_RIGHT, 0);
}

/* Runs the position loop, which sets the speed loop's setpoint. */
static void place(const struct command *command, struct loops *loops)
{
    struct reading *reading = &loops->reading[MOTOR_CHASSIS_POSITION_SLOT];
    float speed_excitation = excited(command, &signal, MOTOR_CHASSIS_SPEED_SLOT);
    if (speed_excitation != 0) {
        yield();
        pid_follow(&position, &position_shape, 0, reference.place_m.value);
        speed_setpoint_m_s = speed_excitation;
        *reading = (struct reading){ reference.place_m.value, reference.place_m.value, speed_excitation };
        return;
    }
    bool on_course = command->mode == MOTOR_MODE_AUTO && port_auto_moves() &&
                     course_join(&reference.search, odometer.x_m.value, odometer.y_m.value, odometer.course_rad);
    if (on_course)
        drive();
    else
        hold(command);
    float aim_m = reference.aim_m.value + excited(command, &signal, MOTOR_CHASSIS_POSITION_SLOT);
    float catch_up_m_s = pid_update(&position, &position_shape, aim_m, reference.place_m.value, command->gains[MOTOR_CHASSIS_POSITION_SLOT]);
    speed_setpoint_m_s = reference.speed.rate + catch_up_m_s;
    float place_m = reference.place_m.value;
    float shown_m = on_course ? course_place(reference.search.best_m + place_m) : place_m;
    *reading = (struct reading){ shown_m + aim_m - place_m, shown_m, speed_setpoint_m_s };
}

static float turning(const struct command *command, struct loops *loops)
{
    float course_rad = odometer.course_rad;
    float error = wrapped(reference.heading_rad.value + excited(command, &signal, MOTOR_CHASSIS_ANGLE_SLOT) - course_rad);
    float volts = pid_update(&angle, &angle_shape, course_rad + error, course_rad, command->gains[MOTOR_CHASSIS_ANGLE_SLOT]);
    float shown_rad = wrapped(course_rad - entry_rad);
    loops->reading[MOTOR_CHASSIS_ANGLE_SLOT] = (struct reading){ shown_rad + error, shown_rad, volts };
    return volts;
}

static void tick(const struct command *command, struct loops *loops)
{
    sense();
    enum turn turn = activity_turn(&activity, command);
    if (turn != SAME)
        drop();
    if (turn == ENTERED)
        enter(command);
    signal_tick(&signal, excitation_of(command));
    if (command->torque) {
        place(command, loops);
        float volts = pid_update(&speed, &speed_shape, speed_setpoint_m_s, odometer.speed_m_s, command->gains[MOTOR_CHASSIS_SPEED_SLOT]);
        loops->reading[MOTOR_CHASSIS_SPEED_SLOT] = (struct reading){ speed_setpoint_m_s, odometer.speed_m_s, volts };
        float turning_volts = turning(command, loops);
        port_drive(MOTOR_LEFT, volts - turning_volts);
        port_drive(MOTOR_RIGHT, volts + turning_volts);
    } else {
        rest(loops);
    }
    loops->x_m = odometer.x_m.value;
    loops->y_m = odometer.y_m.value;
    loops->heading_rad = wrapped(odometer.course_rad);
    loops->edges = signal.edges;
}

const struct motor_unit motor_chassis = {
    .address = MOTOR_CHASSIS_ADDRESS,
    .kind = MOTOR_CHASSIS_KIND,
    .loop_count = MOTOR_CHASSIS_LOOPS,
    .has_pose = true,
    .scale = {
        [MOTOR_CHASSIS_SPEED_SLOT] = LOOP_SCALE(CHASSIS_SPEED),
        [MOTOR_CHASSIS_ANGLE_SLOT] = LOOP_SCALE(CHASSIS_ANGLE),
        [MOTOR_CHASSIS_POSITION_SLOT] = LOOP_SCALE(CHASSIS_POSITION),
    },
    .greatest_rate = {
        (int16_t)(DRIVE_SPEED_M_S * MOTOR_RATE_COUNTS),
        (int16_t)(DRIVE_TURN_RAD_S * MOTOR_RATE_COUNTS),
    },
    .tick = tick,
    .drop_excitation = drop,
};
