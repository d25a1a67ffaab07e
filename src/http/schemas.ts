import {
  EXCITATION_PERIOD_S,
  type GainBounds,
  type Gains,
  MODES,
  UNIT_LIST,
  type Unit,
} from '../core/units.js';

/** JSON Schema, as far as we use it: for Ajv and for the OpenAPI document alike. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const FLOAT32_MAX = 3.4028234663852886e38;

export function object(properties: Readonly<Record<string, Schema>>, description?: string): Schema {
  return {
    type: 'object',
    ...(description !== undefined && { description }),
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

const mode: Schema = { type: 'string', enum: MODES };
export const modeBody = object({ mode });
export const laserBody = object({ action: { type: 'string', enum: ['on', 'off'] } });
export const restoreBody = object({ revision: { type: 'integer', minimum: 1 } });

export function gainsBody(unit: Unit, bounds: GainBounds): Schema {
  const gain = (name: keyof Gains): Schema => ({
    type: 'number',
    minimum: Math.max(bounds[name]?.min ?? -FLOAT32_MAX, -FLOAT32_MAX),
    maximum: Math.min(bounds[name]?.max ?? FLOAT32_MAX, FLOAT32_MAX),
  });
  const triple = (title: string) => object({ kp: gain('kp'), ki: gain('ki'), kd: gain('kd') }, title);
  return object(Object.fromEntries(unit.loops.map(loop => [loop.name, triple(loop.title)])));
}

export function excitationBody(unit: Unit): Schema {
  const amplitudes = unit.loops.map(loop => ({
    if: { properties: { loop: { const: loop.name } }, required: ['loop'] },
    // biome-ignore lint/suspicious/noThenProperty: `then` is a keyword of JSON Schema.
    then: { properties: { amplitude: { maximum: loop.maxAmplitude } } },
  }));
  return {
    ...object({
      loop: { type: 'string', enum: unit.loops.map(loop => loop.name) },
      amplitude: { type: 'number', minimum: 0, description: "In the loop's unit; 0 moves nothing." },
      periodS: { type: 'number', minimum: EXCITATION_PERIOD_S.min, maximum: EXCITATION_PERIOD_S.max },
    }),
    allOf: amplitudes,
  };
}

const text: Schema = { type: 'string' };
const texts: Schema = { type: 'array', items: text };
const count: Schema = { type: 'integer', minimum: 0 };
const yesNo: Schema = { type: 'boolean' };

const fault = object({ pointer: text, detail: text });

const told = { type: text, title: text, status: count, detail: text, code: text };

export const problem: Schema = {
  ...object(told),
  properties: {
    ...told,
    unit: text,
    errors: { type: 'array', items: fault },
  },
  additionalProperties: true,
};

export const laserState = object({ state: { type: 'string', enum: ['on', 'off'] } });
export const stopState = object({ stopped: yesNo });

export function history(gains: Schema): Schema {
  return { type: 'array', items: object({ revision: count, savedAt: text, gains }) };
}

const unitStatus: Schema = {
  type: 'object',
  required: ['mode', 'online', 'faults', 'gains'],
  properties: {
    mode: { enum: [...MODES, null] },
    online: yesNo,
    faults: texts,
    flags: texts,
    firmware: text,
    protocol: count,
    gains: object({ revision: count, savedAt: { type: ['string', 'null'] }, applied: yesNo }),
    problem: { type: 'object', properties: { code: text, detail: text } },
  },
};

export const status: Schema = {
  type: 'object',
  required: [
    'version',
    'simulated',
    'uptimeS',
    'stopped',
    'laser',
    ...UNIT_LIST.map(unit => unit.name),
    'bus',
  ],
  properties: {
    version: text,
    simulated: yesNo,
    uptimeS: { type: 'number' },
    stopped: yesNo,
    laser: {
      type: 'object',
      required: ['state'],
      properties: { state: { enum: ['on', 'off', null] }, reason: text, problem: { type: 'object' } },
    },
    ...Object.fromEntries(UNIT_LIST.map(unit => [unit.name, unitStatus])),
    bus: {
      type: 'object',
      properties: {
        transactions: count,
        retries: count,
        errors: { type: 'object', additionalProperties: count },
      },
    },
    storage: { type: 'object', properties: { ok: yesNo, detail: text, cure: text, setAside: texts } },
  },
};
