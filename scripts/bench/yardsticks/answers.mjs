/** What all yardsticks answer: the same JSON work as the daemon's, and nothing of what it protects against. */
const triple = { kp: 1.5, ki: 0.25, kd: 0.05 };

/** The gimbal's gains: four loops. */
export const gains = { visual_yaw: triple, visual_pitch: triple, angle_yaw: triple, angle_pitch: triple };

export const laserBody = {
  type: 'object',
  properties: { action: { enum: ['on', 'off'] } },
  required: ['action'],
  additionalProperties: false,
};

/** Says where it listens, in the words in which the daemon does. */
export function announce(server) {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
}

/** Port and folder of the modules that the bench has fetched. */
export const [port = '0', modules = ''] = process.argv.slice(2);
