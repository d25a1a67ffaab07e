/*
 * A figure of eight on the floor. It begins at the origin, in the middle of its near bend, heading along x. It turns left
 * there and right in the far bend, so its heading never makes a full circle.
 */
#include "loops.h"

#define RADIUS_M 0.8f
/* Each end of the eight is a bend of 240 degrees. The straights between the ends cross at 60 degrees. */
#define HALF_BEND_RAD (2 * PI / 3)
#define BEND_M (2 * HALF_BEND_RAD * RADIUS_M)
#define STRAIGHT_M (2 * RADIUS_M * 1.7320508f)
/* Distance between the centres of the two bends. */
#define CENTRES_M (4 * RADIUS_M)
#define SEARCH_M 0.05f
/* A heading that is wrong by 90 degrees costs as much as this distance. */
#define WRONG_HEADING_M 1.0f

static const float course_lap_m = 2 * (BEND_M + STRAIGHT_M);

/* The point at `angle_rad` from the middle of the bend whose centre is at (0, centre_m). */
static struct course_point bend(float centre_m, float side, float angle_rad)
{
    return (struct course_point){ RADIUS_M * sine(angle_rad), centre_m - side * RADIUS_M * cosine(angle_rad), side * angle_rad };
}

static struct course_point straight(struct course_point from, float way_m)
{
    return (struct course_point){ from.x_m + way_m * cosine(from.heading_rad), from.y_m + way_m * sine(from.heading_rad), from.heading_rad };
}

float course_place(float driven_m)
{
    float rest = driven_m - course_lap_m * (float)(int32_t)(driven_m * (1 / course_lap_m));
    return rest >= course_lap_m ? rest - course_lap_m : rest < 0 ? rest + course_lap_m : rest;
}

struct course_point course_at(float driven_m)
{
    float rest = course_place(driven_m);
    if (rest < BEND_M / 2)
        return bend(RADIUS_M, 1, rest / RADIUS_M);
    rest -= BEND_M / 2;
    if (rest < STRAIGHT_M)
        return straight(bend(RADIUS_M, 1, HALF_BEND_RAD), rest);
    rest -= STRAIGHT_M;
    if (rest < BEND_M)
        return bend(RADIUS_M + CENTRES_M, -1, rest / RADIUS_M - HALF_BEND_RAD);
    rest -= BEND_M;
    if (rest < STRAIGHT_M)
        return straight(bend(RADIUS_M + CENTRES_M, -1, HALF_BEND_RAD), rest);
    return bend(RADIUS_M, 1, (rest - STRAIGHT_M) / RADIUS_M - HALF_BEND_RAD);
}

bool course_join(struct course_search *search, float x_m, float y_m, float heading_rad)
{
    if (search->next_m >= course_lap_m)
        return true;
    struct course_point point = course_at(search->next_m);
    float dx = point.x_m - x_m, dy = point.y_m - y_m;
    float cost = square_root(dx * dx + dy * dy) + WRONG_HEADING_M * (1 - cosine(point.heading_rad - heading_rad));
    if (search->next_m == 0 || cost < search->least) {
        search->least = cost;
        search->best_m = search->next_m;
    }
    search->next_m += SEARCH_M;
    return false;
}
